"""Time against the number of nodes, from costs that are measured here, and whether real runs agree.

Costs of one core are measured: a picture, decoding, products with codes, scores of a gallery; and the latency of a
gather from actors. What a visit moves is taken at the speed of a product, which flatters it, and of judging only what
travels is counted. Features and searches with one and with two workers of one core each are predicted from the costs,
and then made; one-vs-rest and the trace norm are predictions alone. So are the last tables, for nodes of 16 cores; the
10 Gbit/s of their network are assumed.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page

CORES, NETWORK = 16, 1.25e9  # of a node; bytes a second
N, D, K = 9_000_000, 130_000, 10_184  # ImageNet10K, as Fisher vectors
_NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_IMAGES, _ROWS, _WIDTH, _QUERIES = 2000, 400_000, 512, 256


@dataclass(frozen=True)
class Costs:
    """Seconds of one core, but for those of the network."""

    picture: float  # to encode one
    task: float  # that a part takes beside its pictures
    joined: float  # to join one row of 1,024 numbers
    decode: float  # one number of a row of codes
    update: float  # one number of a machine that an example moves
    product: float  # one number of a row of codes with one column
    score: float  # one number of an embedding with one query
    rank: float  # one query among all that were found
    gather: float  # an answer of all actors, of no bytes

    def features(self, n: int, cores: int, parts: int, width: int = 1024) -> float:
        """Pictures by tasks of one core, and then the rows of all parts joined by one."""
        return n * self.picture / cores + -(-parts // cores) * self.task + n * self.joined * width / 1024

    def one_vs_rest(self, nodes: int, epochs: int = 10, negatives: int = 64) -> float:
        """Every node decodes all rows, and moves its own classes."""
        visit = self.decode * D + (1 + negatives) / nodes * self.update * D
        judged = epochs * (self.gather + 0.01 * N * 8 * nodes / NETWORK)
        return epochs * N * visit / CORES + judged

    def trace_norm(self, nodes: int, iterations: int = 200, rank: int = 64) -> float:
        """Every node multiplies its own rows; factors of (d + k) r numbers go to all and come from all."""
        computed = 2 * N / nodes * D * rank * self.product / CORES
        sent = 2 * nodes * 4 * rank * (D + K) / NETWORK
        return iterations * (computed + sent + self.gather)

    def search(self, n: int, d: int, queries: int, cores: int, nodes: int) -> float:
        """Every node scores its own images; the best of each are ranked by one process."""
        sent = nodes * queries * (4 * d + 12 * 26) / NETWORK
        return n * d * queries * self.score / cores + self.gather + queries * self.rank + sent


def run() -> Page:
    """Measure, predict, run, and predict what cannot be run here."""
    about = " ".join((__doc__ or "").split("\n\n", 1)[1].split())
    page = Page("scaling", "Time against nodes", f"{about}\n\n{load()}")
    found = {count: _in_process(count) for count in (1, 2)}
    costs = _costs(found[1])
    page.table(
        "Costs of one core", ["what", "seconds"], [[name, f"{value:.3g}"] for name, value in vars(costs).items()]
    )
    rows = []
    for count, one in found.items():
        for what, predicted in (
            (f"features of {_IMAGES:,} pictures", costs.features(_IMAGES, count, 4 * count)),
            (f"{_QUERIES} queries, {_ROWS:,} x {_WIDTH}", costs.search(_ROWS, _WIDTH, _QUERIES, count, count)),
        ):
            measured = one["features" if "pictures" in what else "search"]
            rows.append(
                [what, str(count), f"{predicted:.2f} s", f"{measured:.2f} s", f"{predicted / measured - 1:+.0%}"]
            )
    page.table("Predicted and measured", ["what", "workers", "predicted", "measured", "off by"], rows)
    for what in ("features", "search"):
        print(what, "two workers against one:", found[1][what] / found[2][what], file=sys.stderr)
    page.table(
        "Two workers of one core against one",
        ["what", "times as fast"],
        [[what, f"{found[1][what] / found[2][what]:.2f}"] for what in ("features", "search")],
    )
    jobs: dict[str, Callable[[int], float]] = {
        "features": lambda w: costs.features(N, CORES * w, max(4 * CORES * w, N // 2000), D // 32),
        "one-vs-rest, 10 epochs": costs.one_vs_rest,
        "trace norm, 200 steps of rank 64": costs.trace_norm,
        "search, 1,000 queries, 9M x 512": lambda w: costs.search(N, 512, 1000, CORES * w, w),
    }
    table = [[name, *(_span(job(w)) for w in _NODES), _limit(job)] for name, job in jobs.items()]
    caption = f"Predicted: {N:,} x {D:,}, {K:,} classes, nodes of {CORES} cores"
    page.table(caption, ["job", *map(str, _NODES), "pays up to"], table)
    page.table("What keeps a job from using more nodes", ["job", "reason"], [[*pair] for pair in _WHY.items()])
    return page


_WHY = {
    "features": "one process joins the rows of all parts, here as codes of one byte for 8 numbers",
    "one-vs-rest": "every node decodes all rows, whatever its share of the classes",
    "trace norm": "factors of (d + k) r numbers go from one process to all nodes, and come back to it",
    "search": "queries go to all nodes, and one process ranks the best of all of them",
}


def _limit(job: Callable[[int], float]) -> str:
    """The last number of nodes whose doubling saves a quarter of the time or more."""
    good = [w for w in _NODES if job(2 * w) <= 0.75 * job(w)]
    return f"{2 * good[-1]} nodes" if good else "1 node"


def _span(seconds: float) -> str:
    return f"{seconds / 3600:.3g} h" if seconds >= 3600 else f"{seconds:.3g} s"


def _in_process(count: int) -> dict[str, float]:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scaling", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _costs(one: dict[str, float]) -> Costs:
    """Costs by one thread of this process, and by one actor."""
    d, rank = 4096, 64
    X = mc.datasets.low_rank_classes(20_000, d=d, n_classes=200)
    quantizer = mc.ProductQuantizer(8, iterations=2, random_state=0).fit(X.rows(slice(0, 2000)))
    codes = quantizer.encode(X)
    V, W = np.ones((d, rank), np.float32), np.ones((64, d), np.float32)
    with mc.threads(1):
        decode = _seconds(lambda: codes.rows(slice(0, 4000))) / (4000 * d)
        product = _seconds(lambda: codes @ V) / (len(codes) * d * rank)
        # A machine that an example moves is scored and written: two products of one row, at the speed of sgemm.
        block = codes.rows(slice(0, 512))
        update = 2 * _seconds(lambda: block @ W.T) / (512 * d * 64)
    return Costs(
        picture=one["picture"],
        task=one["task"],
        joined=one["joined"],
        decode=decode,
        update=update,
        product=product,
        score=one["score"],
        rank=one["rank"],
        gather=one["gather"],
    )


def _seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


class _Nothing:
    """An object that has nothing to say."""

    def answer(self) -> None:
        """Answer."""


def measure(count: int) -> dict[str, float]:
    """Seconds of real runs with so many workers of one core; with one, what they are predicted from as well."""
    from manyclass.cluster.connection import import_ray

    ray = import_ray()
    ray.init(address="local", num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    found: dict[str, float] = {}
    with mc.cluster.connect("auto", workers=count) as workers, tempfile.TemporaryDirectory() as folder:
        list(workers.run(_warm, [], [[0.5]] * (2 * count)))  # processes are there, and have imported what they need
        group = workers.start(_Nothing, [], [[]] * count)
        found["gather"] = min(_wall(lambda: group.query("answer")) for _ in range(20))
        group.close()
        _measure_features(Path(folder), found, count == 1)
        _measure_search(found, count == 1)
    ray.shutdown()
    return found


def _warm(seconds: float) -> None:
    import manyclass.features.aggregation.fisher
    import manyclass.features.extraction.write_features  # noqa: F401

    time.sleep(seconds)


def _measure_features(folder: Path, found: dict[str, float], alone: bool) -> None:
    from PIL import Image

    rng, paths = np.random.default_rng(0), []
    for i in range(_IMAGES):
        small = Image.fromarray(rng.integers(0, 255, (24, 32, 3), dtype=np.uint8))
        paths.append(str(folder / f"{i:05}.jpg"))
        small.resize((512, 384), Image.Resampling.BICUBIC).save(paths[-1])
    settings = {"descriptors": ("sift",), "n_components": 32, "n_samples": 20_000}
    encoder = mc.FisherVectors(16, **settings, random_state=0).fit(paths[:50])
    if alone:
        with mc.threads(1):
            mc.write_features(folder / "few.store", paths[:20], encoder)
            few = _wall(lambda: mc.write_features(folder / "few1.store", paths[:100], encoder))
            many = _wall(lambda: mc.write_features(folder / "many.store", paths[:500], encoder))
            found["picture"] = (many - few) / 400
            found["task"] = max(0.0, few - 100 * found["picture"])
            found["joined"] = (_joining(folder, 8000) - _joining(folder, 800)) / 7200
    found["features"] = _wall(lambda: mc.runs.spread_features(folder / "all.store", paths, encoder))


class _Same:
    """An encoder to which all pictures are the same."""

    n_features_out_ = 1024

    def encode(self, image: Any) -> Any:
        """The row of any picture."""
        return np.ones(1024, np.float32)


def _joining(folder: Path, n: int) -> float:
    """Seconds to join two parts of n rows together."""
    pictures = np.zeros((n, 8, 8, 3), np.uint8)
    parts = [folder / f"part{i}of{n}.store" for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        mc.write_features(part, pictures, _Same(), shard=f"{i}/2")
    return _wall(lambda: mc.runs.join(folder / f"joined{n}.store", parts))


def _measure_search(found: dict[str, float], alone: bool) -> None:
    rng = np.random.default_rng(0)
    X, Q = (rng.standard_normal((n, _WIDTH), dtype=np.float32) for n in (_ROWS, _QUERIES))
    gallery = mc.Gallery()
    gallery.add(X)
    index = gallery.state().indexes[0]
    C = index.encode(Q)
    if alone:
        from manyclass.retrieval.search import best_candidates, rank_exactly

        with mc.threads(1):
            part = X[: _ROWS // 4]
            best_candidates(C, [(0, part, None)], 26)
            scored = _wall(lambda: best_candidates(C, [(0, part, None)], 26))
            found["score"] = scored / (len(part) * _WIDTH * _QUERIES)
            places = np.tile(np.arange(26), (_QUERIES, 1))
            found["rank"] = _wall(lambda: rank_exactly(C, index.embeddings, places, 10)) / _QUERIES
    with mc.cluster.spread(gallery):
        spread = gallery.state().indexes[0]
        spread.search(C, None, 10)
        found["search"] = min(_wall(lambda: spread.search(C, None, 10)) for _ in range(3))


def _wall(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))

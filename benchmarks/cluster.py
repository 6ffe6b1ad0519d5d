"""Jobs by actors of a Ray cluster of this machine, in a process of its own.

`python -m benchmarks.cluster jobs FOLDER ACTORS CORES` runs them all, with so many actors of one core, and prints their
seconds as a line of JSON; `fit FOLDER ACTORS THREADS EPOCHS` is one-vs-rest from before the cluster is there until it
is gone, and without one for 0 actors. FOLDER holds what `write_codes` has written.
"""

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

import numpy as np

import manyclass as mc
from benchmarks.imagenet_shape import read_codes
from manyclass._core.digest import sha256_digest
from manyclass.cluster.connection import import_ray

SETTINGS: dict[str, Any] = {"objective": "ovr", "step": 0.2, "beta": 64.0, "random_state": 0}
CLOSED_FORM, TRACE_NORM = (32_768, 2048, 100), (32_768, 512, 1000)
STEPS = 12
IMAGES, ROWS, WIDTH, QUERIES = 2000, 400_000, 512, 256


def jobs(folder: Path, actors: int, cores: int) -> dict[str, Any]:
    """Seconds of each job; those of pictures, queries and squares only where an actor has a core."""
    found: dict[str, Any] = {}
    with cluster(actors) as workers:
        found["one-vs-rest"] = one_vs_rest(folder, workers)  # first, as an actor may keep what others have left
        found["gather"] = gather(workers)
        found["trace norm"] = trace_norm()
        if actors <= cores:
            found |= {"closed form": closed_form(), "features": features(workers), "search": search()}
    return found


def fit(folder: Path, actors: int, n_threads: int, epochs: int) -> dict[str, Any]:
    """One-vs-rest without validation, and what of its time went into the cluster."""
    X, y, *_ = read_codes(folder)
    settings = {**SETTINGS, "early_stopping": False, "max_epochs": epochs, "n_threads": n_threads}
    begun = time.perf_counter()
    with cluster(actors, n_threads) if actors else nullcontext():
        started = time.perf_counter()
        model = mc.StochasticClassifier(**settings).fit(X, y)
        fitted = time.perf_counter()
    ended = time.perf_counter()
    return {
        "seconds": ended - begun, "begin": started - begun, "end": ended - fitted,
        "epochs": sum(record["seconds"] for record in model.history_), "bits": _digest(model),
    }  # fmt: skip


@contextmanager
def cluster(actors: int, n_threads: int = 1) -> Iterator[Any]:
    """The workers of a cluster of this machine for so many actors with so many threads each."""
    ray, cores = import_ray(), actors * n_threads
    ray.init(
        address="local", num_cpus=cores, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
        _system_config={"worker_niceness": 0},  # as `--ray local` has it
    )  # fmt: skip
    try:
        with mc.cluster.connect("auto", workers=actors) as workers:
            yield workers
    finally:
        ray.shutdown()


class _Libraries:
    """An object that holds nothing, and loads what one-vs-rest needs."""

    def __init__(self) -> None:
        import manyclass.estimators.stochastic
        import manyclass.solvers.sgd.class_ranges  # noqa: F401


def one_vs_rest(folder: Path, workers: Any) -> dict[str, Any]:
    """An epoch, one judgement, and an epoch of all rows; what actors held, and what they had to hold."""
    workers.start(_Libraries, [], [[]] * len(workers)).close()
    X, y, *_ = read_codes(folder)
    # Best machines are kept beside the last, as a callback may end the fit.
    model = mc.StochasticClassifier(**SETTINGS, max_epochs=1, n_threads=1, callbacks=[lambda record: None])
    with ActorMemory() as idle:
        time.sleep(1)
    with ActorMemory() as memory:
        processor = busiest(lambda: model.fit(X, y))
    first, *_ = model.history_
    return {
        "processor": processor,
        "seconds": sum(record["seconds"] for record in model.history_),
        "examples": sum(record["examples"] for record in model.history_),
        "judging": first["judging_seconds"], "judged": len(y) - first["examples"], "bits": _digest(model),
        "idle": idle.own, "held": memory.own, "store": memory.shared,
        "codes": X.nbytes / 2**20, "W": model.coef_.nbytes / 2**20,
    }  # fmt: skip


def gather(workers: Any) -> float:
    """Seconds of a question to all actors that costs them nothing."""
    group = workers.start(dict, [], [[]] * len(workers))
    seconds = float(np.median([wall(lambda: group.query("__len__")) for _ in range(100)]))
    group.close()
    return seconds


def trace_norm() -> dict[str, Any]:
    """The second of two fits; the first loads libraries."""
    X, y = low_rank_rows(*TRACE_NORM)
    model = trace_norm_classifier()
    model.fit(X, y)
    return {**_times(lambda: model.fit(X, y)), "bits": _digest(model)}


def _times(work: Callable[[], Any]) -> dict[str, float]:
    seconds: list[float] = []
    processor = busiest(lambda: seconds.append(wall(work)))
    return {"seconds": seconds[0], "processor": processor}


def trace_norm_classifier() -> mc.TraceNormClassifier:
    """One that takes STEPS steps, and says nothing of not being done."""
    model = mc.TraceNormClassifier(trace=2e-3, max_iter=STEPS, tolerance=0.0, n_threads=1)
    model._warn = lambda found: None  # type: ignore[method-assign]
    return model


def closed_form() -> dict[str, Any]:
    """The second of two fits."""
    X, y = low_rank_rows(*CLOSED_FORM)
    model = mc.SquareLossClassifier(n_threads=1).fit(X, y)
    return {**_times(lambda: model.fit(X, y)), "bits": _digest(model)}


def low_rank_rows(n: int, d: int, k: int) -> tuple[Any, Any]:
    """Rows of k classes that share 32 directions, and their labels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    X = (rng.standard_normal((k, 32)) @ rng.standard_normal((32, d)) / 6)[y].astype(np.float32)
    return X + rng.standard_normal((n, d), np.float32), y


def features(workers: Any) -> dict[str, Any]:
    """Parts by tasks, and their rows joined."""
    with tempfile.TemporaryDirectory() as name:
        paths, encoder = pictures(Path(name), IMAGES)
        list(workers.run(_warm, [], [[0.5]] * (2 * len(workers))))  # processes are there, and have their libraries
        out = Path(name, "all.store")
        seconds = wall(lambda: mc.runs.spread_features(out, paths, encoder))
        return {"seconds": seconds, "bits": sha256_digest([mc.open_store(out).X.toarray()])}


def pictures(folder: Path, count: int) -> tuple[list[str], mc.FisherVectors]:
    """Pictures of 512 x 384 pixels, and an encoder that has seen 50 of them."""
    from PIL import Image

    rng, paths = np.random.default_rng(0), []
    for i in range(count):
        small = Image.fromarray(rng.integers(0, 255, (24, 32, 3), dtype=np.uint8))
        paths.append(str(folder / f"{i:05}.jpg"))
        small.resize((512, 384), Image.Resampling.BICUBIC).save(paths[-1])
    encoder = mc.FisherVectors(16, descriptors=("sift",), n_components=32, n_samples=20_000, random_state=0)
    return paths, encoder.fit(paths[:50])


def _warm(seconds: float) -> None:
    import manyclass.features.aggregation.fisher
    import manyclass.features.extraction.write_features  # noqa: F401

    time.sleep(seconds)


def search() -> dict[str, Any]:
    """Queries at once, the best of three times."""
    rng = np.random.default_rng(0)
    X, Q = (rng.standard_normal((n, WIDTH), dtype=np.float32) for n in (ROWS, QUERIES))
    gallery = mc.Gallery()
    gallery.add(X)
    with mc.cluster.spread(gallery):
        index = gallery.state().indexes[0]
        C = index.encode(Q)
        hits = index.search(C, None, 10)
        seconds = min(wall(lambda: index.search(C, None, 10)) for _ in range(3))
    return {"seconds": seconds, "bits": sha256_digest([np.asarray(part) for part in hits])}


class ActorMemory:
    """The most memory, in MiB, that an actor holds inside a `with` block, by looks every 20 ms.

    Pages of the store of objects are told apart: they are Ray's, whoever reads or writes an object there, and all
    processes of a machine share them.
    """

    own = shared = 0.0

    def __enter__(self) -> Self:
        self._actors, self._done = list(_actors()), Event()
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.02):
            for process in self._actors:
                known = _status(Path("/proc", process, "status"))
                anonymous, file, shared = (int(known[f"Rss{kind}"]) / 1024 for kind in ("Anon", "File", "Shmem"))
                self.own, self.shared = max(self.own, anonymous + file), max(self.shared, shared)


def _status(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^(\w+):\s+(\S+)", path.read_text(), re.MULTILINE))


def busiest(work: Callable[[], Any]) -> float:
    """Seconds of the processor that the busiest actor spends while something is done."""
    before = _processor_seconds()
    work()
    return max(seconds - before.get(process, 0.0) for process, seconds in _processor_seconds().items())


def _processor_seconds() -> dict[str, float]:
    stats = {process: Path("/proc", process, "stat").read_text().rsplit(")", 1)[1].split() for process in _actors()}
    return {process: (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") for process, stat in stats.items()}


def _actors() -> dict[str, dict[str, str]]:
    """What the system says of the actors among the descendants of this process."""
    parents, actors = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            known = _status(status)
            words = status.with_name("cmdline").read_bytes()
        except OSError:  # it is gone
            continue
        parents[known["Pid"]] = known["PPid"]
        if words.startswith(b"ray::_Host"):
            actors[known["Pid"]] = known
    return {process: known for process, known in actors.items() if _descends(process, parents)}


def _descends(process: str, parents: dict[str, str]) -> bool:
    while process in parents and process != str(os.getpid()):
        process = parents[process]
    return process == str(os.getpid())


def _digest(model: Any) -> str:
    return sha256_digest([model.coef_, model.intercept_])


def wall(work: Callable[[], Any]) -> float:
    """Seconds by the clock."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    print(json.dumps({"jobs": jobs, "fit": fit}[sys.argv[1]](Path(sys.argv[2]), *map(int, sys.argv[3:]))))

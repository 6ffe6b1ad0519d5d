"""Search in ten million images: what an index finds of the ten nearest, and what it costs in time and memory.

Rows are drawn, not of pictures: see benchmarks/clustered_rows.py. Each line is a process of its own with one thread,
which opens what another one made, and all of them take turns; the best of several turns counts, by processor time, and
the least peak. `alone` is the median of queries one at a time, and `of 200` the time of a query among 200 that are
asked at once. `index` is what lies in memory or on disk beside the rows themselves, and `peak` the most memory of the
process, Python, rows and pages of mapped files included. `open` is the time until the first query can be asked.
`recall` is how many of the ten nearest, by all products in float32, are among the ten that are found.

Whatever is approximate takes the least effort of a ladder (efSearch or nprobe, and candidates that are scored again by
the rows themselves) that finds 95 % of the ten nearest: manyclass by some of its own rows, as `--index` does it, and
faiss by 200 queries, other than those that are reported. What has `+ rows` scores its candidates again.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.clustered_rows import clustered_rows, clusters, write_rows
from benchmarks.contender import peak
from benchmarks.load import load
from benchmarks.page import Page
from manyclass.retrieval.faiss_index import RECALL, set_effort

TOP, ASKED = 10, 200
OURS = {"manyclass, exact": None, "manyclass, ivf": "ivf", "manyclass, pq4": "pq4", "manyclass, hnsw": "hnsw"}
PEERS = ("faiss Flat", "faiss IVF-Flat", "faiss IVF-PQ + rows", "faiss PQ4fs + rows", "faiss IVF-PQ4fs + rows")
GRAPH = "faiss HNSW"
_BLOCK = 1 << 16
_LINKS, _HOUR = (16, 8), 3600.0  # links of a graph, the first of which takes less than an hour
# (efSearch or nprobe, candidates for each that is asked for)
_LADDERS = {
    "faiss IVF-Flat": [(1 << i, 1) for i in range(2, 10)],
    "faiss IVF-PQ + rows": [(1 << i, 4 << (i - 2)) for i in range(2, 9)],
    "faiss PQ4fs + rows": [(None, 10 << i) for i in range(7)],
    "faiss IVF-PQ4fs + rows": [(1 << i, 10 << (i - 2)) for i in range(2, 9)],
    GRAPH: [(16 << i, 1) for i in range(1, 8)],
}

Answer = Callable[[np.ndarray], np.ndarray]


def make(name: str, folder: Path) -> dict[str, Any]:
    """Make the gallery or the index: processor seconds, the peak of memory, and what was chosen."""
    X, started = np.load(folder / "X.npy", mmap_mode="r"), time.process_time()
    if name in OURS:
        gallery = mc.Gallery(index=OURS[name])
        for start in range(0, len(X), _BLOCK):
            gallery.add(np.asarray(X[start : start + _BLOCK]))
        gallery.save(path_of(name, folder))
        about = gallery.state().approximate.about if gallery.state().approximate else {}
        chosen = {"factory": about.get("factory"), "said": about.get("recall")}
        chosen |= {"effort": [about["effort"], about["candidates"]]} if about else {}
    else:
        chosen = _make_peer(name, X, path_of(name, folder))
    return {"seconds": time.process_time() - started, "peak": peak(), **chosen}


def _make_peer(name: str, X: np.ndarray, path: Path) -> dict[str, Any]:
    import faiss

    d, lists = X.shape[1], 1 << round(np.log2(len(X)) / 2)
    factory = {
        "faiss Flat": "Flat",
        "faiss IVF-Flat": f"IVF{lists},Flat",
        "faiss IVF-PQ + rows": f"IVF{lists},PQ{d // 4}",
        "faiss PQ4fs + rows": f"PQ{d // 2}x4fs",
        "faiss IVF-PQ4fs + rows": f"IVF{lists},PQ{d // 2}x4fs",
    }
    chosen = _choose_links(X) if name == GRAPH else {"factory": factory[name]}
    index = faiss.index_factory(d, chosen["factory"], faiss.METRIC_INNER_PRODUCT)
    if not index.is_trained:
        index.train(np.ascontiguousarray(X[:: max(1, len(X) // max(_BLOCK, 64 * lists))]))
    for start in range(0, len(X), _BLOCK):
        index.add(np.ascontiguousarray(X[start : start + _BLOCK]))
    faiss.write_index(index, str(path))
    return chosen


def _choose_links(X: np.ndarray) -> dict[str, Any]:
    """So many links for each row of a graph that it is expected to take less than an hour.

    That is told by the second hundred thousand rows, and a rate that halves with every tenfold of rows.
    """
    import faiss

    some = np.ascontiguousarray(X[:200_000])
    for links in _LINKS:
        index = faiss.index_factory(X.shape[1], f"HNSW{links}", faiss.METRIC_INNER_PRODUCT)
        index.add(some[: len(some) // 2])
        started = time.process_time()
        index.add(some[len(some) // 2 :])
        rate = (len(some) - len(some) // 2) / (time.process_time() - started)
        expected = len(X) / rate * 2 ** np.log10(max(1.0, len(X) / len(some)))
        if expected <= _HOUR:
            break
    return {"factory": f"HNSW{links}", "rate": rate, "expected": expected}


def path_of(name: str, folder: Path) -> Path:
    """Where it is."""
    return folder / name.replace(",", "").replace(" + ", "_").replace(" ", "_")


def opened(name: str, folder: Path) -> Answer:
    """The function from queries to the ten nearest."""
    if name in OURS:
        gallery = mc.Gallery.open(path_of(name, folder))
        if gallery.state().approximate is not None:
            gallery.state().approximate.arrays()
        return lambda Q: gallery.search(Q, TOP).ids
    import faiss

    index = faiss.read_index(str(path_of(name, folder)))
    if "+" in name:
        rows = faiss.read_index(str(path_of("faiss Flat", folder)))
        index = _Refined(index, rows)
    if name in _LADDERS:
        kept = folder / "efforts.json"
        effort, factor = json.loads(kept.read_text())[name] if kept.exists() else (None, 1)
        _set(index, effort, factor)
    return lambda Q: index.search(Q, TOP)[1]


class _Refined:
    """An index of faiss whose candidates another one, of the rows themselves, scores again; both are kept alive."""

    def __init__(self, base: Any, rows: Any):
        import faiss

        self.base, self.rows, self.whole = base, rows, faiss.IndexRefine(base, rows)

    def search(self, Q: np.ndarray, k: int) -> Any:
        return self.whole.search(Q, k)


def _set(index: Any, effort: int | None, factor: int) -> None:
    set_effort(index.base if isinstance(index, _Refined) else index, effort)
    if isinstance(index, _Refined):
        index.whole.k_factor = float(factor)


def tune(name: str, folder: Path) -> Any:
    """The least effort of the ladder by which faiss finds enough of the nearest of 200 queries."""
    import faiss

    Q, exact = np.load(folder / "Q.npy")[ASKED:], np.load(folder / "exact.npy")[ASKED:]
    index = faiss.read_index(str(path_of(name, folder)))
    if "+" in name:
        index = _Refined(index, faiss.read_index(str(path_of("faiss Flat", folder))))
    for effort, factor in _LADDERS[name]:
        _set(index, effort, factor)
        if recall(index.search(Q, TOP)[1], exact) >= RECALL:
            break
    kept = folder / "efforts.json"
    kept.write_text(json.dumps(_known(kept) | {name: (effort, factor)}))
    return [effort, factor]


def recall(found: np.ndarray, exact: np.ndarray) -> float:
    """How many of the nearest were found.

    >>> recall(np.array([[3, 1], [2, 9]]), np.array([[1, 3], [2, 4]]))
    0.75
    """
    return float(np.mean([len(np.intersect1d(a, b)) for a, b in zip(found, exact, strict=True)])) / exact.shape[1]


def ask(name: str, folder: Path, _: str) -> dict[str, Any]:
    """Processor seconds of a query alone and of one among 200, to open, the truth, and the peak of memory."""
    Q, exact = np.load(folder / "Q.npy")[:ASKED], np.load(folder / "exact.npy")[:ASKED]
    started = time.process_time()
    answer = opened(name, folder)
    answer(Q[:1])
    ready = time.process_time() - started
    alone = [_seconds(answer, Q[i : i + 1]) for i in range(50)]
    together = [_seconds(answer, Q) for _ in range(2)]
    found = answer(Q)
    times = {"alone": float(np.median(alone)), "together": min(together) / ASKED, "open": ready}
    return {**times, "recall": recall(found, exact), "peak": peak()}


def _seconds(answer: Answer, Q: np.ndarray) -> float:
    started = time.process_time()
    answer(Q)
    return time.process_time() - started


def write_queries(folder: Path, n: int, d: int) -> None:
    """Queries, 200 to report and 200 to choose efforts by, and their ten nearest by all products."""
    X = np.load(folder / "X.npy", mmap_mode="r")
    Q = clustered_rows(2 * ASKED, d, clusters(n), -1)
    best, scores = np.zeros((len(Q), 0), np.int64), np.zeros((len(Q), 0), np.float32)
    for start in range(0, len(X), _BLOCK):
        S = Q @ X[start : start + _BLOCK].T
        places = np.argpartition(S, -TOP, axis=1)[:, -TOP:]
        best = np.concatenate([best, places + start], axis=1)
        scores = np.concatenate([scores, np.take_along_axis(S, places, axis=1)], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
        best, scores = np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)
    np.save(folder / "Q.npy", Q)
    np.save(folder / "exact.npy", best)


def _child(folder: Path, task: str, name: str, turn: int = 0) -> Any:
    """What a process of its own says; kept in the folder, so that a run that was cut goes on."""
    kept, key = folder / "measured.json", " ".join((task, name, str(turn)))
    if key not in (known := _known(kept)):
        command = [sys.executable, "-m", "benchmarks.ten_million", task, name, str(folder), str(turn)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
        known = _known(kept) | {key: json.loads(done.stdout.splitlines()[-1])}
        kept.write_text(json.dumps(known, indent=1))
    return known[key]


def _known(kept: Path) -> dict[str, Any]:
    return json.loads(kept.read_text()) if kept.exists() else {}


def measure(page: Page, folder: Path, n: int, d: int, rounds: int, names: list[str]) -> None:
    """The table of searches, what each of them was, and a verdict."""
    if not (folder / "X.npy").exists():
        write_rows(folder / "X.npy", n, d)
    if not (folder / "exact.npy").exists():
        write_queries(folder, n, d)
    made = {name: _child(folder, "make", name) for name in names}
    for name in names:
        if name in _LADDERS:
            made[name]["effort"] = _child(folder, "tune", name)
    turns = [{name: _child(folder, "ask", name, turn) for name in names} for turn in range(rounds)]
    found = {name: _best([turn[name] for turn in turns]) for name in names}
    rows = n * d * 4
    lines = [
        [name, *_answers(found[name]), *_bytes(_beside(name, folder, rows), 2**20 * found[name]["peak"])]
        for name in names
    ]
    columns = ["search", "recall", "alone", "of 200", "open", "index", "peak"]
    page.table(f"The ten nearest of {n} x {d}, one thread", columns, lines)
    page.table(
        "To make them, one thread",
        ["search", "kind", "processor time", "peak", "effort, candidates"],
        [
            [name, one["factory"] or "all rows", f"{one['seconds']:.0f} s", *_bytes(2**20 * one["peak"]), _effort(one)]
            for name, one in made.items()
        ],
    )
    page.about += f"\n{_verdict(found)}\n\n{_of_graph(made.get(GRAPH))}".rstrip()


def _effort(made: dict[str, Any]) -> str:
    return ", ".join("all" if number is None else str(number) for number in made.get("effort", []))


def _best(turns: list[dict[str, Any]]) -> dict[str, Any]:
    return {key: min(one[key] for one in turns) for key in turns[0]}


def _answers(found: dict[str, Any]) -> list[str]:
    times = [f"{1e3 * found[one]:.2f} ms" for one in ("alone", "together")]
    return [f"{found['recall']:.1%}", *times, f"{found['open']:.1f} s"]


def _bytes(*sizes: float) -> list[str]:
    return [f"{size / 2**20:.0f} MiB" for size in sizes]


def _beside(name: str, folder: Path, rows: int) -> int:
    """Bytes of an index, beside the rows that it does not keep itself."""
    path = path_of(name, folder)
    if name in OURS:
        return sum(file.stat().st_size for file in path.glob("index*"))
    size = path.stat().st_size
    return max(0, size - rows) if name == "faiss Flat" else size


def _verdict(found: dict[str, Any]) -> str:
    """Which search is the quickest that finds enough, with how much memory."""
    enough = {name: one for name, one in found.items() if one["recall"] >= RECALL - 0.01}
    alone = min(enough, key=lambda name: enough[name]["alone"])
    exact = found["manyclass, exact"]["alone"]
    least = min(enough, key=lambda name: enough[name]["peak"])
    return (
        f"Of those that find {RECALL - 0.01:.0%}, {alone} takes the least time for a query alone, "
        f"{exact / enough[alone]['alone']:.0f} times less than exact search, and {least} has the least peak."
    )


def _of_graph(made: dict[str, Any] | None) -> str:
    if made is None:
        return "The graph of faiss (HNSW) was left out of this run."
    told = (
        "" if made["factory"] == f"HNSW{_LINKS[0]}" else f" That is less than {_LINKS[0]} links, which were too slow."
    )
    if "rate" not in made:
        return f"The graph is {made['factory']} with efConstruction 40."
    return (
        f"The graph is {made['factory']} with efConstruction 40: at {made['rate']:.0f} rows a second among the first "
        f"200,000, {made['expected']:.0f} s were expected for all.{told}"
    )


def run(n: int = 10_000_000, d: int = 64, rounds: int = 3, folder: str = "", without: str = "") -> Page:
    """The table; folder= keeps what was made, n=1000000 is quick, without=hnsw leaves out names that have the word."""
    title = "Ten million images" if n == 10_000_000 else f"{n:,} images, in place of ten million"
    names = [name for name in (*OURS, *PEERS, GRAPH) if not without or without.lower() not in name.lower()]
    left_out = [name for name in (*OURS, *PEERS, GRAPH) if name not in names]
    missing = f"Left out here: {'; '.join(left_out)}.\n" if left_out else ""
    page = Page("ten_million", title, f"{__doc__}\n{load()}\n{missing}")
    with tempfile.TemporaryDirectory() as passing:
        kept = Path(folder or passing)
        kept.mkdir(parents=True, exist_ok=True)
        measure(page, kept, n, d, rounds, names)
    return page


def main(task: str, name: str, folder: str, turn: str) -> None:
    import faiss

    faiss.omp_set_num_threads(1)
    tasks: dict[str, Callable[[], Any]] = {
        "make": lambda: make(name, Path(folder)),
        "tune": lambda: tune(name, Path(folder)),
        "ask": lambda: ask(name, Path(folder), turn),
    }
    print(json.dumps(tasks[task]()))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Heads of very many classes: the size of their files, memory, and the time and the truth of the five best classes.

Weights are drawn, not learned: see benchmarks/head_weights.py. Each line is a process of its own, which opens what
another one made, answers one row at a time and then 64 together, and tells the most memory that it held, Python and its
libraries included, after rows alone and after all; pages of mapped files that were touched count. What is made of the
weights is made a block at a time: what is mapped then is the file of the weights. One thread is timed by its own
processor time; more, if asked for, by the clock, of which the best of five counts for each row. `same` is how many of
the five best are among the five best by all weights in float32, and `first` how often the best is the best. NumPy is a
product and argpartition on mapped weights; faiss has the same float32 weights (Flat), 8 bits a weight (SQ8), and 4 bits
for three or four weights with a second look at the best by SQ8 (PQ4fs + SQ8), whose length is the shortest of those
tried at which as many are the same as with SQ8 alone.
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
from benchmarks.contender import peak
from benchmarks.head_weights import write_weights
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.timing import all_threads

TOP, BATCH, JUDGED = 5, 64, 128
OURS = {f"manyclass, {bits} bits": bits for bits in (4, 8, 12, 16)}
PEERS = ("NumPy, float32", "faiss Flat", "faiss SQ8", "faiss PQ4fs + SQ8")
_FACTORS = (10, 100, 1000, 4000)  # second looks of faiss, in units of TOP
_SAMPLE = 20_000  # classes that a product quantizer of faiss is trained on

Answer = Callable[[np.ndarray], np.ndarray]


def make(name: str, folder: Path) -> dict[str, Any]:
    """Make the file of a head or an index: seconds and the peak of memory."""
    W, path = np.load(folder / "W.npy", mmap_mode="r"), file_of(name, folder)
    started = time.process_time()
    if name in OURS:
        mc.QuantizedHead.from_arrays(W, bits=OURS[name], path=path)
    elif name.startswith("faiss"):
        import faiss

        index = _index(name, W)
        for start in range(0, len(W), 1 << 16):
            index.add(np.ascontiguousarray(W[start : start + (1 << 16)]))
        faiss.write_index(index, str(path))
    return {"seconds": time.process_time() - started, "peak": peak(), "mapped": _mapped()}


def _index(name: str, W: np.ndarray) -> Any:
    import faiss

    d, metric = W.shape[1], faiss.METRIC_INNER_PRODUCT
    if name == "faiss Flat":
        return faiss.IndexFlatIP(d)
    sample = np.ascontiguousarray(W[:: max(1, len(W) // _SAMPLE)])
    eight = faiss.IndexScalarQuantizer(d, faiss.ScalarQuantizer.QT_8bit, metric)
    eight.train(sample)
    if name == "faiss SQ8":
        return eight
    # Blocks of three columns where they divide the width, as 4 bits for three weights are, and else of four.
    base = faiss.IndexPQFastScan(d, d // (3 if d % 3 == 0 else 4), 4, metric)
    base.train(sample)
    return faiss.IndexRefine(base, eight)


def file_of(name: str, folder: Path) -> Path:
    """Where it is; NumPy reads the weights themselves."""
    return folder / ("W.npy" if name.startswith("NumPy") else name.replace(" ", "_").replace(",", ""))


def opened(name: str, folder: Path) -> Answer:
    """The function from rows to the five best classes."""
    path = file_of(name, folder)
    if name in OURS:
        head = mc.load(path)
        return lambda X: head.predict_top(X, TOP)
    if name.startswith("NumPy"):
        W = np.load(path, mmap_mode="r")
        return lambda X: _by_numpy(X, W)
    import faiss

    index = faiss.read_index(str(path))
    if "+" in name:
        index.k_factor = float(json.loads((folder / "factor.json").read_text()))
    return lambda X: index.search(X, TOP)[1]


def _by_numpy(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    S = X @ W.T
    some = np.argpartition(S, -TOP, axis=1)[:, -TOP:]
    return np.take_along_axis(some, np.argsort(-np.take_along_axis(S, some, axis=1), axis=1), axis=1)


def ask(name: str, folder: Path, n_threads: int) -> dict[str, Any]:
    """Seconds of a row alone and of one of 64, the truth, and the peak of memory after the former and after all."""
    X, exact = np.load(folder / "X.npy"), np.load(folder / "exact.npy")[:JUDGED]
    clock = time.process_time if n_threads == 1 else time.perf_counter
    with all_threads(n_threads):
        if name.startswith("faiss"):
            import faiss

            faiss.omp_set_num_threads(n_threads)
        answer = opened(name, folder)
        answer(X[JUDGED : JUDGED + 1])
        rounds = 1 if n_threads == 1 else 5
        alone = [min(_seconds(clock, answer, X[i : i + 1]) for _ in range(rounds)) for i in range(32)]
        held = {"peak": peak(), "mapped": _mapped()}
        found = np.concatenate([answer(X[start : start + BATCH]) for start in range(0, JUDGED, BATCH)])
        together = [_seconds(clock, answer, X[:BATCH]) for _ in range(3)]
    same = np.mean([len({*mine} & {*theirs}) / TOP for mine, theirs in zip(found, exact, strict=True)])
    truth = {"same": same, "first": np.mean(found[:, 0] == exact[:, 0])}
    return {"alone": float(np.median(alone)), "together": min(together) / BATCH, **truth, **held, "after": peak()}


def _seconds(clock: Callable[[], float], answer: Answer, X: np.ndarray) -> float:
    started = clock()
    answer(X)
    return clock() - started


def _mapped() -> float:
    """Pages of files that this process holds, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssFile")) / 1024


def write_exact(folder: Path) -> None:
    """The five best of every row by all weights, a block of classes at a time."""
    W, X = np.load(folder / "W.npy", mmap_mode="r"), np.load(folder / "X.npy")
    best, scores = np.zeros((len(X), 0), np.int64), np.zeros((len(X), 0), np.float32)
    for start in range(0, len(W), 1 << 15):
        S = X @ W[start : start + (1 << 15)].T
        places = np.argpartition(S, -TOP, axis=1)[:, -TOP:]
        best = np.concatenate([best, places + start], axis=1)
        scores = np.concatenate([scores, np.take_along_axis(S, places, axis=1)], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
        best, scores = np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)
    np.save(folder / "exact.npy", best)


def choose_factor(folder: Path) -> None:
    """The fewest second looks of faiss at which as many are the same as by SQ8 alone, on 64 rows."""
    import faiss

    X, exact = np.load(folder / "X.npy")[:BATCH], np.load(folder / "exact.npy")[:BATCH]
    index = faiss.read_index(str(file_of(PEERS[3], folder)))
    wanted = faiss.downcast_index(index.refine_index).search(X, TOP)[1]
    goal = np.mean([len({*a} & {*b}) for a, b in zip(wanted, exact, strict=True)])
    for factor in _FACTORS:
        index.k_factor = float(factor)
        found = index.search(X, TOP)[1]
        if np.mean([len({*a} & {*b}) for a, b in zip(found, exact, strict=True)]) >= goal - 0.02:
            break
    (folder / "factor.json").write_text(json.dumps(factor))


def _child(*words: str) -> Any:
    """What a process of its own says; kept in the folder, so that a run that was cut goes on."""
    kept, key = Path(words[2]) / "measured.json", " ".join((*words[:2], words[3]))
    if key not in (known := _known(kept)):
        environment = {**os.environ, "OMP_NUM_THREADS": words[3]}
        command = [sys.executable, "-m", "benchmarks.heads", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
        known = _known(kept) | {key: json.loads(done.stdout.splitlines()[-1])}
        kept.write_text(json.dumps(known, indent=1))
    return known[key]


def _known(kept: Path) -> dict[str, Any]:
    return json.loads(kept.read_text()) if kept.exists() else {}


def measure(page: Page, folder: Path, k: int, d: int, threads: tuple[int, ...]) -> None:
    """The tables of one size: what is made, and what it answers."""
    if not (folder / "W.npy").exists():
        write_weights(folder, k, d)
    _child("exact", "-", str(folder), "1")
    names = [name for name in (*OURS, *PEERS) if not name.startswith("faiss") or _has_faiss()]
    made = {name: _child("make", name, str(folder), "1") for name in names if not name.startswith("NumPy")}
    lines = [[name, f"{one['seconds']:.1f} s", *_mebibytes(one, "peak", "mapped")] for name, one in made.items()]
    columns = ["head", "processor time", "peak", "of it mapped at the end"]
    page.table(f"To make them, {k} classes x {d}, one thread", columns, lines)
    if _has_faiss():
        _child("factor", "-", str(folder), "1")
    columns = [
        "head",
        "file",
        "a row alone",
        "a row of 64",
        "same",
        "first",
        "peak, rows alone",
        "of it mapped",
        "peak",
    ]
    for n_threads in threads:
        asked = names if n_threads == 1 else OURS
        found = {name: _child("ask", name, str(folder), str(n_threads)) for name in asked}
        words = "one thread" if n_threads == 1 else f"{n_threads} threads"
        lines = [[name, f"{_size(name, folder):.0f} MiB", *_answers(one)] for name, one in found.items()]
        page.table(f"The five best of {k} classes x {d}, {words}", columns, lines)


def _answers(found: dict[str, Any]) -> list[str]:
    times = [f"{1e3 * found[one]:.2f} ms" for one in ("alone", "together")]
    return [*times, *(f"{found[one]:.2%}" for one in ("same", "first")), *_mebibytes(found, "peak", "mapped", "after")]


def _mebibytes(found: dict[str, Any], *names: str) -> list[str]:
    return [f"{found[name]:.0f} MiB" for name in names]


def _size(name: str, folder: Path) -> float:
    return file_of(name, folder).stat().st_size / 2**20


def _has_faiss() -> bool:
    from importlib.util import find_spec

    return find_spec("faiss") is not None


def on_features(page: Page, path: Path) -> None:
    """Accuracy of heads of classifiers that were trained on features of pictures."""
    arrays = np.load(path)
    X, y, train = arrays["features"].astype(np.float32), arrays["labels"], arrays["split"] == "train"
    lines = []
    for name, clf in (
        ("StochasticClassifier", mc.StochasticClassifier(random_state=0)),
        ("SquareLossClassifier", mc.SquareLossClassifier()),
        ("softmax with a ridge of 1e-5", mc.LinearClassifier(penalty=mc.Ridge(1e-5))),
    ):
        clf.fit(X[train], y[train])
        heads = [clf, *(clf.compress(bits) for bits in (16, 12, 8, 4))]
        right = [mc.evaluation.accuracy(y[~train], head.predict(X[~train])) for head in heads]
        lines.append([name, *(f"{one:.2%}" for one in right)])
    columns = ["classifier", "float32", "16 bits", "12 bits", "8 bits", "4 bits"]
    page.table(f"Right on {int((~train).sum())} test rows, features of {path.name}", columns, lines)


def run(
    k: int = 1_000_000,
    d: int = 768,
    threads: str | int = 1,
    folder: str = "",
    features: str = os.environ.get("MANYCLASS_FEATURES", ""),
) -> Page:
    """All tables; folder= keeps files and goes on with them, threads=1,2 is for a quiet machine, k=20000 is small."""
    page = Page("heads", "Heads of a million classes", f"{__doc__}\n{load()}")
    counts = tuple(int(word) for word in str(threads).split(","))
    with tempfile.TemporaryDirectory() as name:
        large = Path(folder or name)
        (large / "wide").mkdir(parents=True, exist_ok=True)
        measure(page, large, k, d, counts)
        measure(page, large / "wide", min(k, 10_184), 4096, counts[:1])
    if features:
        on_features(page, Path(features))
    return page


def main(task: str, name: str, folder: str, n_threads: str) -> None:
    path = Path(folder)
    tasks: dict[str, Callable[[], Any]] = {
        "make": lambda: make(name, path),
        "ask": lambda: ask(name, path, int(n_threads)),
        "exact": lambda: write_exact(path),
        "factor": lambda: choose_factor(path),
    }
    print(json.dumps(tasks[task]()))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""One-vs-rest on compressed rows of the shape of ImageNet: time to the validation plateau, memory, cost of a visit.

Rows are generated classes, written block by block as codes of one byte for 8 columns; the exact rows are never held. A
visit is one example in one epoch: it concerns its own class and `beta` others. The BLAS floor is the time of the
multiplications of a visit (scores, and the move of W) at the speed of a large sgemm; the memory floor is that of the
least traffic at the speed of a large copy: the row's code is read, the decoded row written and read. W, which is read
and written over and over, is not counted: it may stay in a cache. Validation is of codes, as training is, and the mean
over classes; the test is of exact rows, which are told apart more easily.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.contender import peak
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.timing import all_threads, best_of

BLOCK = 8
N_TEST = 10_000


def write_codes(folder: Path, n: int, d: int, k: int, noise: float = 0.2, n_test: int = N_TEST) -> float:
    """Codes, labels, codebooks and an exact test set in a folder; the seconds that it took."""
    started = time.perf_counter()
    data = mc.datasets.low_rank_classes(n + n_test, d, k, noise=noise)
    first = data.rows(slice(0, min(n, 8192)))
    quantizer = mc.ProductQuantizer(BLOCK, sample=8192, iterations=5, random_state=0).fit(first)
    codes = np.lib.format.open_memmap(folder / "codes.npy", "w+", np.uint8, (n, quantizer.code_size))
    for start in range(0, n, 4096):
        at = slice(start, min(n, start + 4096))
        codes[at] = quantizer.encode_rows(data.rows(at))
    codes.flush()
    np.save(folder / "codebooks.npy", quantizer.codebooks_)
    np.save(folder / "y.npy", data.y)
    np.save(folder / "X_test.npy", data.rows(slice(n, None)))
    return time.perf_counter() - started


def read_codes(folder: Path) -> tuple[mc.QuantizedMatrix, np.ndarray, np.ndarray, np.ndarray]:
    """(X, y, exact rows to test on, their labels), all in memory."""
    books, codes, y, X_test = (np.load(folder / f"{part}.npy") for part in ("codebooks", "codes", "y", "X_test"))
    settings = {"block": BLOCK, "n_centroids": books.shape[1], "n_features": X_test.shape[1], "rotation": None}
    quantizer = mc.ProductQuantizer.from_state(settings, {"codebooks": books})
    return quantizer.matrix(codes), y[: len(codes)], X_test, y[len(codes) :]


def train(folder: Path, n_threads: int) -> dict[str, Any]:
    """A fit with the defaults, and then one epoch with each number of threads."""
    X, y, X_test, y_test = read_codes(folder)
    started = time.perf_counter()
    fitted = mc.StochasticClassifier(n_threads=n_threads, random_state=0).fit(X, y)
    seconds, most = time.perf_counter() - started, peak()
    accuracy = mc.evaluation.accuracy(y_test, fitted.predict(X_test))
    epochs = {threads: _epoch(fitted, X, y, threads) for threads in (1, n_threads)}
    return {
        "seconds": seconds, "peak": most, "accuracy": accuracy, "beta": fitted.beta_, "step": fitted.step_,
        "history": fitted.history_, "epochs": epochs,
    }  # fmt: skip


def _epoch(fitted: mc.StochasticClassifier, X: mc.QuantizedMatrix, y: np.ndarray, n_threads: int) -> float:
    settings = {"beta": fitted.beta_, "step": fitted.step_, "max_epochs": 1, "early_stopping": False}
    once = mc.StochasticClassifier(**settings, n_threads=n_threads, random_state=0).fit(X, y)
    return float(once.history_[0]["seconds"])


def floors(d: int, classes: float, n_threads: int) -> tuple[float, float]:
    """Seconds of a visit by arithmetic alone and by memory traffic alone, from a sgemm and a copy run here."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2048, d), np.float32), rng.standard_normal((d, 1024), np.float32)
    source = np.ones(1 << 26, np.float32)
    target = np.empty_like(source)
    with all_threads(n_threads):
        seconds = best_of(5, {"sgemm": lambda: A @ B, "copy": lambda: np.copyto(target, source)})
    flops = 2 * A.shape[0] * d * B.shape[1] / seconds["sgemm"]
    bandwidth = 2 * source.nbytes / seconds["copy"]
    traffic = d / BLOCK + 2 * 4 * d
    return 4 * classes * d / flops, traffic / bandwidth


def run(n: int = 1_280_000, d: int = 2048, k: int = 1_000, n_threads: int = 2) -> Page:
    """All tables; n=20000 d=256 k=100 takes seconds."""
    page = Page("imagenet_shape", "One-vs-rest at the size of ImageNet", f"{__doc__}\n{load()}")
    with tempfile.TemporaryDirectory() as folder:
        writing = write_codes(Path(folder), n, d, k)
        command = [sys.executable, "-m", "benchmarks.imagenet_shape", folder, str(n_threads)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    _tables(page, found, writing, (n, d, k), n_threads)
    return page


def _tables(page: Page, found: dict[str, Any], writing: float, shape: tuple[int, int, int], n_threads: int) -> None:
    n, d, k = shape
    sizes = f"n {n}, d {d}, k {k}, block {BLOCK} ({n * -(-d // BLOCK) / 1e6:.0f} MB of codes)"
    judged = [record for record in found["history"] if "accuracy" in record]
    best = max(record["accuracy"] for record in judged) if judged else float("nan")
    beta = "all" if found["beta"] is None else f"{found['beta']:.0f}"
    page.table(
        f"{sizes}, {n_threads} threads, defaults",
        ["fit", "epochs", "beta", "step", "validation", "test", "peak of the process", "writing the codes"],
        [[
            f"{found['seconds']:.1f} s", str(len(found["history"])), beta, f"{found['step']:.3g}",
            f"{best:.2%}", f"{found['accuracy']:.2%}", f"{found['peak']:.0f} MiB", f"{writing:.1f} s",
        ]],
    )  # fmt: skip
    _costs(page, found, shape, n_threads)


def _costs(page: Page, found: dict[str, Any], shape: tuple[int, int, int], n_threads: int) -> None:
    _, d, k = shape
    classes = 1 + (k - 1 if found["beta"] is None else found["beta"])
    visits = sum(record["examples"] for record in found["history"])
    visit = sum(record["seconds"] for record in found["history"]) / visits
    arithmetic, memory = floors(d, classes, n_threads)
    page.table(
        f"One visit: {classes:.0f} classes of {d} columns",
        ["cost", "BLAS floor", "memory floor", "cost / higher floor"],
        [[*(f"{1e6 * t:.2f} us" for t in (visit, arithmetic, memory)), f"{visit / max(arithmetic, memory):.2f}"]],
    )
    seconds = {int(threads): s for threads, s in found["epochs"].items()}
    row = [f"{seconds[1]:.2f} s", f"{seconds[n_threads]:.2f} s", f"{seconds[1] / seconds[n_threads]:.2f}"]
    page.table("One epoch", ["one thread", f"{n_threads} threads", "ratio"], [row])


if __name__ == "__main__":
    print(json.dumps(train(Path(sys.argv[1]), int(sys.argv[2]))))

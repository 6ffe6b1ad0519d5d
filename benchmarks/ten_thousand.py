"""Ten thousand classes, as many as ImageNet10K has: memory of a fit, cost of a visit, and the five best of all classes.

Rows are generated classes, as codes of one byte for 8 columns. A visit is one example in one epoch: it concerns its own
class and some negatives. Its floors are the time of its multiplications (scores, and the move of W) at the speed of a
large sgemm, and that of the least traffic at the speed of a large copy: W, which is larger than all caches, is read and
written once for each 30 MB of rows, and a row is decoded, read and written. The five best classes of a row are compared
with a product and a partition in NumPy, on rows that are decoded already; ours reads codes where rows are codes, and
packs the weights anew, once for all rows. One thread is timed by its own processor time.
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
from benchmarks.contender import forget_peak, peak
from benchmarks.imagenet_shape import BLOCK, read_codes, write_codes
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.timing import all_threads, best_of
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.sampling import Schedule
from manyclass.solvers.shortlist import ClassShortlist

N_TEST = 8192
_STEP = 0.2  # for rows of unit length; the search for it is part of a fit to the plateau alone
_CHUNK = 30 << 20  # bytes of rows for which W is read once


def train(folder: Path, n_threads: int, epochs: int) -> dict[str, Any]:
    """A fit of so many epochs and as many of a refit, or with the defaults to its plateau if they are 0."""
    X, y, X_test, y_test = read_codes(folder)
    settings = {"beta": 64, "step": _STEP, "max_epochs": epochs} if epochs else {}
    before, started, spent = forget_peak(), time.perf_counter(), time.process_time()
    fitted = mc.StochasticClassifier(**settings, n_threads=n_threads, random_state=0).fit(X, y)
    seconds, spent, most = time.perf_counter() - started, time.process_time() - spent, peak()
    np.save(folder / "coef.npy", fitted.coef_)
    np.save(folder / "intercept.npy", fitted.intercept_)
    accuracy = mc.evaluation.accuracy(y_test, fitted.predict(X_test))
    return {
        "seconds": seconds, "spent": spent, "peak": most, "before": before, "weights": fitted.coef_.nbytes / 2**20,
        "accuracy": accuracy, "history": fitted.history_, "beta": fitted.beta_, "step": fitted.step_,
    }  # fmt: skip


def visit(folder: Path, negatives: int, n: int = 8192) -> float:
    """Processor seconds of a visit, one thread, in the best of three epochs that follow a first."""
    X, y, *_ = read_codes(folder)
    k = int(y.max()) + 1
    problem = Problem.whole(X, y, k).part(np.arange(min(n, len(y))))
    machines, algorithm = LinearWeights.zeros(k, X.shape[1]), OneVsRest(MARGIN_LOSSES["hinge"], float(negatives))
    schedule, epoch = Schedule(_STEP), iter(range(10))
    with all_threads(1):
        algorithm.epoch(problem, machines, schedule, next(epoch))
        run = {"epoch": lambda: algorithm.epoch(problem, machines, schedule, next(epoch))}
        return best_of(3, run, time.process_time)["epoch"] / len(problem)


def floors(d: int, k: int, classes: int) -> tuple[float, float]:
    """Seconds of a visit by arithmetic alone and by memory traffic alone, one thread."""
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((1024, d), np.float32), rng.standard_normal((d, 1024), np.float32)
    source = np.ones(1 << 25, np.float32)
    target = np.empty_like(source)
    with all_threads(1):
        run = {"sgemm": lambda: A @ B, "copy": lambda: np.copyto(target, source)}
        seconds = best_of(5, run, time.process_time)
    flops = 2 * A.shape[0] * d * B.shape[1] / seconds["sgemm"]
    traffic = 2 * 4 * d + d / BLOCK + 2 * 4 * d * k / (_CHUNK / (4 * d))
    return 4 * classes * d / flops, traffic / (2 * source.nbytes / seconds["copy"])


def top_five(folder: Path) -> list[list[str]]:
    """For exact rows and for codes: ours, NumPy's, their ratio, and how many entries are the same."""
    X, _, X_test, _ = read_codes(folder)
    model = mc.StochasticClassifier()
    model.coef_, model.intercept_ = np.load(folder / "coef.npy"), np.load(folder / "intercept.npy")
    model.classes_, model.n_features_in_ = np.arange(len(model.coef_)), X_test.shape[1]
    W = np.ascontiguousarray(model.coef_.T)
    lines = []
    for name, rows in (("exact rows", mc.as_matrix(X_test)), ("codes", X.row_slice(slice(0, len(X_test))))):
        dense, found = rows.toarray(), {}

        def plain(dense: np.ndarray = dense, found: dict[str, Any] = found) -> None:
            found["plain"] = np.concatenate([_plain(part, W, model.intercept_) for part in np.split(dense, 16)])

        def ours(rows: mc.Matrix = rows, found: dict[str, Any] = found) -> None:
            found["ours"] = model.predict_top(rows, 5)

        def pack(dense: np.ndarray = dense) -> None:
            ClassShortlist.of(model.coef_, model.intercept_, dense[:64].mean(axis=0))

        with all_threads(1):
            seconds = best_of(2, {"ours": ours, "plain": plain, "pack": pack}, time.process_time)
        same = np.mean(np.sort(found["ours"], axis=1) == np.sort(found["plain"], axis=1))
        mine, theirs, packing = (seconds[one] / len(dense) for one in ("ours", "plain", "pack"))
        ratios = [f"{theirs / mine:.2f}", f"{theirs / (mine - packing):.2f}"]
        lines.append([name, *(f"{1e6 * s:.0f} us" for s in (mine, theirs)), *ratios, f"{same:.3%}"])
    return lines


def _plain(rows: np.ndarray, W: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    S = rows @ W
    S += intercept
    return np.argpartition(S, -5, axis=1)[:, -5:]


def run(n: int = 1_000_000, d: int = 4096, k: int = 10_184, epochs: int = 0, n_threads: int = 2) -> Page:
    """All tables; n=40000 epochs=2 is a small fit, and the same costs of a visit and of a row."""
    page = Page("ten_thousand", "Ten thousand classes", f"{__doc__}\n{load()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_codes(folder, n, d, k, noise=0.1, n_test=N_TEST)
        command = [sys.executable, "-m", "benchmarks.ten_thousand", name, str(n_threads), str(epochs)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        _fit_table(page, json.loads(done.stdout.splitlines()[-1]), (n, d, k), n_threads)
        costs = []
        for negatives in (16, 64):
            cost, (arithmetic, memory) = visit(folder, negatives), floors(d, k, 1 + negatives)
            both = [f"{1e6 * seconds:.1f} us" for seconds in (cost, arithmetic, memory)]
            costs.append([str(negatives), *both, f"{cost / (arithmetic + memory):.2f}"])
        columns = ["negatives", "cost", "BLAS floor", "memory floor", "cost / sum of floors"]
        page.table(f"One visit, {k} classes of {d} columns, one thread", columns, costs)
        columns = ["rows", "ours", "NumPy", "ratio", "ratio once weights are packed", "entries that are the same"]
        page.table(
            f"The five best classes of a row, {N_TEST} rows x {d}, {k} classes, one thread", columns, top_five(folder)
        )
    return page


def _fit_table(page: Page, found: dict[str, Any], shape: tuple[int, int, int], n_threads: int) -> None:
    (n, d, k), history = shape, found["history"]
    each = found["spent"] / sum(record["examples"] for record in history)
    beta = "all" if found["beta"] is None else f"{found['beta']:.0f}"
    columns = ["time", "epochs", "negatives, step", "peak of the process", "before the fit", "W", "test"]
    page.table(
        f"A fit, {n} x {d}, {k} classes, {n_threads} threads",
        [*columns, "processor time of all, for a visit"],
        [[
            f"{found['seconds']:.1f} s", str(len(history)), f"{beta}, {found['step']:.3g}", f"{found['peak']:.0f} MiB",
            f"{found['before']:.0f} MiB", f"{found['weights']:.0f} MiB", f"{found['accuracy']:.2%}",
            f"{1e6 * each:.1f} us",
        ]],
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(train(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))

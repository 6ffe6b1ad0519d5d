"""Softmax with a ridge, at several strengths: processor time until the optimum is near, against LogisticRegression.

The peer minimizes the same objective, in float32 by L-BFGS, and is told to end after the least number of iterations
that is within 1e-4 of the optimum, relative, which it could not find by itself; finding it is not counted. Ours ends
where a duality gap proves that it is as near (its own tolerance, of what is gained over W = 0 if that is less, is set
to say so); what it is above the optimum is told beside. Both are whole fits with their checks. Runs are interleaved,
and the best of several counts.

Arithmetic is that of the products of X with W and of X' with R, 2 n d k each, over all of the time: what is left of the
rate of a product alone went to the loss, the search along lines, the covariance and the proof.
"""

import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import manyclass as mc
from benchmarks.classification import from_file, generated
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.timing import all_threads
from manyclass.penalties.ridge import Ridge

NEAR = 1e-4
STRENGTHS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
_COLUMNS = ["ridge", "ours", "steps", "products", "above the optimum", "LogisticRegression", "iterations", "ratio",
            "arithmetic, ours", "a product alone"]  # fmt: skip


def ours(X: np.ndarray, y: np.ndarray, strength: float, tolerance: float = NEAR) -> tuple[float, mc.LinearClassifier]:
    """Seconds of a whole fit, and what was fitted."""
    started = time.process_time()
    fitted = mc.LinearClassifier(penalty=Ridge(strength), tolerance=tolerance, n_threads=1).fit(X, y)
    return time.process_time() - started, fitted


def logistic_regression(X: np.ndarray, y: np.ndarray, strength: float, iterations: int) -> float:
    """Seconds of a whole fit that ends after so many iterations."""
    started = time.process_time()
    _fit_logistic_regression(X, y, strength, iterations)
    return time.process_time() - started


def iterations_until(X: np.ndarray, y: np.ndarray, strength: float, target: float) -> int:
    """The least number of iterations after which the peer's objective is at most the target."""
    from scipy import optimize

    minimize, values = optimize.minimize, []

    def watch(intermediate_result: optimize.OptimizeResult) -> None:
        values.append(intermediate_result.fun)
        if intermediate_result.fun <= target:
            raise StopIteration

    optimize.minimize = lambda *words, **named: minimize(*words, **{**named, "callback": watch})
    try:
        _fit_logistic_regression(X, y, strength, 1000)
    finally:
        optimize.minimize = minimize
    if values[-1] > target:
        raise SystemExit(f"LogisticRegression comes to {values[-1]:.6g} at ridge {strength:g}, not to {target:.6g}")
    return len(values)


def _fit_logistic_regression(X: np.ndarray, y: np.ndarray, strength: float, iterations: int) -> None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        LogisticRegression(C=1 / (2 * strength * len(X)), tol=1e-9, max_iter=iterations).fit(X, y)


def rate(n: int, d: int, k: int) -> float:
    """Multiplications and additions of a product alone, in a second."""
    X, W = np.ones((n, d), np.float32), np.ones((d, k), np.float32)
    return 2.0 * n * d * k / min(_seconds(lambda: X @ W) for _ in range(3))


def _seconds(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return time.process_time() - started


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.0f} ms"


def compare(page: Page, caption: str, X: np.ndarray, y: np.ndarray, strengths: tuple[float, ...], rounds: int) -> None:
    """One table: both at every strength."""
    (n, d), k, rows = X.shape, int(y.max()) + 1, []
    ours(X[:1000], y[:1000], 1.0, 0.1)  # what is imported when first used
    peak = rate(n, d, k)
    for strength in strengths:
        near = ours(X, y, strength, NEAR / 10)[1]
        optimum = near.objective_ - near.gap_ / 2
        gained = near.history_[0]["objective"] - optimum
        count = iterations_until(X, y, strength, optimum * (1 + NEAR))
        mine, peers = [], []
        for _ in range(rounds):
            mine.append(ours(X, y, strength, NEAR * max(1.0, optimum / gained)))
            peers.append(logistic_regression(X, y, strength, count))
        (seconds, fitted), theirs = min(mine, key=lambda one: one[0]), min(peers)
        done = 2.0 * n * d * k * fitted.passes_ / seconds
        rows.append([
            f"{strength:g}", _time(seconds), str(fitted.n_iter_), f"{fitted.passes_:.0f}",
            f"{fitted.objective_ / optimum - 1:.1g}, at most {fitted.gap_ / optimum:.1g}", _time(theirs), str(count),
            f"{theirs / seconds:.1f}", f"{done / 1e9:.0f} GFLOP/s", f"{peak / 1e9:.0f} GFLOP/s",
        ])  # fmt: skip
        print(caption, rows[-1], flush=True)
    page.table(f"{caption}, n, d, k = {(n, d, k)}, one thread", _COLUMNS, rows)


def run(
    rounds: int = 2,
    n: int = 50_000,
    d: int = 1_024,
    k: int = 1_000,
    features: str = os.environ.get("MANYCLASS_FEATURES", ""),
) -> Page:
    """Generated classes, which take half an hour; and features of a file if it is named, in thrice as many rounds."""
    page = Page("softmax", "Softmax with a ridge", f"{__doc__}\n{load()}")
    with all_threads(1):
        made = generated(n, d, k)
        compare(page, "Generated low-rank classes", made["X"], made["y"], STRENGTHS[1:], rounds)
        if features:
            made = from_file(features)
            compare(page, f"Features of {Path(features).name}", made["X"], made["y"], STRENGTHS, 3 * rounds)
    return page

"""Ridge regression of all classes in closed form, the strength chosen by leave-one-out, against scikit-learn.

Every contender runs alone, in a process of its own, with one thread, and the seconds are those of its processor. Ours
find the strength within the time, as RidgeClassifierCV does among 13 around the same scale. That of LogisticRegression
is given, so that its search is not counted. Memory is what fit adds to what is held before. A contender that is not
done within the limit, or for which memory does not suffice, is told of in its place.

The second table has the parts of our fit beside what they would take if all their arithmetic were done at the speed of
BLAS, a product of two matrices of float64.
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
from benchmarks.classification import Arrays, from_file, generated
from benchmarks.contender import forget_peak, peak
from benchmarks.load import load
from benchmarks.page import Page

_COLUMNS = ["classifier", "seconds", "test accuracy", "times as long as ours", "memory that fit adds"]
_OURS = "SquareLossClassifier"


def _ours(_: Arrays) -> Any:
    return mc.SquareLossClassifier(n_threads=1)


def _ridge(arrays: Arrays) -> Any:
    from sklearn.linear_model import RidgeClassifierCV

    X = arrays["X"]
    return RidgeClassifierCV(np.logspace(-4, 2, 13) * float(X.var(axis=0).mean()) * len(X))


def _logistic(C: float) -> Callable[[Arrays], Any]:
    def make(arrays: Arrays) -> Any:
        from sklearn.linear_model import LogisticRegression

        # With its default tolerance it would take the weights 0 of 1,000 classes for the optimum.
        return LogisticRegression(C=C, max_iter=300, tol=min(1e-4, float(arrays["y"].max() + 1) ** -2))

    return make


def _linear_svc(_: Arrays) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=1.0, dual=True, random_state=0)


CONTENDERS: dict[str, Callable[[Arrays], Any]] = {
    _OURS: _ours,
    "RidgeClassifierCV": _ridge,
    **{f"LogisticRegression C={C:g}": _logistic(C) for C in (0.1, 1.0, 10.0, 100.0)},
    "LinearSVC": _linear_svc,
}


def measure(name: str, folder: Path, rounds: int) -> dict[str, float]:
    """The best of some rounds of a contender on saved arrays."""
    arrays = {part: np.load(folder / f"{part}.npy") for part in ("X", "y", "X_test", "y_test")}
    # Libraries start with the first call, and are not counted.
    CONTENDERS[name](arrays).fit(arrays["X"][:128, :16], np.arange(128) % 8)
    best, added = float("inf"), 0.0
    for _ in range(rounds):
        classifier = CONTENDERS[name](arrays)
        held, started = forget_peak(), time.process_time()
        classifier.fit(arrays["X"], arrays["y"])
        best, added = min(best, time.process_time() - started), max(added, peak() - held)
    accuracy = float(np.mean(classifier.predict(arrays["X_test"]) == arrays["y_test"]))
    return {"seconds": best, "accuracy": accuracy, "added": added}


def contend(name: str, folder: str, rounds: int, limit: float) -> dict[str, float] | str:
    """What a contender does, or why it did nothing."""
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.closed_form", name, folder, str(rounds)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | one_thread, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return f"> {limit:.0f} s"
    except subprocess.CalledProcessError as error:
        return "failed: " + (error.stderr.strip().splitlines() or ["out of memory"])[-1][:80]
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(page: Page, caption: str, arrays: Arrays, names: list[str], rounds: int, limit: float) -> None:
    """A table of contenders on the same rows, the rounds of all of them taking turns; and one of our parts."""
    found: dict[str, dict[str, float] | str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for part, array in arrays.items():
            np.save(Path(folder) / f"{part}.npy", array)
        for _ in range(rounds):
            for name in names:
                one, before = contend(name, folder, min(rounds, 3), limit), found.get(name)
                if isinstance(one, dict) and isinstance(before, dict):
                    one["seconds"] = min(one["seconds"], before["seconds"])
                found[name] = before if isinstance(before, str) else one
                print(f"{caption}: {name}: {found[name]}", file=sys.stderr, flush=True)
    n, d = arrays["X"].shape
    k = int(arrays["y"].max()) + 1
    page.table(f"{caption}: {n} x {d}, {k} classes, one thread", _COLUMNS, [_row(name, found) for name in names])
    page.table(f"{caption}: our parts", ["part", "seconds", "by BLAS", "times as long"], _parts(arrays))


def _row(name: str, found: dict[str, dict[str, float] | str]) -> list[str]:
    one, ours = found[name], found[_OURS]
    if isinstance(one, str):
        return [name, one, "", "", ""]
    times = one["seconds"] / ours["seconds"] if name != _OURS and isinstance(ours, dict) else None
    ratio = "" if times is None else f"{times:.1f}" if times >= 1 else f"{times:.2f}"
    return [name, f"{one['seconds']:.2f}", f"{one['accuracy']:.2%}", ratio, f"{one['added']:.0f} MiB"]


def _parts(arrays: Arrays) -> list[list[str]]:
    """The sums, the factorization, the search for the strength and the weights, for more rows than columns."""
    from manyclass.solvers.class_moments import ClassMoments
    from manyclass.solvers.closed_form import ColumnSystem
    from manyclass.solvers.leave_one_out import LeaveOneOut
    from manyclass.solvers.problem import Problem

    n, d = arrays["X"].shape
    k = int(arrays["y"].max()) + 1
    problem = Problem.whole(mc.DenseMatrix(arrays["X"]), arrays["y"], k)
    with mc.threads(1):
        speed = _product_speed(d)
        times, moments = _timed(lambda: ClassMoments.of(problem))
        rows = [("sums over rows", times, n * d**2 / speed)]
        times, system = _timed(lambda: ColumnSystem(moments))
        rows.append(("tridiagonal form", times, (4 / 3 * d**3 + 2 * k * d**2) / speed))
        times, left_out = _timed(lambda: LeaveOneOut(system, problem, float(n)))
        m = len(left_out.y)
        rows.append((f"coordinates of {m} rows", times, 2 * m * d**2 / speed))
        times, judged = _timed(left_out.search)
        rows.append((f"{len(judged.strengths)} strengths", times, len(judged.strengths) * 2 * m * d * k / speed))
        times, _ = _timed(lambda: system.weights(float(judged.strengths[judged.best()])))
        rows.append(("weights", times, 2 * k * d**2 / speed))
    return [[name, f"{seconds:.3f}", f"{floor:.3f}", f"{seconds / floor:.1f}"] for name, seconds, floor in rows]


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(2):
        started = time.process_time()
        result = run()
        best = min(best, time.process_time() - started)
    return best, result


def _product_speed(d: int) -> float:
    """Operations a second of a product of two d x d matrices."""
    from manyclass._core.parallel import one_blas_thread

    A = np.random.default_rng(0).normal(size=(d, d))
    with one_blas_thread():
        return 2 * d**3 / min(_timed(lambda: A @ A)[0] for _ in range(3))


def run(
    n: int = 50_000,
    d: int = 1_024,
    k: int = 1_000,
    features: str = os.environ.get("MANYCLASS_FEATURES", ""),
    rounds: int = 5,
    limit: int = 1_800,
    only: str = ",".join(CONTENDERS),
) -> Page:
    """Features of a file, if one is named, in rounds; and generated classes, once."""
    page = Page("closed_form", "Squares in closed form", f"{__doc__}\n{load()}")
    names = only.split(",")
    if features:
        compare(page, f"Features of {Path(features).name}", from_file(features), names, rounds, limit)
    few = [name for name in names if name in (_OURS, "RidgeClassifierCV", "LogisticRegression C=10")]
    compare(page, "Generated low-rank classes", generated(n, d, k), few, 1, limit)
    return page


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))))

"""Figure 2 of Amit et al. (ICML 2007): the smoothed problem against the exact one, in value and in time."""

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import manyclass as mc
from experiments.figures import COLORS, MARKERS, finish, panels
from experiments.results import Results
from manyclass.solvers.conic import exact_objective, solve_dual, solve_primal

D = K = 16
N = 160
SHARPNESSES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
SIZES = (80, 160, 320, 640, 1000)
C = 1.0


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("shared_smoothing", "The smoothed trace norm against the exact one")
    results.say(f"""Rows in R^{D}, normally distributed, are labeled by the largest of {K} scores with random weights.
        The exact problem, the trace norm and the multiclass hinge with C = {C:g}, is solved by an interior-point method
        (Clarabel, by way of cvxpy); the smoothed one has smoothing 0.01 and is solved to a proven tolerance of
        0.1 %.""")
    drawn, charts = panels([f"{N} examples", "seconds"], "", "")
    _values(results, charts[0])
    _times(results, charts[1])
    results.figure(finish(drawn, charts), "exact objective against sharpness, and seconds against examples")
    return results


def _values(results: Results, chart: Any) -> None:
    X, y = problem(N)
    _, optimum = solve_primal(X, y, K, C)
    _, bound = solve_dual(X @ X.T, y, K, C)
    values = [exact_objective(smoothed(X, y, sharpness)[0], X, y, C) for sharpness in SHARPNESSES]
    rows = [[f"{s:g}", f"{v:.4f}", f"{100 * (v / optimum - 1):.2f}"] for s, v in zip(SHARPNESSES, values, strict=True)]
    results.table("Exact objective of the smoothed optimum", ["sharpness", "objective", "above the optimum, %"], rows)
    results.say(f"""The optimum is {optimum:.6f}, and the dual problem's {bound:.6f}. The paper's figure shows the same:
        for large sharpness the smoothed problem solves the exact one.""")
    chart.set(xlabel="sharpness", ylabel="exact objective")
    chart.plot(SHARPNESSES, values, color=COLORS[0], marker=MARKERS[0], label="smoothed")
    chart.axhline(optimum, color=COLORS[1], linestyle=":", label="exact")


def _times(results: Results, chart: Any) -> None:
    seconds: dict[str, list[float]] = {"exact": [], "smoothed": []}
    rows = []
    for n in SIZES:
        X, y = problem(n)
        start = process_time()
        _, optimum = solve_primal(X, y, K, C)
        seconds["exact"].append(process_time() - start)
        W, spent = smoothed(X, y, 20.0)
        seconds["smoothed"].append(spent)
        above = 100 * (exact_objective(W, X, y, C) / optimum - 1)
        rows.append([str(n), *(f"{spent[-1]:.2f}" for spent in seconds.values()), f"{above:.1f}"])
    columns = ["examples", "exact, s", "smoothed, s", "smoothed above the optimum, %"]
    results.table("Seconds of one processor, sharpness 20", columns, rows)
    chart.set(xlabel="examples", ylabel="seconds", yscale="log")
    for position, (name, spent) in enumerate(seconds.items()):
        chart.plot(SIZES, spent, color=COLORS[position], marker=MARKERS[position], label=name)


def problem(n: int) -> tuple[Any, Any]:
    """(X (n, d), y): the first n rows of one drawing."""
    rng = np.random.default_rng(0)
    W, X = rng.normal(size=(D, K)), rng.normal(size=(max(SIZES), D))
    return X[:n], (X @ W).argmax(axis=1)[:n]


def smoothed(X: Any, y: Any, sharpness: float) -> tuple[Any, float]:
    """(W (d, k) of the smoothed problem, seconds)."""
    start = process_time()
    model = mc.SharedStructureClassifier(C=C, sharpness=sharpness).fit(X, y)
    spent = process_time() - start
    W = np.zeros((D, K))
    W[:, model.classes_] = model.coef_.T
    return W, spent

"""The strengths of a path.

A walk along a path: every pair judged, the best remembered.

Drawings of a path: the grid, the spectrum of the best (Figure 1 of Harchaoui et al., 2012), and its classes.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_count, check_nonnegative
from manyclass._core.typing import Floats
from manyclass.solvers.batch.path import PathPoint
from manyclass.solvers.batch.points import Factors, Weights, balance_factors
from manyclass.solvers.batch.solution import Solution, Status
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_models import Scores, top_classes

# Shares of the largest useful strength that a path goes through, from the first to the last.
TRACES = (0.5, 2e-3)

RIDGES = (1.0, 1e-3)

BEFORE_REFIT, DURING_REFIT = " before the refit", " during the refit"


def strength_grid(given: Any, name: str, shares: tuple[float, float], largest: Callable[[], float]) -> list[float]:
    """So many strengths in geometric steps down from the largest, or those that are given; the strongest first.

    >>> grid(3, "traces", (1.0, 0.01), lambda: 2.0)
    [2.0, 0.2, 0.02]
    """
    if np.ndim(given) == 0:
        count = check_count(given, name)
        most = largest()
        # Where W = 0 is best whatever the strength, as for constant features, any will do.
        most = most if most > 0 else 1.0
        return [round_to_digits(most * share) for share in np.geomspace(*shares, count)]
    strengths = sorted({check_nonnegative(value, f"each of {name}") for value in given}, reverse=True)
    if not strengths:
        raise ValueError(f"{name} must hold at least one strength; got none")
    return strengths


def round_to_digits(value: float) -> float:
    """With four digits: what a table shows is what was used."""
    return float(f"{value:.3e}")


class PathRun:
    """Goes along a path; `status` is what ended it."""

    solution: Solution
    trace: float
    ridge: float

    def __init__(self, judged: Problem, points: int, tell: Callable[[dict[str, Any]], bool]):
        self.judged = judged
        self.points = points
        self.tell = tell
        self.rows: list[dict[str, Any]] = []
        self.best = -1.0
        self.steps = 0
        self.status, self.stage = Status.DONE, ""

    def along(self, path: Iterator[PathPoint]) -> None:
        """Take all points in; Ctrl-C ends it, unless there is none yet."""
        try:
            for point in path:
                if self._over(point):
                    return
        except KeyboardInterrupt:
            if not self.rows:
                raise
            self.status = Status.INTERRUPTED

    def end_refit(self, status: Status, stage: str) -> None:
        """Note that the refit ended early: " before the refit" or " during the refit"."""
        self.status, self.stage = status, stage

    def warn(self, tolerance: float) -> None:
        """Warn of a path that ended early, or of pairs that were not solved."""
        if self.status.is_unfinished:
            ended = f"{self.status}{self.stage} after {len(self.rows)} of {self.points} pairs"
            words = f"{ended}; best_ is the best of those"
            refitted = "was refitted in part" if self.stage == DURING_REFIT else "was not refitted"
            out_of_time = self.status is Status.TIME_LIMIT
            advice = "raise max_seconds, or pass fewer traces and ridges" if out_of_time else "fit again"
            warnings.warn(f"TraceNormPath: {words}, and {refitted}; {advice}", ConvergenceWarning, stacklevel=4)
            return
        unsolved = [row for row in self.rows if not _settled(row, tolerance)]
        if unsolved:
            words = f"{len(unsolved)} of {self.points} pairs were not solved to the tolerance"
            advice = "see their status in table_; raise max_iter or tolerance"
            warnings.warn(f"TraceNormPath: {words}; {advice}", ConvergenceWarning, stacklevel=4)

    def _over(self, point: PathPoint) -> bool:
        """Take a point in; whether it is the last."""
        found = point.solution
        row = _row(point, class_accuracy(found.point, self.judged))
        self.rows.append(row)
        self.steps += found.iterations
        # The strongest trace comes first, and of equals it stays.
        if row["accuracy"] > self.best:
            self.best, self.solution = row["accuracy"], found
            self.trace, self.ridge = point.gauge, point.ridge
        if self.tell({**row, "point": len(self.rows), "points": self.points}):
            self.status = Status.STOPPED
        if found.status.is_unfinished:
            self.status = found.status
        return self.status is not Status.DONE


def _row(point: PathPoint, accuracy: float) -> dict[str, Any]:
    found = point.solution
    return {
        "trace": point.gauge,
        "ridge": point.ridge,
        "accuracy": accuracy,
        "rank": found.rank,
        "objective": found.objective,
        "gap": found.gap,
        "seconds": found.seconds,
        "passes": found.passes,
        "status": found.status,
    }


def class_accuracy(point: Weights, judged: Problem) -> float:
    """The share of examples given their own class, in each class, averaged over the classes that occur."""
    product = balance_factors(point)
    A, B, b = product.A, product.B, product.b.astype(product.B.dtype)
    y, index = judged.y[judged.index], judged.index

    def block(at: slice) -> Scores:
        Z: Floats = judged.X.rows(index[at]).astype(A.dtype, copy=False) @ A
        return lambda classes: Z @ B[classes].T + b[classes]

    right = top_classes(block, (len(index), judged.d), judged.k)[:, 0] == y
    hits, counts = np.bincount(y[right], minlength=judged.k), np.bincount(y, minlength=judged.k)
    return float((hits[counts > 0] / counts[counts > 0]).mean())


def _settled(row: dict[str, Any], tolerance: float) -> bool:
    """Optimal, or ended by rounding where the gap is small beside the objective: nothing that a user could mend."""
    if row["status"] is Status.PRECISION_LIMIT:
        return bool(row["gap"] <= tolerance * row["objective"])
    return row["status"] in (Status.OPTIMAL, Status.EPSILON_OPTIMAL)


_NAMED = 60  # classes whose names can be read beside one another


class PathPlots:
    """The plots of a fitted path."""

    best_: Any
    table_: list[dict[str, Any]]

    def plot(self, target: Any = None) -> Any:
        """Plot accuracy, rank and objective over the grid; needs `pip install "manyclass[plot]"`.

        Parameters
        ----------
        target : str, os.PathLike or sequence of matplotlib.axes.Axes, default=None
            A file, three axes, or None for a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        check_is_fitted(self)
        return draw_grid(self.table_, target)

    def plot_spectrum(self, target: Any = None) -> Any:
        """Plot the singular values of the best classifier.

        Parameters
        ----------
        target : str, os.PathLike or matplotlib.axes.Axes, default=None
            A file, axes, or None for a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return draw_spectrum(_best(self).singular_values_, target)

    def plot_classes(self, target: Any = None) -> Any:
        """Plot the classes in the plane of the two leading latent features of the best classifier.

        Parameters
        ----------
        target : str, os.PathLike or matplotlib.axes.Axes, default=None
            A file, axes, or None for a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        best = _best(self)
        return draw_classes(best.factors_, best.classes_, target)


def _best(path: PathPlots) -> Any:
    check_is_fitted(path, "best_")
    return path.best_


def draw_grid(table: list[dict[str, Any]], target: Any = None) -> Any:
    """Accuracy, rank and objective by trace and ridge, each an image; the figure."""
    figure, charts = _charts(target, 3)
    traces, ridges = (sorted({row[name] for row in table}, reverse=True) for name in ("trace", "ridge"))
    for chart, name in zip(charts, ("accuracy", "rank", "objective"), strict=True):
        values = np.full((len(ridges), len(traces)), np.nan)
        for row in table:
            values[ridges.index(row["ridge"]), traces.index(row["trace"])] = row[name]
        image = chart.imshow(values, aspect="auto", cmap="viridis")
        chart.figure.colorbar(image, ax=chart)
        chart.set(title=name, xlabel="trace", ylabel="ridge")
        chart.set_xticks(range(len(traces)), [f"{trace:.1e}" for trace in traces], rotation=90, fontsize=7)
        chart.set_yticks(range(len(ridges)), [f"{ridge:.1e}" for ridge in ridges], fontsize=7)
    return _finished(figure, target)


def draw_spectrum(singular_values: NDArray[np.float64], target: Any = None) -> Any:
    """Singular values, the largest first; the figure."""
    figure, (chart,) = _charts(target, 1)
    chart.plot(range(1, len(singular_values) + 1), singular_values, marker=".", color="#0072b2")
    chart.set(title="spectrum", xlabel="number", ylabel="singular value", ylim=(0, None))
    return _finished(figure, target)


def draw_classes(factors: Factors, classes: NDArray[Any], target: Any = None) -> Any:
    """Classes at their places in the two leading latent features: rows of V diag(sqrt(s)); the figure."""
    _, s, V = factors
    places = np.zeros((len(V), 2))
    places[:, : min(2, len(s))] = (V * np.sqrt(s))[:, :2]
    figure, (chart,) = _charts(target, 1)
    chart.scatter(*places.T, s=9, color="#0072b2")
    for place, name in zip(places, classes.tolist(), strict=True) if len(classes) <= _NAMED else ():
        chart.annotate(str(name), place, fontsize=7, xytext=(2, 2), textcoords="offset points")
    chart.set(title="classes", xlabel="latent feature 1", ylabel="latent feature 2")
    return _finished(figure, target)


def _charts(target: Any, count: int) -> tuple[Any, list[Any]]:
    """The figure, and so many axes: those of the target, or new ones."""
    if target is not None and not isinstance(target, str | os.PathLike):
        charts = list(np.ravel(target))
        if len(charts) != count:
            raise ValueError(f"a plot needs a path or {count} axes; got {len(charts)}")
        return charts[0].figure, charts
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError('plots need the package matplotlib; pip install "manyclass[plot]"') from None
    # Without pyplot: it needs no screen, and nothing is left open.
    figure = Figure(figsize=(4.6 * count, 4.0), layout="tight")
    return figure, list(np.ravel(figure.subplots(1, count)))


def _finished(figure: Any, target: Any) -> Any:
    if isinstance(target, str | os.PathLike):
        figure.savefig(target)
    return figure

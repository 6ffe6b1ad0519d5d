"""Drawings of a path: the grid, the spectrum of the best (Figure 1 of Harchaoui et al., 2012), and its classes."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass.solvers.batch.points import Factors

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
    return _save(figure, target)


def draw_spectrum(singular_values: NDArray[np.float64], target: Any = None) -> Any:
    """Singular values, the largest first; the figure."""
    figure, (chart,) = _charts(target, 1)
    chart.plot(range(1, len(singular_values) + 1), singular_values, marker=".", color="#0072b2")
    chart.set(title="spectrum", xlabel="number", ylabel="singular value", ylim=(0, None))
    return _save(figure, target)


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
    return _save(figure, target)


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


def _save(figure: Any, target: Any) -> Any:
    if isinstance(target, str | os.PathLike):
        figure.savefig(target)
    return figure

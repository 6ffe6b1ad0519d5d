"""Heat map: a grid of settings, a color and a number for each pair."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.report.figures.svg import TEXT, TITLED, WIDTH, draw_svg
from manyclass.report.html import Markup

_MOST_WRITTEN = 10  # columns in which numbers can still be read

_ROW, _EDGE = 22, 92


def draw_heatmap(
    key: str,
    description: str,
    values: NDArray[np.float64],
    columns: tuple[str, Sequence[str]],
    rows: tuple[str, Sequence[str]],
    shown: Callable[[float], str],
    chosen: tuple[int, int] | None,
) -> Markup:
    """Draw a grid of settings as cells, each with its color and number.

    Each cell says its settings and value when pointed at.

    Parameters
    ----------
    key : str
        What the ids of the drawing begin with.
    description : str
        The drawing in words.
    values : ndarray of float64 of shape (rows, columns)
        The values; NaN leaves a gap.
    columns, rows : tuple of (str, sequence of str)
        What varies along them, and the labels.
    shown : callable
        A value as it is written.
    chosen : tuple of int or None
        (row, column) of the cell with a frame; None for none.

    Returns
    -------
    Markup
        The SVG element.
    """
    here = [(r, c) for r, c in np.ndindex(values.shape) if np.isfinite(values[r, c])]
    written = [shown(float(values[place])) for place in here]
    titles = [
        f"{rows[0]} {rows[1][r]}, {columns[0]} {columns[1][c]}: {value}{', chosen' * ((r, c) == chosen)}"
        for (r, c), value in zip(here, written, strict=True)
    ]

    def draw(figure: Any) -> None:
        chart = figure.subplots()
        colors = _draw_cells(chart, values, here)
        if values.shape[1] <= _MOST_WRITTEN:
            for (r, c), value, color in zip(here, written, colors, strict=True):
                chart.text(c, r, value, ha="center", va="center", fontsize=8.5, color=_readable(color))
        if chosen is not None:
            _draw_frame(chart, *chosen)
        chart.set(xlabel=columns[0], ylabel=rows[0])
        chart.set_xticks(range(values.shape[1]), columns[1], rotation=90, fontsize=9)
        chart.set_yticks(range(values.shape[0]), rows[1], fontsize=9)
        chart.set(xlim=(-0.6, values.shape[1] - 0.4), ylim=(values.shape[0] - 0.4, -0.6))
        chart.grid(visible=False)
        chart.spines[:].set_visible(False)

    return draw_svg(key, description, _ROW * values.shape[0] + _EDGE, draw, titles, WIDTH)


def _draw_cells(chart: Any, values: NDArray[np.float64], here: Sequence[tuple[int, int]]) -> Any:
    """The cells, and the color of each."""
    import matplotlib
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    found = np.array([values[place] for place in here])
    low, high = (found.min(), found.max()) if len(found) else (0.0, 1.0)
    colors = matplotlib.colormaps["viridis"]((found - low) / (high - low if high > low else 1.0))
    cells = [Rectangle((c - 0.48, r - 0.48), 0.96, 0.96) for r, c in here]
    chart.add_collection(PatchCollection(cells, facecolors=colors, edgecolors="none", gid=TITLED))
    return colors


def _draw_frame(chart: Any, row: int, column: int) -> None:
    from matplotlib.patches import Rectangle

    chart.add_patch(
        Rectangle((column - 0.52, row - 0.52), 1.04, 1.04, fill=False, edgecolor=TEXT, linewidth=2.4, clip_on=False)
    )


def _readable(color: Any) -> str:
    """Black or white, whichever stands out from a color."""
    red, green, blue = color[:3]
    return "#000000" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"

"""Figures of the page: matplotlib draws them, and they stand in the page as SVG.

    svg        draw_svg, from a matplotlib figure to an SVG element in the page's fonts and colors
    lines      draw_lines, curves on one pair of axes
    bars       draw_bars, one quantity of several runs
    heatmap    draw_heatmap, a grid of settings
    scatter    draw_embedding, classes as labeled points

Without matplotlib, a sentence stands in the place of a figure.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Axis": "lines",
        "Bar": "bars",
        "Curve": "lines",
        "draw_bars": "bars",
        "draw_embedding": "scatter",
        "draw_heatmap": "heatmap",
        "draw_lines": "lines",
        "draw_svg": "svg",
    },
)

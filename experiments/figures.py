"""Line charts that look alike."""

from collections.abc import Sequence
from typing import Any

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
MARKERS = ("o", "s", "^", "D", "v", "P")


def panels(titles: Sequence[str], x: str, y: str, logarithmic: bool = True) -> tuple[Any, list[Any]]:
    """A figure with one chart for every title, side by side, and the charts."""
    import matplotlib

    matplotlib.use("Agg")
    # Fixed names inside the drawing: the same numbers give the same file.
    matplotlib.rcParams |= {"svg.hashsalt": "manyclass", "svg.fonttype": "none", "font.family": "DejaVu Sans"}
    from matplotlib import pyplot

    drawn, charts = pyplot.subplots(1, len(titles), figsize=(4.6 * len(titles) + 0.4, 3.9), squeeze=False)
    for chart, title in zip(charts[0], titles, strict=True):
        chart.set(title=title, xlabel=x, ylabel=y)
        chart.grid(alpha=0.25)
        chart.spines[["top", "right"]].set_visible(False)
        if logarithmic:
            chart.set_xscale("log", base=2)
            chart.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return drawn, list(charts[0])


def curve(chart: Any, position: int, x: Sequence[float], y: Sequence[float], label: str, **how: Any) -> None:
    """One line, with the color and marker of its position; accuracies in percent."""
    style = {"color": COLORS[position % 6], "marker": MARKERS[position % 6], "markersize": 4, "linewidth": 1.5}
    chart.plot(x, [100 * value for value in y], label=label, **(style | how))


def finish(drawn: Any, charts: Sequence[Any]) -> Any:
    """Legends and margins; gives the figure back."""
    for chart in charts:
        chart.legend(frameon=False, fontsize=8)
    drawn.tight_layout()
    return drawn

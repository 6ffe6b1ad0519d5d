"""Drawings by matplotlib as SVG inside the page: its fonts and colors, ids of their own, the same bytes every time.

matplotlib draws with colors that nobody uses; in the text of the SVG they become variables of the page's style, so that
one drawing serves light and dark.
"""

import io
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from manyclass.report.markup import Markup, element
from manyclass.report.svg import inlined

TEXT, LINE, PAPER = "#010203", "#010204", "#010205"
SERIES = tuple(f"#0102{16 + i:02x}" for i in range(8))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "✖", "★")  # the same in words, for legends
NEEDED = 'figures need the package matplotlib; pip install "manyclass[plot]"'

WIDTH = 350  # points of a drawing that fits on a phone; two are side by side on a wide screen
_VARIABLES = {TEXT: "currentColor", LINE: "var(--line)", PAPER: "var(--paper)"} | {
    color: f"var(--series-{i})" for i, color in enumerate(SERIES)
}
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "manyclass",
    "text.parse_math": False,
    "font.size": 10.5,
    "text.color": TEXT,
    "axes.edgecolor": LINE,
    "axes.labelcolor": TEXT,
    "axes.labelsize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
}

Draw = Callable[[Any], None]


def available() -> bool:
    """Whether matplotlib is here."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def drawing(
    key: str, words: str, height: float, draw: Draw, titles: Sequence[str] = (), width: float = WIDTH
) -> Markup:
    """What `draw` puts on a figure of so many points, as an SVG element.

    `key` tells its ids from those of other drawings; `words` are for who does not see it. The marks of the artist with
    the gid "titled" get the `titles` one by one, which show when a pointer rests on them. Without matplotlib, a
    sentence says what is missing.
    """
    if not available():
        return element("p", f"{NEEDED}.", class_="missing")
    return Markup(inlined(_drawn(draw, width, height), key, words, titles, _VARIABLES))


def _drawn(draw: Draw, width: float, height: float) -> str:
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # Names in scripts that matplotlib's font lacks are drawn by the reader's.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(width / 72, height / 72))
        draw(figure)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()

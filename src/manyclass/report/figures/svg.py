"""Drawings by matplotlib as SVG inside the page: its fonts and colors, ids of their own, the same bytes every time.

matplotlib draws with colors that nobody uses; in the text of the SVG they become variables of the page's style, so that
one drawing serves light and dark. `inline_svg` makes what matplotlib writes fit to stand inside a page.
"""

import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from manyclass.report.html import Markup, element

TEXT, LINE, PAPER = "#010203", "#010204", "#010205"

SERIES = tuple(f"#0102{16 + i:02x}" for i in range(8))

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

SIGNS = ("●", "■", "▲", "◆", "▼", "✚", "✖", "★")  # the same in words, for legends

NEEDED_EXTRA = 'figures need the package matplotlib; pip install "manyclass[plot]"'

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

_FARTHEST = 1e100  # matplotlib has no ticks for the largest numbers that there are


def bounded(values: Iterable[float]) -> list[float]:
    """Numbers as they can be drawn, which are not so large, and no whole ones of more bits than C has.

    >>> bounded([3, -1e308, 2**64])
    [3.0, -1e+100, 1.8446744073709552e+19]
    """
    return [float(min(max(value, -_FARTHEST), _FARTHEST)) for value in values]


def available() -> bool:
    """Whether matplotlib is here."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def draw_svg(
    key: str, description: str, height: float, draw: Draw, titles: Sequence[str] = (), width: float = WIDTH
) -> Markup:
    """Draw a figure by matplotlib, as an SVG element.

    Without matplotlib, a sentence says what is missing.

    Parameters
    ----------
    key : str
        What the ids of the drawing begin with, to tell them from those of other drawings.
    description : str
        The drawing in words, for who does not see it.
    height : float
        The height in points.
    draw : callable
        What draws on the figure of matplotlib that it is given.
    titles : sequence of str, default=()
        What the marks of the artist with the gid "titled" say, one by one, when a pointer rests on them.
    width : float, default=350
        The width in points.

    Returns
    -------
    Markup
        The SVG element, or a paragraph.
    """
    if not available():
        return element("p", f"{NEEDED_EXTRA}.", class_="missing")
    return Markup(inline_svg(_render(draw, width, height), key, description, titles, _VARIABLES))


def _render(draw: Draw, width: float, height: float) -> str:
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


_LARGEST = 1.2  # times the size that it was drawn for: larger letters would look like headlines

TITLED = "titled"  # gid of the artist whose marks get titles

_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def inline_svg(svg: str, key: str, description: str, titles: Sequence[str], colors: Mapping[str, str]) -> str:
    """The svg element alone: no namespaces or metadata, own ids, other colors, titles for its marks.

    Ids that something refers to begin with `key`, all others are dropped; `description` is that of the whole; `colors`
    says what is written in the place of a color; fonts are left to the page.
    """
    root = ElementTree.fromstring(svg)
    _strip_namespaces(root)
    _drop_elements(root, {"metadata", "style"})
    _add_titles(root, titles)
    _prefix_ids(root, key)
    width = float(root.attrib["viewBox"].split()[2])
    style = f"max-width: {_LARGEST * width:.0f}px"
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": description, "style": style}
    for node in root.iter():
        if "style" in node.attrib:
            node.attrib["style"] = _restyle(node.attrib["style"], colors)
        if "d" in node.attrib:
            node.attrib["d"] = " ".join(_round_coordinate(word) for word in node.attrib["d"].split())
        if node.tag not in {"text", "title"}:
            node.text = None
        node.tail = None
    return ElementTree.tostring(root, encoding="unicode")


def _strip_namespaces(root: ElementTree.Element) -> None:
    """Without namespaces, which HTML does not need."""
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
        node.attrib = {name.rpartition("}")[2]: value for name, value in node.attrib.items()}


def _drop_elements(root: ElementTree.Element, tags: set[str]) -> None:
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in tags]:
            parent.remove(child)


def _add_titles(root: ElementTree.Element, titles: Sequence[str]) -> None:
    groups = [node for node in root.iter("g") if node.get("id") == TITLED]
    marks = [mark for group in groups for mark in _visible_marks(group)]
    for mark, title in zip(marks, titles, strict=bool(titles)):
        ElementTree.SubElement(mark, "title").text = title


def _visible_marks(node: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Shapes that are seen: those in definitions are only meant to be used."""
    for child in node:
        if child.tag in {"use", "path"}:
            yield child
        elif child.tag != "defs":
            yield from _visible_marks(child)


def _prefix_ids(root: ElementTree.Element, key: str) -> None:
    used = {node.attrib["href"][1:] for node in root.iter() if node.get("href", "").startswith("#")}
    used |= {name for node in root.iter() for value in node.attrib.values() for name in _REFERENCE.findall(value)}
    for node in root.iter():
        name = node.attrib.pop("id", None)
        node.attrib = {k: _REFERENCE.sub(rf"url(#{key}-\1)", value) for k, value in node.attrib.items()}
        if node.get("href", "").startswith("#"):
            node.attrib["href"] = f"#{key}-{node.attrib['href'][1:]}"
        if name in used:
            node.attrib["id"] = f"{key}-{name}"


def _restyle(style: str, colors: Mapping[str, str]) -> str:
    entries = [entry.strip() for entry in style.split(";")]
    kept = [entry for entry in entries if entry and not entry.startswith("font-family")]
    words = "; ".join(kept)
    for color, variable in colors.items():
        words = words.replace(color, variable)
    return words


def _round_coordinate(word: str) -> str:
    """A coordinate to a hundredth of a point: the eye sees no more, and the page is smaller."""
    return f"{float(word):.2f}".rstrip("0").rstrip(".") if word[-1].isdigit() else word

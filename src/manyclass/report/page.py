"""The page: one HTML file that needs nothing from outside."""

import base64
import hashlib
import os
from collections.abc import Iterable
from importlib.resources import files

from manyclass import __version__
from manyclass._core.files import write_bytes
from manyclass.report.collect import ReportData, collect
from manyclass.report.components import Section
from manyclass.report.figures.svg import NEEDED_EXTRA, available
from manyclass.report.html import Markup, element, join_markup
from manyclass.report.sections.classes import accuracy, confusions, examples
from manyclass.report.sections.comparison import comparison, cost, summary
from manyclass.report.sections.learning_curves import curves, tuning
from manyclass.report.sections.search_results import retrieval
from manyclass.report.sections.setup import setup
from manyclass.report.sections.weights import embedding, path_grid, spectrum

TITLE = "What was learned"

_SECTIONS = (
    setup,
    comparison,
    accuracy,
    confusions,
    examples,
    curves,
    tuning,
    spectrum,
    path_grid,
    embedding,
    retrieval,
    cost,
)


def write_page(
    out: str | os.PathLike[str],
    runs: Iterable[str | os.PathLike[str]],
    title: str | None = None,
    images: str | os.PathLike[str] | None = None,
) -> list[str]:
    """Write the page of run folders, folders of them, and gallery folders to `out`; the titles of its sections.

    `images` is a folder in which the pictures of rows are looked for first. The same records give the same bytes.
    """
    material = collect(runs, images)
    sections = render(material)
    write_bytes(out, page(material, sections, title or TITLE).encode(errors="replace"))
    return [section.title for section in sections]


def render(material: ReportData) -> list[Section]:
    """The sections for which there is something to show, in order."""
    return [section for make in _SECTIONS if (section := make(material))]


def page(material: ReportData, sections: list[Section], title: str) -> str:
    """The whole document."""
    script = Markup(files("manyclass.report").joinpath("page.js").read_text("utf-8"))
    style = Markup(files("manyclass.report").joinpath("page.css").read_text("utf-8"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )
    body = element(
        "body",
        element("header", element("h1", title), summary(material), _missing(), _contents(sections)),
        element("main", [_section(section) for section in sections]),
        element("footer", element("p", f"Made by manyclass {__version__}. This file is whole: it loads nothing.")),
        element("script", script),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _policy(script: str) -> str:
    """Nothing may be loaded; the style and this very script are in the file."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = "img-src data:; style-src 'unsafe-inline'"
    return f"default-src 'none'; {allowed}; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _missing() -> Markup | None:
    return None if available() else element("p", f"The {NEEDED_EXTRA}.", class_="missing")


def _contents(sections: list[Section]) -> Markup:
    links = [element("li", element("a", section.title, href=f"#{section.key}")) for section in sections]
    return element("nav", element("ol", links), aria_label="Contents")


def _section(section: Section) -> Markup:
    return join_markup("\n", element("section", element("h2", section.title), section.body, id=section.key))

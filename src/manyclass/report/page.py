"""The page: one HTML file that needs nothing from outside."""

import base64
import hashlib
import os
from collections.abc import Callable, Iterable
from importlib.resources import files

from manyclass import __version__
from manyclass._core.files import check_output, write_bytes
from manyclass._core.typing import Notify
from manyclass.report import sections
from manyclass.report.components import Section
from manyclass.report.figures.svg import NEEDED_EXTRA, available
from manyclass.report.html import Markup, element, join_markup
from manyclass.report.report_data import ReportData, collect
from manyclass.report.sections.comparison import summarize

TITLE = "What was learned"


def write_page(
    out: str | os.PathLike[str],
    runs: Iterable[str | os.PathLike[str]],
    title: str | None = None,
    images: str | os.PathLike[str] | None = None,
    warn: Notify | None = None,
    on_pictures: Notify | None = None,
) -> list[str]:
    """Write the page of run folders, folders of them, and gallery folders.

    The same records give the same bytes.

    Parameters
    ----------
    out : path-like
        File to write.
    runs : iterable of path-like
        Run folders, folders of them, gallery folders, or records of galleries and of probes.
    title : str, default=None
        Title of the page.
    images : path-like, default=None
        Folder in which the images of rows are looked for first.
    warn : callable, default=None
        Called with a sentence on what is left out; None for Python's warnings.
    on_pictures : callable, default=None
        Called with every folder or array, other than `images`, that pictures on the page are from: records name it, and
        may be a stranger's.

    Returns
    -------
    list of str
        Titles of the sections.
    """
    check_output(out)
    report = collect(runs, images, warn)
    shown = make_sections(report)
    write_bytes(out, render(report, shown, title or TITLE).encode(errors="replace"))
    if on_pictures is not None:
        for place in sorted({str(path.resolve()) for path in report.taken - {report.images}}):
            on_pictures(place)
    return [section.title for section in shown]


def make_sections(report: ReportData) -> list[Section]:
    """The sections for which there is something to show, in order."""
    makers: list[Callable[[ReportData], Section | None]] = [getattr(sections, name) for name in sections.SECTIONS]
    return [section for make in makers if (section := make(report))]


def render(report: ReportData, shown: list[Section], title: str) -> str:
    """The whole document."""
    assets = files("manyclass.report").joinpath("assets")
    script = Markup(assets.joinpath("page.js").read_text("utf-8"))
    style = Markup(assets.joinpath("page.css").read_text("utf-8"))
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
        element("header", element("h1", title), summarize(report), _missing(), _contents(shown)),
        element("main", [_section(section) for section in shown]),
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


def _contents(shown: list[Section]) -> Markup:
    links = [element("li", element("a", section.title, href=f"#{section.key}")) for section in shown]
    return element("nav", element("ol", links), aria_label="Contents")


def _section(section: Section) -> Markup:
    return join_markup("\n", element("section", element("h2", section.title), section.body, id=section.key))

"""manyclass report: one page that shows runs and galleries."""

from pathlib import Path
from typing import Annotated

import typer

from manyclass._core.text import format_bytes
from manyclass.cli._console import print_json, print_table
from manyclass.cli._errors import complain, report_errors
from manyclass.cli._options import expand_path


def _each_expanded(paths: list[Path]) -> list[Path]:
    return [expand_path(path) for path in paths]


def _expanded_if_given(path: Path | None) -> Path | None:
    return None if path is None else expand_path(path)


@report_errors("nothing was changed; start again when you like")
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            callback=_each_expanded,
            help="Run folders, folders of them, gallery folders, or a retrieval.json.",
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", callback=expand_path, help="The page to write.")] = Path(
        "report.html"
    ),
    images: Annotated[
        Path | None,
        typer.Option(callback=_expanded_if_given, help="A folder in which the pictures of rows are looked for first."),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Words at the top of the page.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write one self-contained HTML page about runs: accuracy, mistakes with pictures, curves, spectra, search."""
    from manyclass.report.figures.svg import NEEDED_EXTRA, available
    from manyclass.report.page import write_page

    if not available():
        complain(f"the page has no figures: {NEEDED_EXTRA}")
    sections = write_page(out, runs, title=title, images=images)
    n_bytes = out.stat().st_size
    if json:
        print_json({"path": str(out), "bytes": n_bytes, "sections": sections, "figures": available()})
    else:
        print_table(
            str(out),
            [("size", format_bytes(n_bytes)), ("sections", ", ".join(sections)), ("open", out.resolve().as_uri())],
        )

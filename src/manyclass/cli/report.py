"""manyclass report: one page that shows runs and galleries."""

from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.failures import complain, reported
from manyclass.cli.output import print_json, print_table, size
from manyclass.cli.paths import expanded


def _each_expanded(paths: list[Path]) -> list[Path]:
    return [expanded(path) for path in paths]


def _expanded_if_given(path: Path | None) -> Path | None:
    return None if path is None else expanded(path)


@reported("nothing was changed; start again when you like")
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            callback=_each_expanded,
            help="Run folders, folders of them, gallery folders, or a retrieval.json.",
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", callback=expanded, help="The page to write.")] = Path(
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
    from manyclass.report.drawing import NEEDED, available
    from manyclass.report.page import write_page

    if not available():
        complain(f"the page has no figures: {NEEDED}")
    sections = write_page(out, runs, title=title, images=images)
    n_bytes = out.stat().st_size
    if json:
        print_json({"path": str(out), "bytes": n_bytes, "sections": sections, "figures": available()})
    else:
        print_table(
            str(out), [("size", size(n_bytes)), ("sections", ", ".join(sections)), ("open", out.resolve().as_uri())]
        )

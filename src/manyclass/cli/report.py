"""manyclass report: one page that shows runs and galleries."""

from pathlib import Path
from typing import Annotated

import typer

from manyclass._core.text import format_bytes
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, out_option, path_argument, path_option


@report_errors("nothing was changed; start again when you like")
def report(
    runs: Annotated[
        list[Path],
        path_argument(
            "Run folders, folders of them, gallery folders, or a record of a gallery or a probe.",
            repeated=True,
            metavar="RUN",
        ),
    ],
    out: Annotated[Path, out_option("The page to write.")] = Path("report.html"),
    images: Annotated[Path | None, path_option("A folder in which the pictures of rows are looked for first.")] = None,
    title: Annotated[str | None, typer.Option(help="Words at the top of the page.")] = None,
    json: Json = False,
) -> None:
    """Write one self-contained HTML page about runs: accuracy, mistakes with pictures, curves, search, probes."""
    from manyclass.report.figures.svg import NEEDED_EXTRA, available
    from manyclass.report.page import write_page

    console = Console(json=json)
    if not available():
        console.warn(f"the page has no figures: {NEEDED_EXTRA}")
    places: list[str] = []
    sections = write_page(out, runs, title, images, warn=console.warn, on_pictures=places.append)
    n_bytes = out.stat().st_size
    console.json({"path": str(out), "bytes": n_bytes, "sections": sections, "figures": available(), "pictures": places})
    rows = [
        ("size", format_bytes(n_bytes)),
        ("sections", ", ".join(sections)),
        *(("pictures from", place) for place in places),
        ("open", out.resolve().as_uri()),
    ]
    console.table(str(out), rows)

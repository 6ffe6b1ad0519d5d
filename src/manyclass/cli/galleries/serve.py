"""manyclass serve: the page on which pictures are found, labeled and audited, for whoever is at this machine."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Quiet, Threads, out_option, path_argument, path_option

_PORT = 8000

_MISSING = 'the page needs the packages fastapi and uvicorn; pip install "manyclass[serve]"'


@report_errors("all labels are safe; give the same command again to go on")
def serve(
    path: Annotated[Path, path_argument("A gallery, features, a run, or just a folder of pictures.")],
    out: Annotated[
        Path | None,
        out_option("The folder to write to: labels, features, a gallery.", show_default="PATH.serve"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The port to listen at.", show_default=f"{_PORT}, or a free one"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen at; any but this machine's own asks for a token.")
    ] = "127.0.0.1",
    kind: Annotated[
        str | None,
        typer.Option(help="How pictures become numbers; see `features`.", show_default="network if it is installed"),
    ] = None,
    negatives: Annotated[
        Path | None, path_option("Features of unrelated pictures, which others are compared with.")
    ] = None,
    run: Annotated[Path | None, path_option("A run of `train`, which proposes labels.")] = None,
    open: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Open a page on which pictures are found by pictures, labeled with the keyboard, and audited.

    A folder of pictures is all that it takes: it is encoded first, with progress on the page, and the next start is
    immediate. Mark what is right and wrong, and the order improves at once; what is found can be named, and a
    classifier learns from labels while they are given. Pictures are never changed; all that is written lies in one
    folder. Everything the page shows is also JSON: /api/docs has the list.

    It listens for this machine alone, unless --host says otherwise; then whoever asks needs the token of the address
    that is printed. Ctrl-C ends it.
    """
    from manyclass._core.parallel import set_threads

    try:
        from manyclass.server.listening import log_to_stderr, page_server
        from manyclass.server.preparation import Preparation, home_of
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "uvicorn", "starlette", "pydantic"):
            raise
        raise ImportError(_MISSING) from None
    set_threads(threads)
    log_to_stderr(quiet)
    console, home = Console(quiet, json), home_of(path) if out is None else out
    made = partial(Preparation, path, home, kind, negatives, run)
    server = page_server(made, host, _PORT if port is None else port, port is not None, console.info)
    console.json({"address": server.address, "home": str(home)})
    console.line(f"open {server.address}")
    sys.stdout.flush()
    if open:
        import webbrowser

        webbrowser.open(server.address)
    server.run()

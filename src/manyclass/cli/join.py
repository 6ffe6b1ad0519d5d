"""manyclass join: parts that --shard or --classes made, into what one command would have made."""

import time
from pathlib import Path
from typing import Annotated, Any

from manyclass._core.text import format_bytes, format_seconds
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Overwrite, Quiet, Resume, Threads, path_argument


@report_errors("the parts are as they were; give the same command again")
def join(
    out: Annotated[Path, path_argument("The store, gallery or run that the parts become.")],
    parts: Annotated[list[Path], path_argument("All parts, in any order.", repeated=True)],
    threads: Threads = None,
    overwrite: Overwrite = False,
    resume: Resume = True,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Join the parts of one whole: of `features --shard i/n`, `encode --shard i/n` or `train --classes i/n`.

    The result is, byte for byte, what the same command without that option makes; of a run, its model is. Parts know
    which they are, so that names and order do not matter, and `parts/*` is as good as a list. What is missing is named;
    what is unfinished, there twice, or of other data, settings or versions is refused. Parts stay as they are, and can
    be removed then.
    """
    import manyclass as mc

    started, console = time.perf_counter(), Console(quiet, json)
    with mc.threads(threads):
        result = mc.runs.join(
            out,
            parts,
            overwrite=overwrite,
            resume=resume,
            notify=console.info,
            warn=console.warn,
            progress=console.progress,
        )
    result["seconds"] = time.perf_counter() - started
    console.json(result)
    console.table(str(out), _rows(result))


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    what = next(name for name in ("rows", "images", "classes") if name in result)
    return [
        ("parts", f"{result['parts']:,}"),
        (what, f"{result[what]:,} of {result['dimensions']:,} numbers"),
        *((("size", format_bytes(result["bytes"])),) if "bytes" in result else ()),
        *((("skipped", f"{result['skipped']:,}"),) if result.get("skipped") else ()),
        *((("things", f"{result['things']:,}"),) if "things" in result else ()),
        ("time", format_seconds(result["seconds"])),
    ]

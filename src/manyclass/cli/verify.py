"""manyclass verify: is every byte of a store, a gallery or a run what was written?"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.errors import Damage
from manyclass._core.text import format_bytes
from manyclass._core.typing import ProgressFactory, Report, no_progress
from manyclass.cli.terminal.command_errors import FAILED, report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, Quiet, path_argument


@report_errors("nothing was changed; start again when you like")
def verify(
    store: Annotated[Path, path_argument("The store, gallery or run to check.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check every file of a store, a gallery or a run against its checksums; exit with 1 if anything is wrong."""
    console = Console(quiet, json)
    result = check(store, console.progress)
    console.json(result)
    console.table(str(store), _rows(result))
    if result["damage"]:
        raise typer.Exit(FAILED)


def check(path: Path, progress: ProgressFactory = no_progress) -> dict[str, Any]:
    """Size of a store, gallery or run, None if its manifest is damaged, and every damage as file, block and reason."""
    from manyclass.data.store.manifest import MANIFEST, store_bytes
    from manyclass.data.store.verify import verify_store
    from manyclass.retrieval.storage.segments import is_gallery
    from manyclass.retrieval.storage.verify_gallery import gallery_bytes, verify_gallery
    from manyclass.runs.folder import is_run
    from manyclass.runs.records import RUN_FILE
    from manyclass.runs.verify_run import run_bytes, verify_run

    look: Callable[[Path, Report], list[Damage]] = verify_store
    count: Callable[[Path], int] = store_bytes
    manifest = MANIFEST
    if is_gallery(path):
        look, count = verify_gallery, gallery_bytes
    elif is_run(path):
        look, count, manifest = verify_run, run_bytes, RUN_FILE
    with progress("checking", "bytes") as report:
        found = look(path, report)
    damage = [{"file": one.file, "block": one.block, "reason": one.reason} for one in found]
    n_bytes = None if any(one.file == manifest for one in found) else count(path)
    return {"path": str(path), "bytes": n_bytes, "good": not damage, "damage": damage}


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    known = [] if result["bytes"] is None else [("size", format_bytes(result["bytes"]))]
    rows = [*known, ("damage", str(len(result["damage"]) or "none"))]
    for damage in result["damage"]:
        block = "" if damage["block"] is None else f"block {damage['block']} "
        rows.append((damage["file"], block + damage["reason"]))
    return rows

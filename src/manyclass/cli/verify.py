"""manyclass verify: is every byte of a store or gallery what was written?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.text import format_bytes
from manyclass._core.typing import ProgressFactory, no_progress
from manyclass.cli._console import Console
from manyclass.cli._errors import FAILED, report_errors
from manyclass.cli._options import Json, Quiet, path_argument


@report_errors("nothing was changed; start again when you like")
def verify(
    store: Annotated[Path, path_argument("The store or gallery to check.")],
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check every file of a store or gallery against its checksums; exit with 1 if anything is wrong."""
    console = Console(quiet, json)
    result = check(store, console.progress)
    console.json(result)
    console.table(str(store), _rows(result))
    if result["damage"]:
        raise typer.Exit(FAILED)


def check(path: Path, progress: ProgressFactory = no_progress) -> dict[str, Any]:
    """Size of a store or gallery, None where its manifest is damaged, and every damage as file, block and reason."""
    from manyclass.data.store.manifest import MANIFEST, store_bytes
    from manyclass.data.store.verify import verify_store
    from manyclass.retrieval.storage.segments import is_gallery
    from manyclass.retrieval.storage.verify_gallery import gallery_bytes, verify_gallery

    look, count = (verify_gallery, gallery_bytes) if is_gallery(path) else (verify_store, store_bytes)
    with progress("checking", "bytes") as report:
        found = look(path, report)
    damage = [{"file": one.file, "block": one.block, "reason": one.reason} for one in found]
    n_bytes = None if any(one.file == MANIFEST for one in found) else count(path)
    return {"path": str(path), "bytes": n_bytes, "good": not damage, "damage": damage}


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    known = [] if result["bytes"] is None else [("size", format_bytes(result["bytes"]))]
    rows = [*known, ("damage", str(len(result["damage"]) or "none"))]
    for damage in result["damage"]:
        block = "" if damage["block"] is None else f"block {damage['block']} "
        rows.append((damage["file"], block + damage["reason"]))
    return rows

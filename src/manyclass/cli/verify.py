"""manyclass verify: is every byte of a store or gallery what was written?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from manyclass._core.text import format_bytes
from manyclass.cli._console import print_json, print_table, progress
from manyclass.cli._errors import FAILED, report_errors
from manyclass.cli._options import expand_path


@report_errors("nothing was changed; start again when you like")
def verify(
    store: Annotated[Path, typer.Argument(callback=expand_path, help="The store or gallery to check.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Check every file of a store or gallery against its checksums; exit with 1 if anything is wrong."""
    result = check(store, quiet or json)
    if json:
        print_json(result)
    else:
        print_table(str(store), _rows(result))
    if result["damage"]:
        raise typer.Exit(FAILED)


def check(path: Path, quiet: bool) -> dict[str, Any]:
    """Size of a store or gallery, None where its manifest is damaged, and every damage as file, block and reason."""
    from manyclass.data.store.format import MANIFEST
    from manyclass.data.store.manifest import store_bytes
    from manyclass.data.store.verify import verify_store
    from manyclass.retrieval.storage.segments import is_gallery
    from manyclass.retrieval.storage.verify_gallery import gallery_bytes, verify_gallery

    look, count = (verify_gallery, gallery_bytes) if is_gallery(path) else (verify_store, store_bytes)
    with progress("checking", "bytes", quiet) as report:
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

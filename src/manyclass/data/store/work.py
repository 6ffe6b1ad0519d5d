"""What a writer finds when it opens a folder: work to begin, to go on with, or done already."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyclass.data.store import layout
from manyclass.data.store.errors import DamagedStore, StoreError
from manyclass.data.store.folder import discard, next_serial, tidy
from manyclass.data.store.journal import WORK, Journal
from manyclass.data.store.manifest import Manifest
from manyclass.data.store.manifest_file import read_manifest


@dataclass(frozen=True)
class Work:
    """The journal to write on, the store as it was committed last, and whether this very work is that commit."""

    journal: Journal
    committed: Manifest | None
    done: bool


def committed_manifest(path: Path, overwrite: bool) -> Manifest | None:
    """The manifest in a folder, if any; a damaged one may be overwritten, and then counts as none."""
    if not (path / layout.MANIFEST).exists():
        return None
    try:
        return read_manifest(path)
    except DamagedStore:
        if overwrite:
            return None
        raise


def find_work(path: Path, wanted: dict[str, Any], overwrite: bool, resume: bool, block_bytes: int | None) -> Work:
    """Begin the wanted work, or go on with it; refuse to lose what others began. The folder is locked by the caller."""
    committed = committed_manifest(path, overwrite)
    wanted = {**wanted, "base": committed.digest() if committed else None}
    journal = Journal.read(path)
    if journal and committed and _is_commit_of(journal, committed):
        if resume and _differences(journal, wanted) <= {"base"}:
            return Work(journal, committed, done=True)
        journal = None
    if committed and wanted["mode"] == "write" and not overwrite:
        raise StoreError(f"{path} is there already; pass overwrite=True to replace it, or append to it")
    if journal and _may_discard(journal, wanted, resume, path):
        discard(path, journal)
        journal = None
    if journal is None:
        journal = _begin(path, wanted, committed, block_bytes)
    return Work(journal, committed, done=False)


def _begin(path: Path, wanted: dict[str, Any], committed: Manifest | None, block_bytes: int | None) -> Journal:
    if committed:
        tidy(path, committed)
    size = block_bytes or layout.BLOCK_BYTES
    return Journal.start(path, {**wanted, "serial": next_serial(path), "block_bytes": size})


def _may_discard(journal: Journal, wanted: dict[str, Any], resume: bool, path: Path) -> bool:
    if not resume:
        return True
    different = _differences(journal, wanted)
    if different and (journal.marks or journal.quantizer):
        what = ", ".join(sorted(different))
        raise StoreError(f"{path} holds an unfinished write of something else ({what}); pass resume=False to drop it")
    return bool(different)


def _differences(journal: Journal, wanted: dict[str, Any]) -> set[str]:
    return {key for key in WORK if journal.header[key] != wanted[key]}


def _is_commit_of(journal: Journal, committed: Manifest) -> bool:
    return journal.rows_file in {file.name for file in committed.row_files}

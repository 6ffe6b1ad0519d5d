"""What a writer finds when it opens a folder: work to begin, to go on with, or done already."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyclass.data.quantizer import Quantizer
from manyclass.data.store import layout
from manyclass.data.store.errors import StorageError, StoreCorruptedError
from manyclass.data.store.folder import check_folder, check_writable, discard, next_serial, tidy
from manyclass.data.store.journal import WORK, Journal
from manyclass.data.store.manifest import Manifest
from manyclass.data.store.manifest_file import read_manifest
from manyclass.data.store.quantizer_files import read_quantizer


@dataclass(frozen=True)
class Work:
    """The journal to write on, the store as it was committed last, and whether this very work is that commit."""

    journal: Journal
    committed: Manifest | None
    done: bool


@dataclass(frozen=True)
class Unfinished:
    """What an interrupted write left.

    Parameters
    ----------
    rows : int
        Rows that are safe.
    quantizer : Quantizer or None
        Its quantizer, if it has one.
    """

    rows: int
    quantizer: Quantizer | None


@dataclass(frozen=True)
class _Found:
    """The store in a folder, the work that was begun there, whether that is the wanted one, and whether it is done."""

    committed: Manifest | None
    journal: Journal | None
    wanted: bool
    done: bool


def unfinished(path: Path, identity: dict[str, Any], overwrite: bool, resume: bool) -> Unfinished:
    """What there is to go on with. What `find_work` would refuse is refused here already, and nothing is changed."""
    check_folder(path)
    check_writable(path)
    found = _look(path, {"mode": "write", "identity": identity}, overwrite, resume)
    if found.journal is None or not found.wanted:
        return Unfinished(0, None)
    marks, quantizer = found.journal.marks, found.journal.quantizer
    return Unfinished(marks[-1].rows if marks else 0, read_quantizer(path, quantizer) if quantizer else None)


def find_work(path: Path, wanted: dict[str, Any], overwrite: bool, resume: bool, block_bytes: int | None) -> Work:
    """Begin the wanted work, or go on with it; refuse to lose what others began. The folder is locked by the caller."""
    found = _look(path, wanted, overwrite, resume)
    if found.journal and found.wanted:
        return Work(found.journal, found.committed, found.done)
    if found.journal and not found.done:
        discard(path, found.journal)
    return Work(_begin(path, wanted, found.committed, block_bytes), found.committed, done=False)


def _look(path: Path, wanted: dict[str, Any], overwrite: bool, resume: bool) -> _Found:
    """What is there, unless it is in the way of the wanted work, of which some may not be known yet."""
    committed, journal = _committed_manifest(path, overwrite), Journal.read(path)
    done = journal is not None and committed is not None and _is_commit_of(journal, committed)
    # The base of work that is done was the store before it.
    different = _differences(journal, wanted, committed) - ({"base"} if done else set()) if journal else set()
    goes_on = journal is not None and resume and not different
    if committed and wanted["mode"] == "write" and not overwrite and not (done and goes_on):
        raise StorageError(f"{path} is there already; pass overwrite=True to replace it, or choose another name")
    if journal and resume and different and not done and (journal.marks or journal.quantizer):
        what = ", ".join(sorted(different))
        raise StorageError(f"{path} holds an unfinished write of something else ({what}); pass resume=False to drop it")
    return _Found(committed, journal, goes_on, done)


def _committed_manifest(path: Path, overwrite: bool) -> Manifest | None:
    """The manifest in a folder, if any; a damaged one may be overwritten, and then counts as none."""
    if not (path / layout.MANIFEST).exists():
        return None
    try:
        return read_manifest(path)
    except StoreCorruptedError:
        if overwrite:
            return None
        raise


def _begin(path: Path, wanted: dict[str, Any], committed: Manifest | None, block_bytes: int | None) -> Journal:
    if committed:
        tidy(path, committed)
    size = block_bytes or layout.BLOCK_BYTES
    header = {**wanted, "base": _base(committed), "serial": next_serial(path), "block_bytes": size}
    return Journal.start(path, header)


def _base(committed: Manifest | None) -> str | None:
    return committed.digest() if committed else None


def _differences(journal: Journal, wanted: dict[str, Any], committed: Manifest | None) -> set[str]:
    wanted = {**wanted, "base": _base(committed)}
    return {key for key in WORK if key in wanted and journal.header[key] != wanted[key]}


def _is_commit_of(journal: Journal, committed: Manifest) -> bool:
    return journal.rows_file in {file.name for file in committed.row_files}

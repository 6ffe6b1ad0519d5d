"""A write of a store, from what a writer finds in the folder to the commit.

A writer finds a write to begin, to go on with, or done already. The commit makes rows and columns that are safe on
disk a store that everybody sees, and removes what crashes and earlier commits left beside it.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from manyclass._core.checks import check_count
from manyclass._core.errors import StorageError, StoreCorruptedError
from manyclass._core.files import (
    LOCK,
    TEMPORARY_SUFFIX,
    Bytes,
    after_commit,
    explain_disk_errors,
    lock_folder,
    remove_stale_lock,
    sync_folder,
    write_bytes,
)
from manyclass._core.reading import read_file
from manyclass._core.sealed import as_little_endian, parse_json
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.attachments import ATTACHMENT_NAME, Attachment
from manyclass.data.store.blocks import verify_attached
from manyclass.data.store.columns import StoreColumns
from manyclass.data.store.journal import SPEC, Journal, PartialRows
from manyclass.data.store.manifest import (
    BLOCK_BYTES,
    FILE_NAME,
    FORMAT,
    JOURNAL,
    MANIFEST,
    VERSION,
    FileRecord,
    Manifest,
    Segment,
    read_manifest,
    write_array,
)
from manyclass.data.store.store import Store, check_quantizer, quantizer_fingerprint, read_quantizer

_OURS = re.compile(rf"(?:{FILE_NAME.pattern}|{ATTACHMENT_NAME.pattern}|journal|manifest\.json)(?:\.partial|\.tmp)?")


@dataclass(frozen=True)
class Transaction:
    """A write: its journal, the store as it was committed last, and whether this very write is that commit."""

    journal: Journal
    committed: Manifest | None
    done: bool


@dataclass(frozen=True)
class UnfinishedWrite:
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
class _FolderState:
    """The store in a folder, the write that was begun there, whether it is to go on, and whether it is done."""

    committed: Manifest | None
    journal: Journal | None
    resumes: bool
    done: bool


Spec = dict[str, Any]  # the entries of a journal's header that `SPEC` names, but for `base`

PREPARE = "prepare"  # the mode of a write that has no row yet, and only something that took long to learn


def write_spec(n_features: int | None, dtype: DTypeLike, quantizer: Quantizer | None, identity: Any) -> Spec:
    """What a new store is: its identity, and the form of its rows."""
    d = _width(n_features, quantizer)
    stored = np.dtype(np.uint8 if quantizer else dtype).newbyteorder("<")
    if (quantizer is None and stored.kind != "f") or stored.itemsize > 8:
        raise ValueError(f"dtype must be float16, float32 or float64; got {np.dtype(dtype)}")
    return {
        "mode": "write",
        "identity": parse_json(identity or {}, "identity"),
        "columns": d,
        "rows_name": "codes" if quantizer else "X",
        "dtype": stored.str,
        "width": quantizer.code_size if quantizer else d,
        "quantizer": quantizer_fingerprint(quantizer) if quantizer else None,
    }


def append_spec(manifest: Manifest, identity: Any) -> Spec:
    """What is appended to a store: its identity, and rows in the form that the store has."""
    rows = manifest.row_files[0]
    return {
        "mode": "append",
        "identity": parse_json(identity or {}, "identity"),
        "columns": manifest.columns,
        "rows_name": manifest.rows_name,
        "dtype": rows.dtype,
        "width": rows.shape[1],
        "quantizer": None,
    }


def _width(n_features: int | None, quantizer: Quantizer | None) -> int:
    if quantizer is None:
        return check_count(n_features, "n_features")
    if n_features not in (None, quantizer.n_features):
        raise ValueError(f"n_features must be {quantizer.n_features}, as the quantizer has; got {n_features}")
    d = check_count(quantizer.n_features, "n_features")
    check_quantizer(quantizer)
    return d


def find_unfinished(path: Path, identity: dict[str, Any], overwrite: bool, resume: bool) -> UnfinishedWrite:
    """What there is to go on with. What `begin_or_resume` would refuse is refused already, and nothing is changed."""
    check_folder(path)
    check_writable(path)
    state = _inspect(path, {"mode": "write", "identity": identity}, overwrite, resume)
    if state.journal is None or not state.resumes:
        return UnfinishedWrite(0, None)
    marks, quantizer = state.journal.marks, state.journal.quantizer
    return UnfinishedWrite(marks[-1].rows if marks else 0, read_quantizer(path, quantizer) if quantizer else None)


def prepare_write(
    path: Path, role: str, pieces: Sequence[Bytes], about: dict[str, Any], overwrite: bool, resume: bool
) -> None:
    """Keep what was learned for a write that is still to begin, which takes it up; `kept_attachment` finds it."""
    with explain_disk_errors(path):
        check_folder(path)
        lock = lock_folder(path)
        try:
            begin_or_resume(path, _prepare_spec(about), overwrite, resume, None).journal.attach(role, pieces, about)
        finally:
            lock.release()


def kept_attachment(path: Path, role: str, about: dict[str, Any], overwrite: bool, resume: bool) -> Path | None:
    """The file that an unfinished write keeps of a role, if it was made as `about` says.

    What `prepare_write` would refuse is refused already.
    """
    check_folder(path)
    check_writable(path)
    journal = _inspect(path, _prepare_spec(about), overwrite, resume).journal
    found = journal.attachments.get(role) if journal and resume else None
    return path / found.name if found and found.about == about and _is_sound(path, found) else None


def _is_sound(path: Path, attachment: Attachment) -> bool:
    try:
        verify_attached(path, attachment)
    except StoreCorruptedError:
        return False
    return True


def _prepare_spec(about: dict[str, Any]) -> Spec:
    rows = {"columns": 1, "rows_name": "X", "dtype": "<f4", "width": 1, "quantizer": None}  # not known yet
    return {"mode": PREPARE, "identity": about, **rows}


def begin_or_resume(path: Path, spec: Spec, overwrite: bool, resume: bool, block_bytes: int | None) -> Transaction:
    """Begin the write of `spec`, or go on with it; refuse to lose what others began. The folder must be locked."""
    state = _inspect(path, spec, overwrite, resume)
    if state.journal and state.resumes:
        return Transaction(state.journal, state.committed, state.done)
    prepared = _prepared(state.journal, spec) if resume else None
    if state.journal and not state.done and not prepared:
        discard_work(path, state.journal)
    return Transaction(_begin(path, spec, state.committed, block_bytes, prepared), state.committed, done=False)


def _prepared(journal: Journal | None, spec: Spec) -> Journal | None:
    """The journal, if it keeps what was learned for a write that begins now."""
    return journal if journal and journal.header["mode"] == PREPARE and spec["mode"] == "write" else None


def _inspect(path: Path, spec: Spec, overwrite: bool, resume: bool) -> _FolderState:
    """What is there, unless it is in the way of a write of `spec`, of which some entries may not be known yet."""
    committed, journal = _committed_manifest(path, overwrite), Journal.read(path)
    done = journal is not None and committed is not None and _is_commit_of(journal, committed)
    # The base of a write that is done was the store before it.
    different = _differences(journal, spec, committed) - ({"base"} if done else set()) if journal else set()
    resumes = journal is not None and resume and not different
    if committed and spec["mode"] != "append" and not overwrite and not (done and resumes):
        remove_stale_lock(path)
        raise StorageError(f"{path} is there already; pass overwrite=True to replace it, or choose another name")
    learned = spec["mode"] == PREPARE and journal is not None and journal.attachments
    if journal and resume and different and not done and (journal.marks or journal.quantizer or learned):
        what = ", ".join(sorted(different))
        raise StorageError(f"{path} holds an unfinished write of something else ({what}); pass resume=False to drop it")
    return _FolderState(committed, journal, resumes, done)


def _committed_manifest(path: Path, overwrite: bool) -> Manifest | None:
    """The manifest in a folder, if any; a damaged one may be overwritten, and then counts as none."""
    if not (path / MANIFEST).exists():
        return None
    try:
        return read_manifest(path)
    except StoreCorruptedError:
        if overwrite:
            return None
        raise


def _begin(
    path: Path, spec: Spec, committed: Manifest | None, block_bytes: int | None, prepared: Journal | None
) -> Journal:
    attachments = prepared.attachments if prepared else {}
    if committed:
        wanted = {JOURNAL, *(file.name for file in attachments.values())} if prepared else None
        remove_leftovers(path, committed, wanted)
    serial = prepared.header["serial"] if prepared else next_serial(path)
    header = {**spec, "base": _base(committed), "serial": serial, "block_bytes": block_bytes or BLOCK_BYTES}
    return Journal.start(path, header, attachments)


def _base(committed: Manifest | None) -> str | None:
    return committed.digest() if committed else None


def _differences(journal: Journal, spec: Spec, committed: Manifest | None) -> set[str]:
    if spec["mode"] == PREPARE:  # what was learned as it says is as good in any write
        return set() if any(file.about == spec["identity"] for file in journal.attachments.values()) else {"identity"}
    spec = {**spec, "base": _base(committed)}
    return {key for key in SPEC if key in spec and journal.header[key] != spec[key]}


def _is_commit_of(journal: Journal, committed: Manifest) -> bool:
    return journal.rows_file in {file.name for file in committed.row_files}


def commit(
    path: Path, transaction: Transaction, rows: PartialRows | None, columns: StoreColumns, provenance: dict[str, Any]
) -> Store:
    """Make rows and columns the store at `path`; `rows` is None where a crash came after this very commit.

    What readers would refuse is not committed: the files are opened as a store before the manifest is replaced.
    """
    manifest = _manifest(transaction, rows, columns, provenance)
    Manifest.from_content(manifest.content())
    if rows is None:
        if manifest != transaction.committed:
            raise StorageError(f"{path} was committed with other labels or names; pass overwrite=True to replace it")
    else:
        for role, array in columns.arrays.items():
            write_array(path, manifest.segments[-1][role].name, array)
        rows.finish()
    store = Store(path, manifest)
    if rows:
        write_bytes(path / MANIFEST, manifest.to_bytes())
    with after_commit(path):
        remove_leftovers(path, manifest)
    return store


def earlier_segments(transaction: Transaction) -> tuple[Segment, ...]:
    """The segments that stay before the new one: those of the store that an append began with."""
    if transaction.committed is None or transaction.journal.header["mode"] == "write":
        return ()
    rows_name = transaction.committed.rows_name
    return tuple(
        segment
        for segment in transaction.committed.segments
        if segment[rows_name].name != transaction.journal.rows_file
    )


def _manifest(
    transaction: Transaction, rows: PartialRows | None, columns: StoreColumns, provenance: dict[str, Any]
) -> Manifest:
    header, committed = transaction.journal.header, transaction.committed
    appended, earlier = committed if header["mode"] == "append" else None, earlier_segments(transaction)
    segment = {header["rows_name"]: rows.record() if rows else committed_rows(transaction)}
    for role, array in columns.arrays.items():
        segment[role] = FileRecord.of_array(f"{role}-{header['serial']}.npy", as_little_endian(array))
    return Manifest(
        header["serial"],
        header["columns"],
        (*earlier, segment),
        appended.quantizer if appended else transaction.journal.quantizer,
        columns.classes,
        columns.splits,
        provenance or (appended.provenance if appended else {}),
        appended.attachments if appended else transaction.journal.attachments,
        committed.version if committed and (appended or rows is None) else VERSION,
    )


def committed_rows(transaction: Transaction) -> FileRecord:
    """The file of rows of a write that is done."""
    files = transaction.committed.row_files if transaction.committed else []
    return next(file for file in files if file.name == transaction.journal.rows_file)


def check_folder(path: Path) -> None:
    """Refuse what cannot become a store: it must be one, an unfinished one, an empty folder, or nothing yet."""
    if path.is_dir():
        if not _is_store(path):
            raise StorageError(f"{path} is a folder with other content; choose another name")
    elif path.exists():
        raise StorageError(f"{path} is a file, and a store is a folder; choose another name")
    else:
        place = _nearest_existing(path.parent)
        if not place.is_dir():
            raise StorageError(f"{place} is a file, and a store is a folder in a folder; choose another place")


def check_writable(path: Path) -> None:
    """Refuse a folder, or one that is to be made, where this process may not write."""
    place = _nearest_existing(path)
    if not os.access(place, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise StorageError(f"{place} cannot be written; choose another place or change its permissions")


def next_serial(path: Path) -> int:
    """The first number that no file of ours in the folder has, nor any before it."""
    return 1 + max((serial for name in os.listdir(path) if (serial := serial_of(name)) is not None), default=-1)


def serial_of(name: str) -> int | None:
    """The number of the commit that made a file of ours, finished or not; None for other files.

    >>> serial_of("X-3.npy.partial"), serial_of("manifest.json")
    (3, None)
    """
    match = _OURS.fullmatch(name)
    serial = match and (match[1] or match[2])
    return int(serial) if serial else None


def is_ours(name: str) -> bool:
    """Whether a writer may have left a file of this name, and may remove it."""
    return _OURS.fullmatch(name) is not None


def remove_leftovers(path: Path, manifest: Manifest, wanted: set[str] | None = None) -> None:
    """Remove what crashes and earlier commits left beside a committed manifest and what is wanted; the journal goes
    last, so that until then the same command again still knows that its write is done."""
    keep = {MANIFEST, *manifest.sizes(), *(wanted or ())}
    _remove(path, (name for name in os.listdir(path) if is_ours(name) and name not in keep))


def discard_work(path: Path, journal: Journal) -> None:
    """Remove an unfinished write."""
    serial = journal.header["serial"]
    _remove(path, (name for name in os.listdir(path) if serial_of(name) == serial or name == JOURNAL))


def _remove(path: Path, names: Iterable[str]) -> None:
    doomed = sorted(names, key=lambda name: (name == JOURNAL, name))
    for name in doomed:
        (path / name).unlink(missing_ok=True)
    if doomed:
        sync_folder(path)


def _nearest_existing(path: Path) -> Path:
    """The path, or the first of those above it that exists."""
    return next((place for place in (path, *path.absolute().parents) if place.exists()), path)


def _is_store(path: Path) -> bool:
    names = set(os.listdir(path))
    if MANIFEST in names:
        return FORMAT.encode() in read_file(path / MANIFEST, "manifest")
    return names <= {LOCK, JOURNAL + TEMPORARY_SUFFIX} or Journal.read(path) is not None

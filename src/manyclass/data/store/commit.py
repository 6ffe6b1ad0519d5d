"""The commit: from rows and columns that are safe on disk to a store that everybody sees."""

from pathlib import Path
from typing import Any

from manyclass import _atomic
from manyclass.data.store.array_file import write_array
from manyclass.data.store.columns import Columns
from manyclass.data.store.errors import StorageError
from manyclass.data.store.folder import tidy
from manyclass.data.store.layout import MANIFEST
from manyclass.data.store.manifest import Manifest, Segment
from manyclass.data.store.partial import PartialRows
from manyclass.data.store.raw import plain
from manyclass.data.store.reading import Store
from manyclass.data.store.record import FileRecord
from manyclass.data.store.work import Work


def commit(path: Path, work: Work, rows: PartialRows | None, columns: Columns, provenance: dict[str, Any]) -> Store:
    """Make rows and columns the store at `path`; `rows` is None where a crash came after this very commit.

    What readers would refuse is not committed: the files are opened as a store before the manifest is replaced.
    """
    manifest = _manifest(work, rows.record() if rows else committed_rows(work), columns, provenance)
    Manifest.from_content(manifest.content())
    if rows is None:
        if manifest != work.committed:
            raise StorageError(f"{path} was committed with other labels or names; pass overwrite=True to replace it")
    else:
        rows.finish()
        for role, array in columns.arrays.items():
            write_array(path, manifest.segments[-1][role].name, array)
    store = Store(path, manifest)
    if rows:
        _atomic.write_bytes(path / MANIFEST, manifest.to_bytes())
    tidy(path, manifest)
    return store


def earlier_segments(work: Work) -> tuple[Segment, ...]:
    """The segments that stay before the new one: those of the store that an append began with."""
    if work.committed is None or work.journal.header["mode"] == "write":
        return ()
    rows_name = work.committed.rows_name
    return tuple(segment for segment in work.committed.segments if segment[rows_name].name != work.journal.rows_file)


def _manifest(work: Work, rows: FileRecord, columns: Columns, provenance: dict[str, Any]) -> Manifest:
    header, committed = work.journal.header, work.committed
    appended = committed if header["mode"] == "append" else None
    segment = {header["rows_name"]: rows}
    for role, array in columns.arrays.items():
        segment[role] = FileRecord.of_array(f"{role}-{header['serial']}.npy", plain(array))
    return Manifest(
        header["serial"],
        header["columns"],
        (*earlier_segments(work), segment),
        appended.quantizer if appended else work.journal.quantizer,
        columns.classes,
        columns.splits,
        provenance or (appended.provenance if appended else {}),
    )


def committed_rows(work: Work) -> FileRecord:
    """The file of rows of work that is done."""
    files = work.committed.row_files if work.committed else []
    return next(file for file in files if file.name == work.journal.rows_file)

"""SkipLog: the images of a run that have no row in its store, and why.

It is a text file of JSON lines: the first says which run it is of; each other is an image: its position in the run, its
name and the reason. A line is safe on disk before any row of a later image is, so that after a crash the file tells
which images the rows are of. It lies in the folder of the store, and is committed with the rows.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from manyclass._core.errors import StorageError
from manyclass._core.files import expand_home, explain_disk_errors, open_own, sync_file, write_bytes
from manyclass._core.progress_display import get_logger
from manyclass._core.reading import load_json, read_file
from manyclass._core.text import printable
from manyclass.data.store.attachments import SKIPPED
from manyclass.data.store.blocks import read_attached
from manyclass.data.store.manifest import MANIFEST, read_manifest

_LOG = get_logger("features")

SKIP_LOG_FORMAT = "manyclass skipped images 1"


@dataclass(frozen=True)
class SkippedImage:
    """An image that has no row in a store.

    Parameters
    ----------
    position : int
        Position among the images of the run.
    name : str
        Name of the image.
    reason : str
        Why it could not be used.
    """

    position: int
    name: str
    reason: str


def read_skipped(store: str | os.PathLike[str]) -> list[SkippedImage]:
    """Read which images have no row in a store that `write_features` wrote, and why.

    Parameters
    ----------
    store : path-like
        Folder of the store.

    Returns
    -------
    list of SkippedImage
        Images in the order of the run.
    """
    folder = expand_home(store)
    manifest = read_manifest(folder) if (folder / MANIFEST).exists() else None
    if manifest is not None and manifest.version > 1:
        attached = manifest.attachments.get(SKIPPED)
        return [] if attached is None else _parse(read_attached(folder, attached), folder / attached.name)
    beside = folder.with_name(folder.name + ".skipped.jsonl")  # where stores of version 1 have it
    return _parse(read_file(beside, "record"), beside) if beside.is_file() else []


class SkipLog:
    """The file of a run, of which the entries are known. `run` is a digest of what tells it from others.

    Of a part of a run it has the images of that part, whose first is at `start`, by their positions in the whole run.
    """

    def __init__(self, path: Path, run: str, entries: list[SkippedImage], start: int = 0):
        self.path, self.entries, self._start = path, entries, start
        self._header = _format_line({"format": SKIP_LOG_FORMAT, "run": run})

    @classmethod
    def open(cls, path: Path, run: str, rows_done: int, start: int = 0) -> Self:
        """The log of a run that has so many rows already; what was said of later images is cut."""
        log = cls(path, run, [], start)
        log.entries = log._read() if rows_done else []
        stop = log.position_after(rows_done)
        log.entries = [entry for entry in log.entries if entry.position < stop]
        with explain_disk_errors(path):
            write_bytes(path, log.content(), part=True)
        return log

    def content(self) -> bytes:
        """What is in the file."""
        return b"".join([self._header, *(_format_line(asdict(entry)) for entry in self.entries)])

    def position_after(self, rows: int) -> int:
        """The position of the image after that of so many rows."""
        position = self._start + rows
        for entry in self.entries:
            if entry.position >= position:
                break
            position += 1
        return position

    def append(self, entries: Sequence[SkippedImage]) -> None:
        """Note images, which must come after those before, safe from a crash."""
        lines = b"".join(_format_line(asdict(entry)) for entry in entries)
        with explain_disk_errors(self.path), os.fdopen(open_own(self.path, os.O_WRONLY | os.O_APPEND), "ab") as file:
            file.write(lines)
            file.flush()
            sync_file(file.fileno())
        self.entries += entries
        for entry in entries:
            _LOG.warning("%s was skipped: it %s", printable(entry.name), printable(entry.reason))

    def _read(self) -> list[SkippedImage]:
        try:
            os.close(open_own(self.path, os.O_RDONLY))  # no link is followed
            data = read_file(self.path, "record")
        except FileNotFoundError:
            data = b""
        if not data.startswith(self._header):
            raise StorageError(
                f"{self.path}, which lists the images skipped so far, is missing or belongs to another run; "
                "pass resume=False to start over"
            )
        return _parse(data, self.path)


def _parse(data: bytes, path: Path) -> list[SkippedImage]:
    """The entries of a file; one that a crash cut short is none."""
    lines = data.splitlines(keepends=True)[1:]
    return [_parse_line(line, path) for line in lines if line.endswith(b"\n")]


def _parse_line(line: bytes, path: Path) -> SkippedImage:
    entry, kinds = load_json(line, str(path)), {"position": int, "name": str, "reason": str}
    good = isinstance(entry, dict) and set(entry) == set(kinds)
    if not good or not all(isinstance(entry[key], kind) for key, kind in kinds.items()):
        raise StorageError(f"{path} must have {', '.join(kinds)} in every line; got {line[:60]!r}")
    return SkippedImage(**entry)


def _format_line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"

"""The pictures that a run passed over, in a file beside its store.

A text file of JSON lines. The first says which run it is of; each other is a picture: its position in the run, its name
and the reason. A line is safe on disk before any row of a later picture is, so that after a crash the file tells which
pictures the rows are of.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from manyclass import _atomic
from manyclass.data.store import StorageError

FORMAT = "manyclass skipped images 1"


@dataclass(frozen=True)
class Skipped:
    """A picture that has no row: its position among those of the run, its name, and the reason."""

    position: int
    name: str
    reason: str


class SkipLog:
    """The file `photos.store.skipped.jsonl` of the run that writes photos.store."""

    def __init__(self, path: Path, entries: list[Skipped], first: bytes):
        self.path, self.entries = path, entries
        self._first = first
        self._waiting: list[Skipped] = []

    @classmethod
    def beside(cls, store: Path, run: str, rows_done: int) -> Self:
        """The log of a run, by its digest, which has so many rows already; what was said of later pictures is cut."""
        path = log_path(store)
        first = _line({"format": FORMAT, "run": run})
        log = cls(path, [], first)
        if rows_done:
            log.entries = _entries(path, first)
            log.entries = [entry for entry in log.entries if entry.position < log.position_after(rows_done)]
        _atomic.write_bytes(path, first, *(_line(asdict(entry)) for entry in log.entries))
        return log

    def position_after(self, rows: int) -> int:
        """The position of the picture after that of so many rows."""
        position = rows
        for entry in self.entries:
            if entry.position >= position:
                break
            position += 1
        return position

    def add(self, entry: Skipped) -> None:
        """Note a picture, which must come after those before; `sync` makes it safe."""
        self._waiting.append(entry)

    def sync(self) -> None:
        """Make all that was noted safe from a crash."""
        if not self._waiting:
            return
        with open(self.path, "ab") as file:
            file.write(b"".join(_line(asdict(entry)) for entry in self._waiting))
            file.flush()
            _atomic.sync(file.fileno())
        self.entries += self._waiting
        self._waiting = []

    def close(self) -> None:
        """Remove the file of a run that is through and passed over nothing."""
        if not self.entries:
            self.path.unlink(missing_ok=True)


def log_path(store: str | os.PathLike[str]) -> Path:
    """Where the pictures that the run of a store passed over are listed."""
    return Path(os.fspath(store) + ".skipped.jsonl")


def read_skipped(store: str | os.PathLike[str]) -> list[Skipped]:
    """The pictures that have no row in a store which `write_features` wrote, and why."""
    path = log_path(store)
    return [_entry(line) for line in path.read_bytes().splitlines()[1:]] if path.exists() else []


def _entries(path: Path, first: bytes) -> list[Skipped]:
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    if lines[:1] != [first]:
        raise StorageError(
            f"{path}, which lists the images skipped so far, is missing or belongs to another run; "
            "pass resume=False to start over"
        )
    return [_entry(line) for line in lines[1:] if line.endswith(b"\n")]


def _entry(line: bytes) -> Skipped:
    return Skipped(**json.loads(line))


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"

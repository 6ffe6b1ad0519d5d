"""Points of a path in files: a path that was killed at any moment goes on to the same bits."""

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

from manyclass import _atomic
from manyclass._plain_values import decode, encode
from manyclass._tensors import Arrays, Format
from manyclass.data.store.disk import explained
from manyclass.solvers.points import Point, Product, Whole
from manyclass.solvers.solution import Solution

FORMAT = Format("manyclass path point", 1, "remove its folder to begin anew")
# What ends a solver before it is done; a path that goes on solves such a pair again.
ENDED = ("time is up", "interrupted")
_FACTS = tuple(field.name for field in fields(Solution) if field.name != "point")


class PathCheckpoint:
    """A folder with one file for each pair that is solved; without a path nothing is kept."""

    def __init__(self, folder: str | os.PathLike[str] | None, identity: dict[str, str]):
        self.folder = None if folder is None else Path(folder)
        self.identity = identity
        if self.folder is not None and not self.folder.parent.is_dir():
            raise ValueError(f"checkpoint must lie in a folder that exists; got {self.folder}")

    def found(self, number: int) -> Solution | None:
        """The solution of the pair of this number by an earlier attempt, if there is one."""
        if self.folder is None or not self._file(number).exists():
            return None
        path = self._file(number)
        content, arrays = FORMAT.read(path)
        try:
            self._check(path, dict(content["identity"]))
            point = _point({name: arrays[name] for name in content["point"]})
            return Solution(point, **decode(content["facts"], arrays))
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} cannot be read as a {FORMAT.name}: {error}; {FORMAT.advice}") from error

    def keep(self, number: int, found: Solution) -> None:
        """Write a solution, unless something ended it early."""
        if self.folder is None or found.status in ENDED:
            return
        arrays: Arrays = dict(vars(found.point))
        content = {"identity": self.identity, "point": list(arrays)}
        content["facts"] = encode({name: getattr(found, name) for name in _FACTS}, "facts", arrays)
        with explained(self.folder):
            self.folder.mkdir(exist_ok=True)
            FORMAT.write(self._file(number), content, arrays)

    def remove(self) -> None:
        """The path is over."""
        if self.folder is None or not self.folder.is_dir():
            return
        # The first goes last: what is left by a crash on the way is a path that can be gone on with.
        for file in sorted(self.folder.glob("point-*"), reverse=True):
            file.unlink()
        self.folder.rmdir()
        _atomic.sync_folder(self.folder.parent)

    def _file(self, number: int) -> Path:
        return Path(self.folder or "", f"point-{number:05}")

    def _check(self, path: Path, told: dict[str, Any]) -> None:
        different = [name for name in self.identity if told.get(name) != self.identity[name]]
        if different:
            raise ValueError(
                f"checkpoint {path.parent} belongs to another fit, which differs in {', '.join(different)}; "
                "fit with the same data and settings to resume, remove the folder, or pass another path"
            )


def _point(arrays: Arrays) -> Point:
    return Whole(**arrays) if "W" in arrays else Product(**arrays)

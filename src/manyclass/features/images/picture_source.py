"""PictureSource: where the pictures of named rows are: files of folders, in archives there, or an array with names."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.reading import map_npy, read_json
from manyclass.data.archives.packed_file import PackedFile, find_packed


class PictureSource:
    """The pictures of rows by the names of these.

    Parameters
    ----------
    where : dict, default=None
        {"folder": path}, or {"array": path of a .npy file, "names": path of a list in JSON}. Relative paths are looked
        for from `home`, then from its parent, then from the current folder.
    home : Path
        The folder of what says so.
    folders : sequence of Path, default=()
        Folders that are looked into first.

    Attributes
    ----------
    folders : list of Path
        All folders, in the order in which they are looked into.
    array_path : Path or None
        The file of the array.
    """

    def __init__(self, where: dict[str, Any] | None, home: Path, folders: list[Path] | None = None):
        where = where or {}
        folder = _find_path(where.get("folder"), home)
        self.folders = [*(folders or []), *([] if folder is None else [folder])]
        self.array_path = _find_path(where.get("array"), home)
        self._array, self._rows = _read_array(self.array_path, _find_path(where.get("names"), home))

    def pixels(self, name: str) -> NDArray[Any] | None:
        """The picture of a row that is part of the array."""
        if self._array is None or name not in self._rows:
            return None
        return np.asarray(self._array[self._rows[name]])

    def files(self, name: str, links_out: bool = True) -> Iterator[tuple[Path, Path]]:
        """(folder, file in it) for files that a row may name: its path in a folder, then its bare name there.

        Never outside of the folder; links that lead out of it are followed only where `links_out` is true.
        """
        for folder in self.folders:
            top = os.path.abspath(folder)
            for one in [] if "\0" in name else dict.fromkeys((name, os.path.basename(name))):
                path = os.path.abspath(os.path.join(top, one))
                inside = path.startswith(top.rstrip(os.sep) + os.sep) and os.path.isfile(path)
                if inside and (links_out or _stays_inside(path, top)):
                    yield folder, Path(path)

    def packed(self, name: str) -> tuple[Path, PackedFile] | None:
        """(folder, picture) of a row whose picture lies in a tar or a parquet file of one of the folders."""
        found = ((folder, find_packed(folder, name)) for folder in self.folders)
        return next(((folder, picture) for folder, picture in found if picture is not None), None)


def _stays_inside(path: str, top: str) -> bool:
    return os.path.realpath(path).startswith(os.path.realpath(top).rstrip(os.sep) + os.sep)


def _find_path(path: str | None, home: Path) -> Path | None:
    """The path, found from one of the places that it may be relative to."""
    places = [] if path is None or "\0" in path else [home / path, home.parent / path, Path(path)]
    return next((place for place in places if place.exists()), None)


def _read_array(path: Path | None, names: Path | None) -> tuple[NDArray[Any] | None, dict[str, int]]:
    if path is None or names is None:
        return None, {}
    try:
        array, listed = map_npy(path), read_json(names, "record")
    except ValueError:
        raise ValueError(f"pictures must be an array in {path} and a list of names in {names}; got others") from None
    if not isinstance(listed, list) or array.ndim not in (3, 4) or len(listed) != len(array):
        raise ValueError(f"{names} must list one name for each picture of {path}, an array of shape {array.shape}")
    return array, {str(name): row for row, name in enumerate(listed)}

"""PackedFile: a file within another file, whose bytes are read when somebody asks for them; and one by its name.

It is known by the path of the archive and a place in it, so it holds nothing open, costs a few words, and means the
same in other processes and on other machines that see the archive.
"""

import os
from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path

from manyclass._core.errors import FileRefusedError
from manyclass._core.reading import get_limits, way_out
from manyclass._core.text import format_bytes

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")

TARS = (".tar",)

TABLES = (".parquet", ".pq")


class PackedFile(ABC):
    """A file at a place of an archive."""

    archive: str  # the path

    @abstractmethod
    def read(self) -> bytes:
        """The bytes; FileRefusedError where there are none, or too many."""

    @abstractmethod
    def identity(self) -> str:
        """What tells it from others of its name without its bytes, such as their number."""

    @abstractmethod
    def moved(self, archive: str) -> "PackedFile":
        """The same file of an archive that has another path."""


def check_packed(size: int, name: str, kind: str = "image") -> None:
    """Refuse a file that has more bytes than its kind may have, before they are read."""
    most = get_limits()[kind]
    if size > most:
        reason = f"has {format_bytes(size)}, over the limit of {format_bytes(most)}; {way_out(kind, size)}"
        raise FileRefusedError(name, reason)


def find_packed(folder: str | os.PathLike[str], name: str) -> PackedFile | None:
    """The file that a name such as 00000.tar/000000012 or train.parquet/7 is of, in an archive of the folder.

    The archive is never outside of the folder; what the name says after it is looked up, and is no path.
    """
    top = os.path.realpath(folder)
    head = ""
    for part in name.split("/")[:-1]:
        head = os.path.join(head, part)
        if not part.lower().endswith(TARS + TABLES) or "\0" in head:
            continue
        path = os.path.realpath(os.path.join(top, head))
        if path.startswith(top.rstrip(os.sep) + os.sep) and os.path.isfile(path):
            return _in_archive(path, name[len(head) + 1 :])
    return None


def _in_archive(path: str, rest: str) -> PackedFile | None:
    try:
        about = os.stat(path)
        return _members(path, about.st_size, about.st_mtime_ns).get(rest)
    except (ValueError, OSError, ImportError):
        return None


@lru_cache(maxsize=64)
def _members(path: str, size: int, changed: int) -> dict[str, PackedFile]:
    """The pictures of an archive by what their names have after it; size and time tell whether it is the same still."""
    if path.lower().endswith(TARS):
        from manyclass.data.archives.tar_archive import pictures_in_tar

        return dict(pictures_in_tar(Path(path)).pictures)
    from manyclass.data.archives.parquet_cells import cells_of

    return {str(row): cell for row, cell in enumerate(cells_of(Path(path)))}

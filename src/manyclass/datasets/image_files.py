"""Every file below a folder, whatever it is and however it is linked."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


@dataclass
class Found:
    """Names of files below a folder, sorted by their bytes, and a sentence for each folder that could not be read."""

    files: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def found_files(folder: Path) -> Found:
    """What lies below a folder. Links are followed, but none to a folder that was seen: it is listed as if it were a
    file, and so is an empty folder that is called like a picture, so that a report can tell of them."""
    found = Found()
    _look(folder, "", {_key(os.stat(folder))}, found)
    found.files.sort(key=os.fsencode)
    return found


def _look(folder: Path, below: str, seen: set[tuple[int, int]], found: Found) -> None:
    waiting = [below]
    while waiting:
        place = waiting.pop()
        try:
            entries = list(_entries(os.path.join(folder, place) if place else str(folder)))
        except OSError as error:
            found.notices.append(f"{os.path.join(folder, place)} cannot be listed: {error.strerror}; it is left out")
            continue
        if not entries and place.lower().endswith(PICTURES):
            found.files.append(place)
        for entry in entries:
            name = os.path.join(place, entry.name) if place else entry.name
            (waiting if _is_new_folder(entry, seen) else found.files).append(name)


def _entries(path: str) -> Iterator[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        yield from (entry for entry in entries if not entry.name.startswith("."))


def _is_new_folder(entry: os.DirEntry[str], seen: set[tuple[int, int]]) -> bool:
    try:
        if not entry.is_dir():
            return False
        key = _key(entry.stat())
    except OSError:  # a link to itself
        return False
    new = key not in seen
    seen.add(key)
    return new


def _key(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino

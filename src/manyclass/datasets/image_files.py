"""Every file below a folder, whatever it is and however it is linked."""

import os
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")


@dataclass
class Found:
    """Names of files below a folder, sorted by their bytes, and a sentence for each folder that could not be read."""

    files: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def found_files(folder: Path) -> Found:
    """What lies below a folder. Links are followed, but none to a folder that is read by its own name or was by another
    link: it is listed as if it were a file, and so is an empty folder that is called like a picture, so that a report
    can tell of them."""
    found = Found()
    seen: set[tuple[int, int]] = set()
    folders, links = [""], deque[str]()
    while folders or links:
        place = folders.pop() if folders else links.popleft()
        if not _is_new(os.path.join(folder, place), seen):
            found.files.append(place)
            continue
        for entry in _entries(folder, place, found):
            name = os.path.join(place, entry.name) if place else entry.name
            kind = found.files if not _is_folder(entry) else links if entry.is_symlink() else folders
            kind.append(name)
    found.files.sort(key=os.fsencode)
    return found


def _entries(folder: Path, place: str, found: Found) -> list[os.DirEntry[str]]:
    """What a folder holds, by name, so that it does not depend on the disk which of two links is followed."""
    try:
        with os.scandir(os.path.join(folder, place)) as entries:
            seen = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError as error:
        found.notices.append(f"{os.path.join(folder, place)} cannot be listed: {error.strerror}; it is left out")
        return []
    if not seen and place.lower().endswith(PICTURES):
        found.files.append(place)
    return sorted(seen, key=lambda entry: os.fsencode(entry.name))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _is_new(path: str, seen: set[tuple[int, int]]) -> bool:
    try:
        found = os.stat(path)
    except OSError:  # it is gone, or closed to us, of which listing it tells
        return True
    key = found.st_dev, found.st_ino
    new = key not in seen
    seen.add(key)
    return new

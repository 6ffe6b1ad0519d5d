"""The folder of the demo, and what is in it."""

from pathlib import Path
from typing import Any

MADE = {"made by": "manyclass demo"}
WHOLE, SMALL = "glyphs.store", "small.store"  # kinds that are learned: their features, and the same as codes
OTHERS, WORLD = "others.store", "world.store"  # kinds that are searched for, and negatives of still other kinds
PICTURES, NAMES, SHEET = "pictures.npy", "pictures.json", "glyphs.png"
RUNS, GALLERY, REPORT = "runs", "gallery", "report.html"
_STORES = (WHOLE, SMALL, OTHERS, WORLD)


def check_folder(out: Path) -> None:
    """Refuse a folder with anything in it that the demo would write over and did not make."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file, and the demo writes a folder; choose another name with --out")
    for name in _STORES:
        if (out / name).exists() and not _is_ours(out / name):
            raise ValueError(f"{out / name} was not made by the demo; choose another folder with --out")
    if out.is_dir() and any(out.iterdir()) and not any((out / name).exists() for name in _STORES):
        raise ValueError(f"{out} has other things in it; choose another folder with --out")


def _is_ours(store: Path) -> bool:
    """Whether the demo made the store, and began what is unfinished there."""
    from manyclass.data.store.journal import Journal
    from manyclass.data.store.layout import MANIFEST
    from manyclass.data.store.manifest_file import read_manifest

    if not store.is_dir():
        return False
    found: list[dict[str, Any]] = []
    if (store / MANIFEST).exists():
        found.append(read_manifest(store).provenance)
    if journal := Journal.read(store):
        found.append(journal.header["identity"])
    return bool(found) and all(MADE.items() <= words.items() for words in found)

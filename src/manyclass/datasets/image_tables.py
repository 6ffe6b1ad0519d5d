"""What files beside pictures say of them: tables of labels, and lists of parts."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.datasets.labels import read_labels

_LISTS = {"train.txt": "train", "val.txt": "val", "test.txt": "test"}
_ANNOTATIONS = "val_annotations.txt"  # of Tiny-ImageNet


def read_table(path: Path) -> tuple[list[str], NDArray[np.str_], NDArray[np.str_] | None]:
    """(paths, labels, parts) of a CSV or TSV."""
    about = read_labels(path)
    if "names" not in about:
        raise ValueError(f"{path} must have a column of paths (path,label) to be read as a table of images")
    if not len(about["names"]):
        raise ValueError(f"{path} must name at least one image; it names none")
    return about["names"].tolist(), _words(about["y"]), _words(about["split"]) if "split" in about else None


def listed_parts(source: Path, files: list[str]) -> tuple[dict[str, str], set[str]]:
    """(part of each name, lists) by train.txt, val.txt and test.txt, which have one name per line.

    They stand beside the pictures or above all of them, as an archive has them that was unpacked into a folder.
    """
    parts: dict[str, str] = {}
    top = os.path.commonpath([os.path.dirname(name) for name in files])
    lists = {name for name in files if os.path.basename(name) in _LISTS and os.path.dirname(name) == top}
    for name in sorted(lists):
        part = _LISTS[os.path.basename(name)]
        lines = [line.strip() for line in _lines(source / name) if line.strip()]
        parts |= dict.fromkeys(lines, part) | {os.path.join(top, line): part for line in lines}
    return parts, lists


def annotated(source: Path, files: list[str]) -> tuple[dict[str, str], set[str]]:
    """(label of each name, tables) by the tables of Tiny-ImageNet: name and class, with tabs between."""
    labels: dict[str, str] = {}
    tables = {name for name in files if Path(name).name == _ANNOTATIONS}
    for name in sorted(tables):
        folder = Path(name).parent / "images"
        cells = (line.split("\t") for line in _lines(source / name) if "\t" in line)
        labels |= {str(folder / row[0]): row[1] for row in cells}
    return labels, tables


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", "surrogateescape").split("\n")


def _words(values: NDArray[Any]) -> NDArray[np.str_]:
    return values.astype(np.str_)

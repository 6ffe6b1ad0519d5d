"""Labels that people keep in a file beside the features: .npy, .csv, .tsv, .txt or .parquet."""

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.data import roles

About = dict[str, Any]  # some of y, names, classes and split


def read_labels(path: Path) -> About:
    """The labels in a file as y, and names and split where it has them.

    Text holds one label per line. A CSV holds one column of labels, or path,label, or columns that its first line
    names. Labels are integers if all of them are written as such, and strings otherwise.
    """
    if not path.exists():
        raise FileNotFoundError(f"no file of labels at {path}")
    if path.suffix.lower() not in _READERS:
        raise ValueError(f"{path} must end in one of {', '.join(_READERS)} to be read as labels")
    return _READERS[path.suffix.lower()](path)


def as_labels(values: ArrayLike, source: object) -> NDArray[Any]:
    """A vector of integers or strings; complaints name where they came from."""
    labels = np.asarray(values)
    if labels.ndim != 1:
        raise ValueError(f"{source} must have one dimension; got shape {labels.shape}")
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(np.str_)
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8")
    if labels.dtype.kind not in "iubU":
        raise ValueError(f"{source} must be integers or strings; got dtype {labels.dtype}")
    return labels


def texts(about: About) -> About:
    """The same, with names and classes as strings, whatever they were kept as."""
    return about | {key: about[key].astype(np.str_) for key in ("names", "classes") if key in about}


def read_values(path: Path) -> NDArray[Any]:
    """A file of one value per row: .npy, or text with one value per line."""
    if path.suffix.lower() != ".npy":
        return _parse([line.strip() for line in _text(path).split("\n") if line.strip()])
    from manyclass.data.npy import map_npy

    return as_labels(map_npy(path), path)


def _read_table(path: Path) -> About:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    lines = csv.reader(StringIO(_text(path)), delimiter=delimiter, skipinitialspace=True)
    rows = [[cell.strip() for cell in line] for line in lines if any(line)]
    if not rows:
        raise ValueError(f"{path} must have one label per line; it is empty")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise ValueError(f"{path} must have {len(rows[0])} columns in every line; got {len(row)} in line {number}")
    header, rows = _header(rows, path)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {}
    about = {key: _parse(list(columns.get(name, ()))) for key, name in _chosen(header, path).items()}
    return texts(about)


def _header(rows: list[list[str]], path: Path) -> tuple[list[str], list[list[str]]]:
    if roles.first_named((*roles.LABELS, *roles.NAMES), rows[0]):
        return rows[0], rows[1:]
    if len(rows[0]) > 2:
        raise ValueError(f"{path} must name its {len(rows[0])} columns in its first line; got {','.join(rows[0])}")
    return ["path", "label"][-len(rows[0]) :], rows


def _chosen(names: list[str], path: Path) -> dict[str, str]:
    found = {"y": roles.LABELS, "names": roles.NAMES, "split": roles.SPLIT}
    chosen = {key: name for key, words in found.items() if (name := roles.first_named(words, names))}
    if "y" not in chosen:
        raise ValueError(f"{path} must have a column called {', '.join(roles.LABELS)}; got {', '.join(names)}")
    return chosen


def _read_parquet(path: Path) -> About:
    from manyclass.data.parquet import column_names, read_column

    chosen = _chosen(column_names(path), path)
    return texts({key: as_labels(read_column(path, name), f"{path} column {name!r}") for key, name in chosen.items()})


def _parse(cells: list[str]) -> NDArray[Any]:
    # "007" is a name: only what an integer would print as is taken as one.
    whole = all(len(cell) < 19 and cell.lstrip("-").isdecimal() and str(int(cell)) == cell for cell in cells)
    return np.array(cells, dtype=np.int64 if whole else np.str_)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text in UTF-8; {error.reason} at byte {error.start}") from error


_READERS: dict[str, Callable[[Path], About]] = {
    ".npy": lambda path: {"y": read_values(path)},
    ".txt": lambda path: {"y": read_values(path)},
    ".csv": _read_table,
    ".tsv": _read_table,
    ".parquet": _read_parquet,
}

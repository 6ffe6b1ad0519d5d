"""Labels that people keep in a file beside the features: .npy, .csv, .tsv, .txt or .parquet."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.data.readers import as_matrix

About = dict[str, Any]  # some of y, names, classes and split

_WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")


def read_labels(path: Path) -> About:
    """The labels in a file as y, and names and split where it has them.

    Text holds one label per line. A CSV holds one column of labels, or path,label, or columns that its first line
    names. Labels are integers if all of them are written as such, and strings otherwise.
    """
    if not path.exists():
        raise FileNotFoundError(f"no file of labels at {path}")
    if path.suffix.lower() not in _READERS:
        raise ValueError(f"{path} must end in one of {', '.join(_READERS)} to be read as labels")
    return normalize_types(_READERS[path.suffix.lower()](path))


def as_labels(values: ArrayLike, source: object) -> NDArray[Any]:
    """A vector of integers or strings; complaints name where they came from."""
    labels = np.asarray(values)
    if labels.ndim != 1:
        raise ValueError(f"{source} must have one dimension; got shape {labels.shape}")
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels):
        labels = labels.astype(np.str_)
    if labels.dtype.kind == "S":
        labels = _decoded(labels, source)
    if labels.dtype.kind not in "iubU":
        raise ValueError(f"{source} must be integers or strings; got dtype {labels.dtype}")
    return labels


def normalize_types(about: About) -> About:
    """The same, with names and classes as strings, whatever they were kept as, and labels of yes and no as integers."""
    words = {key: about[key].astype(np.str_) for key in ("names", "classes") if key in about}
    y = {"y": about["y"].astype(np.int64)} if "y" in about and about["y"].dtype.kind == "b" else {}
    return about | words | y


def join_labels(parts: Sequence[NDArray[Any]], sources: Sequence[object]) -> NDArray[Any]:
    """The labels or such of several files as one vector; they must be integers in all of them, or strings in all."""
    kinds = ["strings" if part.dtype.kind == "U" else "integers" for part in parts]
    for kind, source in zip(kinds, sources, strict=True):
        if kind != kinds[0]:
            raise ValueError(f"{source} must hold {kinds[0]}, as {sources[0]} does; got {kind}")
    return as_labels(np.concatenate(parts), sources[0])


def read_values(path: Path) -> NDArray[Any]:
    """A file of one value per row: .npy, or text with one value per line."""
    if path.suffix.lower() != ".npy":
        return _parse([line.strip() for line in _text(path).split("\n") if line.strip()])
    from manyclass.data.readers.npy import map_npy

    return as_labels(map_npy(path), path)


def _read_table(path: Path) -> About:
    lines = [(number, row) for number, row in _lines(path) if any(row)]
    if not lines:
        raise ValueError(f"{path} must have one label per line; it is empty")
    width = len(lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise ValueError(f"{path} must have {width} columns in every line; got {len(row)} in line {number}")
    header, rows = _header([row for _, row in lines], path)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {}
    return {key: _parse(list(columns.get(name, ()))) for key, name in _chosen(header, path).items()}


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number of the line on which a row begins, and its cells."""
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    # Unless it is strict, a quote that nobody closes swallows the rest of the file as one label.
    rows = csv.reader(StringIO(_text(path)), delimiter=delimiter, skipinitialspace=True, strict=True)
    number = 1
    try:
        for row in rows:
            yield number, [cell.strip() for cell in row]
            number = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{path} must close every quote that opens a cell; got {error} from line {number}") from error


def _header(rows: list[list[str]], path: Path) -> tuple[list[str], list[list[str]]]:
    if as_matrix.pick_name((*as_matrix.LABELS, *as_matrix.NAMES), rows[0]):
        return rows[0], rows[1:]
    if len(rows[0]) > 2:
        raise ValueError(f"{path} must name its {len(rows[0])} columns in its first line; got {','.join(rows[0])}")
    return ["path", "label"][-len(rows[0]) :], rows


def _chosen(names: list[str], path: Path) -> dict[str, str]:
    found = {"y": as_matrix.LABELS, "names": as_matrix.NAMES, "split": as_matrix.SPLIT}
    chosen = {key: name for key, words in found.items() if (name := as_matrix.pick_name(words, names))}
    if "y" not in chosen:
        raise ValueError(f"{path} must have a column called {', '.join(as_matrix.LABELS)}; got {', '.join(names)}")
    return chosen


def _read_parquet(path: Path) -> About:
    from manyclass.data.readers.parquet import column_names, read_column

    chosen = _chosen(column_names(path), path)
    return {key: read_column(path, name) for key, name in chosen.items()}


def _parse(cells: list[str]) -> NDArray[Any]:
    # "007" is a name: only what an integer would print as is taken as one.
    whole = all(_WHOLE.fullmatch(cell) for cell in cells)
    return np.array(cells, dtype=np.int64 if whole else np.str_)


def _decoded(labels: NDArray[Any], source: object) -> NDArray[Any]:
    try:
        return np.char.decode(labels, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} must be text in UTF-8; {error.reason} at byte {error.start}") from error


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

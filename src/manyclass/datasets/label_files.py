"""Labels in files and columns, and how much of what is found beside features is believed.

Names, classes and splits that are unusable must not keep anybody from the features: they are left out with a notice,
and so are labels that may well be another file's. Labels that can only be meant for these rows are refused instead, and
the complaint tells how to go on without them.
"""

import csv
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_length
from manyclass._core.errors import is_of_machine
from manyclass._core.reading import load_json, map_npy, read_text
from manyclass.data.matrix import Matrix
from manyclass.data.readers import as_matrix

About = dict[str, Any]  # some of y, names, classes and split, and where labels were found

_ORDER = ("names", "split", "y", "classes")  # names tell the order of labels, and labels which classes there can be


@dataclass(frozen=True)
class LabelSource:
    """A file, a column or a member that may say something of the rows.

    `gives` is what it may hold, and first what it is for; `read` reads that, and gives nothing where nothing is there.
    It is `certain` to be meant for these rows unless it lies where it may belong to others.
    """

    gives: tuple[str, ...]
    source: object
    read: Callable[[], About]
    certain: bool = True

    def read_for(self, X: Matrix, path: Path, known: About) -> About:
        """What it says of the rows of X, which came from `path`, after all that is `known` of them already."""
        about = self.read()
        if "names" in about and "names" in known:
            about = reorder_by_name(known["names"], about, self.source)
        for key in about.keys() - {"classes"}:
            check_length(about[key], X.shape[0], str(self.source), str(path))
        if "classes" in about and (problem := class_mismatch((known | about)["y"], about["classes"])):
            raise ValueError(f"{self.source} does not fit the labels: {problem}")
        return about


def collect_labels(
    findings: Sequence[LabelSource], X: Matrix, path: Path, wanted: Collection[str]
) -> tuple[About, tuple[str, ...]]:
    """All that is wanted and usable, the first finding before later ones, and a notice of all that was left out."""
    about: About = {}
    notices: list[str] = []
    for finding in sorted(findings, key=lambda finding: _ORDER.index(finding.gives[0])):
        if _is_idle(finding, about, wanted):
            continue
        try:
            found = finding.read_for(X, path, about)
        except (ValueError, OSError, ImportError) as error:
            notices += _excuse(finding, error, wanted)
        else:
            if "y" in wanted and "y" in found and isinstance(finding.source, Path) and finding.source != path:
                about.setdefault("labels_path", None if "y" in about else finding.source)
            for key in filter(wanted.__contains__, found):
                about.setdefault(key, found[key])
    return about, tuple(dict.fromkeys(notices))  # one broken file may be met for names and again for parts


def _is_idle(finding: LabelSource, about: About, wanted: Collection[str]) -> bool:
    main = finding.gives[0]
    return main in about or not set(finding.gives) & set(wanted) or (main == "classes" and "y" not in about)


def _excuse(finding: LabelSource, error: Exception, wanted: Collection[str]) -> list[str]:
    if finding.gives[0] not in wanted:
        return []  # somebody has set these labels aside, and need not hear what is wrong with them
    if is_of_machine(error):
        raise error  # what is in the file is not known, and without it these would be other data
    if finding.gives[0] == "y" and finding.certain:
        raise ValueError(f"{error}; labels=False (--labels none) leaves labels out") from error
    return [f"{error}; it is left out"]


def class_mismatch(y: NDArray[Any], classes: Sequence[str] | NDArray[np.str_]) -> str | None:
    """What is wrong with these classes for these labels; None where nothing is.

    >>> class_mismatch(np.array([0, 2]), ["cat", "dog"])
    'labels must be integers in [0, 2); got 2 at row 1'
    """
    words, counts = np.unique(np.asarray(classes, np.str_), return_counts=True)
    if (counts > 1).any():
        return f"classes must be distinct; got {str(words[counts > 1][0])!r} twice"
    if y.dtype.kind == "U":
        wrong, rule = ~np.isin(y, words), f"among the {len(words)} classes"
    else:
        wrong, rule = (y < 0) | (y >= len(words)), f"integers in [0, {len(words)})"
    if not wrong.any():
        return None
    row = int(np.flatnonzero(wrong)[0])
    return f"labels must be {rule}; got {y[row].item()!r} at row {row}"


def reorder_by_name(names: Sequence[str] | NDArray[np.str_], table: dict[str, Any], source: object) -> dict[str, Any]:
    """The rows of a table that has `names` too, one for each of the names given and in their order.

    The table may have other rows as well. One that lists the same names in the same order is left as it is.

    >>> table = {"y": np.array([7, 8, 9]), "names": np.array(["c", "a", "b"])}
    >>> reorder_by_name(["a", "b"], table, "labels.csv")["y"]
    array([8, 9])
    """
    if len(names) == len(table["names"]) and all(a == b for a, b in zip(names, table["names"], strict=True)):
        return table
    positions = _positions(table["names"].tolist(), source)
    if not all(name in positions for name in names):  # perhaps it spells them as another system does
        names, positions = composed(np.array(names, np.str_)), _positions(composed(table["names"]).tolist(), source)
    for row, name in enumerate(names):
        if name not in positions:
            way_out = "leave its names out if it is in the order of the rows"
            raise ValueError(f"{source} must have a label for {str(name)!r}, which is row {row}; got none; {way_out}")
    order = np.array([positions[name] for name in names], np.intp)
    return {key: values[order] for key, values in table.items()}


def _positions(names: list[str], source: object) -> dict[str, int]:
    positions: dict[str, int] = {}
    for row, name in enumerate(names):
        if positions.setdefault(name, row) != row:
            raise ValueError(f"{source} must have every name once, so that rows are found by it; got {name!r} twice")
    return positions


_LONGEST_LINE = 1_000_000

_WHOLE, _COUNTING = re.compile("0|-?[1-9][0-9]{0,17}"), re.compile("0|[1-9][0-9]{0,17}")


def read_labels(path: Path) -> About:
    """The labels in a file as y, and names and split where it has them.

    Text holds one label per line. A CSV holds one column of labels, or path,label, or columns that its first line
    names; an apostrophe before =, +, - or @, which keeps spreadsheets from running a cell, is no part of it. A .jsonl
    holds such columns as one object per line. Labels are integers if all of them are written as such, and strings
    otherwise.
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
        labels = _decode(labels, source)
    if labels.dtype.kind not in "iubU":
        raise ValueError(f"{source} must be integers or strings; got dtype {labels.dtype}")
    if labels.dtype.kind == "U" and _last_letter(labels) > sys.maxunicode:
        raise ValueError(f"{source} must be text; it has letters that Unicode has not")
    return labels


def _last_letter(words: NDArray[np.str_]) -> int:
    """The largest code of a letter."""
    plain = np.ascontiguousarray(words.astype(words.dtype.newbyteorder("="), copy=False))
    return int(plain.view(np.uint32).max(initial=0)) if plain.dtype.itemsize else 0


def normalize_types(about: About) -> About:
    """The same, with names and classes as strings, whatever they were kept as, and labels of yes and no as integers.

    Labels and classes are in one spelling each. Names stay as they are: they may be of files.
    """
    words = {key: about[key].astype(np.str_) for key in ("names", "classes") if key in about}
    words |= {key: composed(words[key]) for key in ("classes",) if key in words}
    y = {"y": _normalize_labels(about["y"])} if "y" in about else {}
    return about | words | y


def _normalize_labels(y: NDArray[Any]) -> NDArray[Any]:
    if y.dtype.kind != "U":
        return y.astype(np.int64) if y.dtype.kind == "b" else y
    return composed(y)


def composed(words: NDArray[np.str_]) -> NDArray[np.str_]:
    """The words in Unicode's composed form (NFC): systems write one letter in two ways, and mean one class.

    >>> [len(word) for word in composed(np.array(["e\u0301", "\u00e9", "e"]))]
    [1, 1, 1]
    """
    if _last_letter(words) < 128:
        return words
    spelling = {word: normalize("NFC", word) for word in set(words.tolist())}
    if all(word == known for word, known in spelling.items()):
        return words
    return np.array([spelling[word] for word in words.tolist()], np.str_)


def read_column_as(key: str, read: Callable[[], ArrayLike], source: object) -> About:
    """What `read` gives, as the y, names, classes or split of rows; complaints name where it came from."""
    return normalize_types({key: as_labels(read(), source)})


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
    return as_labels(map_npy(path, "labels"), path)


def _read_table(path: Path) -> About:
    lines = [(number, row) for number, row in _lines(path) if any(row)]
    if not lines:
        raise ValueError(f"{path} must have one label per line; it is empty")
    width = len(lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise ValueError(f"{path} must have {width} columns in every line; got {len(row)} in line {number}")
    header, rows = _header([row for _, row in lines], path)
    chosen = _choose_columns(header, path)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True)) if rows else {}
    cells = {key: list(columns.get(name, ())) for key, name in chosen.items()}
    return {key: _parse(_with_gaps(values) if key == "y" else values) for key, values in cells.items()}


def _with_gaps(cells: list[str]) -> list[str]:
    """Labels with -1 for those that are empty, if the others count from 0: a gap does not make words of numbers."""
    others = set(cells) - {""}
    numbers = len(others) > 1 and all(map(_COUNTING.fullmatch, others))
    return [cell or "-1" for cell in cells] if numbers else cells


def shielded_cell(text: str) -> str:
    """A cell of a CSV that no spreadsheet takes for a formula: an apostrophe comes before what would be one.

    Reading takes the apostrophe away again.

    >>> shielded_cell("=1+1"), shielded_cell("-cat.jpg"), shielded_cell("a-b")
    ("'=1+1", "'-cat.jpg", 'a-b')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def _without_shield(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number of the line on which a row begins, and its cells."""
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    # Unless it is strict, a quote that nobody closes swallows the rest of the file as one label.
    rows = csv.reader(_short_lines(path), delimiter=delimiter, skipinitialspace=True, strict=True)
    number = 1
    try:
        for row in rows:
            yield number, [_without_shield(cell.strip()) for cell in row]
            number = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{path} must close every quote that opens a cell; got {error} from line {number}") from error


def _short_lines(path: Path) -> Iterator[str]:
    # A line of nothing but commas would take eight times its length.
    for number, line in enumerate(StringIO(_text(path)), 1):
        if len(line) > _LONGEST_LINE:
            raise ValueError(
                f"{path} must have lines of at most {_LONGEST_LINE} letters; line {number} has {len(line)}"
            )
        yield line


def _header(rows: list[list[str]], path: Path) -> tuple[list[str], list[list[str]]]:
    if as_matrix.pick_name((*as_matrix.LABELS, *as_matrix.NAMES), rows[0]):
        return rows[0], rows[1:]
    if len(rows[0]) > 2:
        raise ValueError(f"{path} must name its {len(rows[0])} columns in its first line; got {','.join(rows[0])}")
    return ["path", "label"][-len(rows[0]) :], rows


def _choose_columns(names: list[str], path: Path) -> dict[str, str]:
    found = {"y": as_matrix.LABELS, "names": as_matrix.NAMES, "split": as_matrix.SPLIT}
    chosen = {key: name for key, words in found.items() if (name := as_matrix.pick_name(words, names))}
    if "y" not in chosen:
        raise ValueError(f"{path} must have a column called {', '.join(as_matrix.LABELS)}; got {', '.join(names)}")
    return chosen


def _read_parquet(path: Path) -> About:
    from manyclass.data.readers.parquet import column_names, read_column

    chosen = _choose_columns(column_names(path), path)
    return {key: read_column(path, name) for key, name in chosen.items()}


def _read_objects(path: Path) -> About:
    """The columns of a file with one object of JSON per line; a line that lacks one has an empty label there."""
    lines = [line for line in _short_lines(path) if line.strip()]
    rows = [load_json(line, f"{path} line {number}") for number, line in enumerate(lines, 1)]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f'{path} must have one object per line, such as {{"file_name": ..., "label": ...}}')
    chosen = _choose_columns(list(rows[0]), path)
    cells = {key: [_cell(row.get(name), name, path) for row in rows] for key, name in chosen.items()}
    return {key: _parse(_with_gaps(values) if key == "y" else values) for key, values in cells.items()}


def _cell(value: Any, name: str, path: Path) -> str:
    if value is not None and not isinstance(value, str | int):
        raise ValueError(f"{path} must have text or integers in {name!r}; got {type(value).__name__}")
    return "" if value is None else str(value).strip()


def _parse(cells: list[str]) -> NDArray[Any]:
    # "007" is a name: only what an integer would print as is taken as one.
    whole = all(_WHOLE.fullmatch(cell) for cell in cells)
    return np.array(cells, dtype=np.int64 if whole else np.str_)


def _decode(labels: NDArray[Any], source: object) -> NDArray[Any]:
    try:
        return np.char.decode(labels, "utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} must be text in UTF-8; {error.reason} at byte {error.start}") from error


def _text(path: Path) -> str:
    try:
        return read_text(path, "labels", "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text in UTF-8; {error.reason} at byte {error.start}") from error


_READERS: dict[str, Callable[[Path], About]] = {
    ".npy": lambda path: {"y": read_values(path)},
    ".txt": lambda path: {"y": read_values(path)},
    ".csv": _read_table,
    ".tsv": _read_table,
    ".jsonl": _read_objects,
    ".parquet": _read_parquet,
}

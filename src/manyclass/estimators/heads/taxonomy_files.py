"""Parents of nodes, by files and by labels that are paths."""

import csv
import os
from collections.abc import Iterable, Iterator

from manyclass._core.reading import open_file

CHILD, PARENT = "child", "parent"

_MOST_FIELD = 1 << 16  # letters of a name


def read_parents(path: str | os.PathLike[str]) -> dict[str, str]:
    """{child: parent} of a CSV file with these two columns, in UTF-8; others are passed over.

    The root may have a line with an empty parent.
    """
    with open_file(path, "labels") as file:
        data = file.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)} must be text in UTF-8; byte {error.start} is not") from None
    parents: dict[str, str] = {}
    for line, child, parent in _lines(text, os.fspath(path)):
        if parents.setdefault(child, parent) != parent:
            raise ValueError(
                f"{os.fspath(path)} must have one parent for each child; line {line} gives {child!r} the parent "
                f"{parent!r} besides {parents[child]!r}"
            )
    if not parents:
        raise ValueError(f"{os.fspath(path)} must have a line for each child; it has none")
    return parents


def _lines(text: str, path: str) -> Iterator[tuple[int, str, str]]:
    """(number, child, parent) of each line below the header."""
    rows = csv.reader(text.splitlines())
    try:
        header = [name.strip().lower() for name in next(rows, [])]
        if CHILD not in header or PARENT not in header:
            raise ValueError(f"{path} must begin with a line that names the columns {CHILD} and {PARENT}; got {header}")
        at = header.index(CHILD), header.index(PARENT)
        for row in rows:
            if not any(row):
                continue
            if len(row) <= max(at) or not row[at[0]]:
                raise ValueError(
                    f"{path} must have a {CHILD} and a {PARENT} in every line; line {rows.line_num} lacks one"
                )
            if max(map(len, row)) > _MOST_FIELD:
                raise ValueError(f"{path} must have names of at most {_MOST_FIELD} letters; see line {rows.line_num}")
            yield rows.line_num, row[at[0]], row[at[1]]
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}, line {rows.line_num}") from None


def parents_of_paths(paths: Iterable[str], separator: str = "/") -> dict[str, str | None]:
    """{node: parent} of labels that are paths; nodes are named by the whole path to them.

    >>> parents_of_paths(["plant/tree/oak", "plant/moss"])
    {'plant/tree/oak': 'plant/tree', 'plant/tree': 'plant', 'plant': None, 'plant/moss': 'plant'}
    """
    if not separator:
        raise ValueError("separator must be some text; got ''")
    parents: dict[str, str | None] = {}
    for path in paths:
        if not isinstance(path, str) or not all(path.split(separator)):
            raise ValueError(
                f"label paths must be text such as 'plant{separator}tree' without empty steps; got {path!r}"
            )
        node = path
        while separator in node and node not in parents:
            parents[node] = node = node.rpartition(separator)[0]
        parents.setdefault(node, None)
    return parents

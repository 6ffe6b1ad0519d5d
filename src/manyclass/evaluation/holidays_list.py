"""The list of images of INRIA Holidays: the number of an image tells its group and whether it is the query."""

from pathlib import Path

import numpy as np

from manyclass.evaluation.names import places, stem
from manyclass.evaluation.truth import Query, Truth

_GROUP = 100  # numbers of a group; its first one is the query


def read_holidays(path: Path) -> Truth:
    """Truth by a text file of names such as 100000.jpg, one a line; the rest of its group is right for a query."""
    names = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    places(names)
    numbers = np.array([_number(name, line, path) for line, name in enumerate(names, 1)], np.int64)
    groups = numbers // _GROUP
    first = np.flatnonzero(numbers % _GROUP == 0)
    if len(without := np.setdiff1d(groups, groups[first])) or not len(first):
        lacking = f"; group {without[0]} has none" if len(without) else "; it is empty"
        raise ValueError(f"{path} must have a query, whose number ends in 00, for every group{lacking}")
    rows = ((int(row), np.setdiff1d(np.flatnonzero(groups == groups[row]), [row])) for row in first)
    return Truth(tuple(names), tuple(Query(names[row], right, row=row) for row, right in rows))


def _number(name: str, line: int, path: Path) -> int:
    short = stem(name)
    if not (short.isascii() and short.isdigit() and len(short) < 19):
        raise ValueError(f"{path} must list images by number, such as 100000.jpg; got {name[:40]!r} in line {line}")
    return int(short)

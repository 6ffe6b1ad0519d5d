"""Truth by the record that .mat files and pickles hold: imlist, qidx or qimlist, and gnd for every query."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manyclass.evaluation.ground_truth import Box, Query, Rows, Truth, positions_of_names, stem

_LONGEST = 4096  # letters of a name, as of a path


def truth_from_record(record: Any, first: int) -> Truth:
    """Truth by a mapping with

    - imlist: names of the database's images;
    - qidx, places of the queries among them, or qimlist, names of the queries;
    - gnd: for every query a mapping of `ok` or of `easy` and `hard`, of `junk`, and perhaps of `bbx`.

    Images are numbered from `first` on. A query whose name is in imlist is in the database.
    """
    images, entries = _field(record, "imlist", "the file"), _as_list(_field(record, "gnd", "the file"))
    names = _as_names(images, "imlist")
    position = positions_of_names(names)
    if "qidx" in record:
        rows: list[int | None] = [int(row) for row in _as_rows(record["qidx"], first, "qidx")]
        query_names = [_name_at(names, row) for row in rows]
    else:
        query_names = _as_names(_field(record, "qimlist", "the file"), "qimlist")
        rows = [position.get(stem(name)) for name in query_names]
    if len(entries) != len(query_names):
        raise ValueError(f"gnd must have an entry for every query ({len(query_names)}); got {len(entries)}")
    queries = (_query(name, row, entry, first) for name, row, entry in zip(query_names, rows, entries, strict=True))
    return Truth(tuple(names), tuple(queries))


def _query(name: str, row: int | None, entry: Any, first: int) -> Query:
    where = f"gnd of query {name!r}"
    revisited = isinstance(entry, Mapping) and "easy" in entry
    easy = _as_rows(_field(entry, "easy" if revisited else "ok", where), first, where)
    hard = _as_rows(_field(entry, "hard", where) if revisited else (), first, where)
    junk = _as_rows(entry.get("junk", ()), first, where)
    return Query(name, easy, hard, junk, row, _as_box(entry.get("bbx"), where))


def _field(record: Any, key: str, where: str) -> Any:
    if not isinstance(record, Mapping):
        raise ValueError(f"{where} must be a mapping with {key!r}; got {type(record).__name__}")
    if key not in record:
        raise ValueError(f"{where} must have {key!r}; got {', '.join(str(known) for known in record)[:80]}")
    return record[key]


def _as_list(values: Any) -> Sequence[Any]:
    # MATLAB does not tell one of something from a list of one.
    if isinstance(values, Mapping | str):
        return [values]
    if isinstance(values, list | tuple):
        return values
    if isinstance(values, np.ndarray):
        return values.ravel().tolist()
    raise ValueError(f"gnd, imlist and qimlist must be lists; got {type(values).__name__}")


def _as_names(values: Any, key: str) -> list[str]:
    names = _as_list(values)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise ValueError(f"{key} must list names of images; got {type(wrong[0]).__name__}")
    # A short file can name one long string very often, and every name is copied.
    if (longest := max(map(len, names), default=0)) > _LONGEST:
        raise ValueError(f"{key} must list names of at most {_LONGEST} characters; got one of {longest}")
    return [name.strip() for name in names]


def _name_at(names: list[str], row: int | None) -> str:
    if row is None or not 0 <= row < len(names):
        raise ValueError(f"qidx must name rows of the database, in [0, {len(names)}); got {row}")
    return names[row]


def _as_rows(values: Any, first: int, where: str) -> Rows:
    """Rows from 0 on, out of one number, a flat list or an array of whole numbers."""
    flat = isinstance(values, list | tuple) and all(isinstance(value, int) for value in values)
    if not flat and not isinstance(values, int | float | np.ndarray):
        raise ValueError(f"{where} must be a list of whole numbers; got {type(values).__name__}")
    numbers = np.ravel(np.asarray(values))
    if not numbers.size:
        return np.zeros(0, np.intp)
    whole = numbers.dtype.kind in "iuf" and bool((numbers == np.trunc(numbers)).all())
    if not whole or numbers.min() < first or numbers.max() >= 2**62:
        raise ValueError(f"{where} must hold whole numbers from {first} on; got {numbers[:5].tolist()}")
    return numbers.astype(np.intp) - first


def _as_box(values: Any, where: str) -> Box | None:
    if values is None:
        return None
    numbers = np.ravel(values).tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(numbers, list | tuple) or [isinstance(number, int | float) for number in numbers] != [True] * 4:
        raise ValueError(f"{where} must have four numbers as bbx; got {type(values).__name__}")
    left, top, right, bottom = (float(number) for number in numbers)
    return left, top, right, bottom

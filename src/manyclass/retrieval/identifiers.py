"""Ids of images: integers or strings, one kind in a gallery."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Id = int | str


def as_ids(ids: Any) -> list[Id]:
    """One id or some, as a list of plain integers or strings."""
    if isinstance(ids, str | int | np.integer):
        ids = [ids]
    try:
        values = np.atleast_1d(ids).tolist() if isinstance(ids, np.ndarray) else list(ids)
        if isinstance(ids, bytes | bytearray):
            raise TypeError
    except TypeError:
        raise ValueError(f"ids must be integers or strings, one per image; got {ids!r}") from None
    return [_as_id(value, row) for row, value in enumerate(values)]


def distinct_ids(ids: Any) -> list[Id]:
    """The same of ids of one kind, none of them twice."""
    keys = as_ids(ids)
    if keys:
        check_kind(keys, None)
    if len(set(keys)) != len(keys):
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise ValueError(f"ids must be distinct; got {twice!r} twice")
    return keys


def as_array(ids: Iterable[Id], shape: tuple[int, ...], strings: bool) -> NDArray[Any]:
    """Ids as an array of int64 or of strings."""
    flat = list(ids)
    return np.array(flat, dtype=np.str_ if strings and flat else None if strings else np.int64).reshape(shape)


def check_kind(ids: list[Id], strings: bool | None) -> bool:
    """Whether these ids are strings; refuse two kinds among them, or another than the gallery has (None: none yet)."""
    kind = isinstance(ids[0], str) if strings is None else strings
    wrong = next((value for value in ids if isinstance(value, str) is not kind), None)
    if wrong is not None:
        raise ValueError(f"ids must all be {'strings' if kind else 'integers'} in this gallery; got {wrong!r}")
    return kind


def _as_id(value: Any, row: int) -> Id:
    if isinstance(value, str):
        return _as_text(str(value), row)
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return int(value)
    raise ValueError(f"ids must be 64-bit integers or strings; got {value!r} at row {row}")


def _as_text(value: str, row: int) -> str:
    # NumPy drops NUL at the end of a string, and no file can hold half a character.
    if value.endswith("\0") or (not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise ValueError(
            f"ids must be text that does not end in NUL and has no lone surrogates; got {value!r} at row {row}"
        )
    return value

"""Shapes: what the JSON of a record must look like.

A shape is a function of a value and of words for its place. It gives the value back, with entries that may be absent
filled in as None and NumPy's scalars as plain numbers, or raises ValueError in one sentence about the first place that
is wrong.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Shape = Callable[[Any, str], Any]


def text(value: Any, where: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise _wrong(where, "text", value)
    return str(value)


def name(value: Any, where: str) -> str:
    """A name of a class or row: text, or a whole number, which becomes text."""
    if isinstance(value, bool) or not isinstance(value, str | int | np.integer):
        raise _wrong(where, "a name", value)
    return str(value)


def boolean(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool | np.bool_):
        raise _wrong(where, "true or false", value)
    return bool(value)


def number(value: Any, where: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise _wrong(where, "a number", value)
    plain = value.item() if isinstance(value, np.generic) else value
    if not math.isfinite(plain):
        raise ValueError(f"{where} must be a finite number or null; got {plain}")
    return plain  # whole numbers stay whole


def count(value: Any, where: str) -> int:
    """A whole number, at least 0."""
    if number(value, where) < 0 or value != int(value):
        raise _wrong(where, "a whole number, at least 0", value)
    return int(value)


def fraction(value: Any, where: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= number(value, where) <= 1:
        raise _wrong(where, "a share from 0 to 1", value)
    return float(value)


def digest(value: Any, where: str) -> str:
    """A SHA-256 in hexadecimal digits."""
    if not re.fullmatch("[0-9a-f]{64}", text(value, where)):
        raise _wrong(where, "a SHA-256 in 64 digits", value)
    return str(value)


def file_name(value: Any, where: str) -> str:
    """The name of a file of a run, which lies in its folder."""
    if not re.fullmatch(r"(?:model|encoder)-(?:0|[1-9][0-9]{0,8})\.safetensors", text(value, where)):
        raise _wrong(where, "the name of a model or an encoder", value)
    return str(value)


def anything(value: Any, where: str) -> Any:
    """Whatever JSON holds, with finite numbers and text for keys."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.number):
        return number(value, where)
    if isinstance(value, list | tuple):
        return list_of(anything)(list(value), where)
    if isinstance(value, Mapping):
        return {text(key, f"a key of {where}"): anything(entry, f"{where}.{key}") for key, entry in value.items()}
    raise _wrong(where, "what JSON can hold", value)


def entries_of(value: Any, where: str) -> dict[str, Any]:
    """Any object of JSON."""
    if not isinstance(value, Mapping):
        raise _wrong(where, "an object", value)
    plain: dict[str, Any] = anything(value, where)
    return plain


def optional(shape: Shape) -> Shape:
    """That shape, or null; an entry of a record that may be absent."""

    def check(value: Any, where: str) -> Any:
        return None if value is None else shape(value, where)

    check.optional = True  # type: ignore[attr-defined]
    return check


def list_of(shape: Shape) -> Shape:
    """A list whose items have one shape."""

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise _wrong(where, "a list", value)
        return [shape(item, f"{where}[{i}]") for i, item in enumerate(value)]

    return check


def object_of(**shapes: Shape) -> Shape:
    """An object with these entries; `class_` is the entry "class". Others that are there are kept.

    >>> object_of(rows=count, note=optional(text))({"rows": 3}, "data")
    {'rows': 3, 'note': None}
    >>> object_of(rows=count)({"rows": -1}, "data")
    Traceback (most recent call last):
    ValueError: data.rows must be a whole number, at least 0; got -1
    """
    named = {key.rstrip("_"): shape for key, shape in shapes.items()}

    def check(value: Any, where: str) -> dict[str, Any]:
        plain = entries_of(value, where) if not isinstance(value, dict) else value
        for key, shape in named.items():
            if key not in plain and not hasattr(shape, "optional"):
                raise ValueError(f"{where} must have the entry {key!r}; got {', '.join(map(str, plain))[:80] or None}")
        known = {key: shape(plain.get(key), f"{where}.{key}") for key, shape in named.items()}
        others = {text(key, f"a key of {where}"): entry for key, entry in plain.items() if key not in named}
        return known | {key: anything(entry, f"{where}.{key}") for key, entry in others.items()}

    return check


def having(shape: Shape, **shapes: Shape) -> Shape:
    """An object of a shape, in which these entries have theirs if they are there and not null.

    >>> having(entries_of, rank=count)({"name": "x"}, "model")
    {'name': 'x'}
    """

    def check(value: Any, where: str) -> dict[str, Any]:
        plain: dict[str, Any] = shape(value, where)
        given = {key: one for key, one in shapes.items() if plain.get(key) is not None}
        return plain | {key: one(plain[key], f"{where}.{key}") for key, one in given.items()}

    return check


def _wrong(where: str, rule: str, value: Any) -> ValueError:
    return ValueError(f"{where} must be {rule}; got {str(value)[:60] if np.isscalar(value) else type(value).__name__}")

"""Integers or text, from an Arrow column."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_whole(kind: Any) -> bool:
    """Whether an Arrow type holds integers, or yes and no."""
    from pyarrow import types

    kind = _value(kind)
    return bool(types.is_integer(kind) or types.is_boolean(kind))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds text, or bytes that may be text."""
    from pyarrow import types

    kind = _value(kind)
    able = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return any(is_kind(kind) for is_kind in able)


def plain(column: Any, source: str) -> NDArray[Any]:
    """The values (n,) of a column without gaps as integers, bools or strings; `source` is for complaints."""
    if not is_whole(column.type) and not is_text(column.type):
        raise ValueError(f"{source} must be integers or strings; got {column.type}")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise ValueError(f"{source} must have no gaps; row {row} is null")
    if is_whole(column.type):
        return np.asarray(column.to_numpy())
    return np.array([_word(value, row, source) for row, value in enumerate(column.to_pylist())], np.str_)


def _word(value: str | bytes, row: int, source: str) -> str:
    try:
        return value if isinstance(value, str) else value.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} must be text in UTF-8; row {row} is not") from error


def _value(kind: Any) -> Any:
    from pyarrow import types

    return kind.value_type if types.is_dictionary(kind) else kind

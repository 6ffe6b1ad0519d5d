"""Vectors of one length, from an Arrow array of lists or of bytes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_list(kind: Any) -> bool:
    """Whether an Arrow type holds lists of numbers."""
    from pyarrow import types

    kind = _storage(kind)
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))


def is_vector(kind: Any) -> bool:
    """Whether an Arrow type can hold vectors: lists of numbers, or bytes."""
    from pyarrow import types

    return is_list(kind) or types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)


def vectors(column: Any, source: str, first: int) -> NDArray[Any]:
    """The rows of an Arrow array (m, d); `source` and the number of the `first` row are for complaints."""
    column = getattr(column, "storage", column)
    if column.null_count:
        missing = column.is_null().to_numpy(zero_copy_only=False)
        raise ValueError(f"{source} must have no gaps; row {first + int(np.flatnonzero(missing)[0])} is null")
    return _of_lists(column, source, first) if is_list(column.type) else _of_bytes(column, source, first)


def _of_lists(column: Any, source: str, first: int) -> NDArray[Any]:
    import pyarrow.compute

    lengths = pyarrow.compute.list_value_length(column).to_numpy(zero_copy_only=False)
    _check_lengths(lengths, source, first, "numbers")
    values = column.flatten()
    d = int(lengths[0])
    if values.null_count:
        at = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(f"{source} must have no gaps; row {first + at // d} has a null at {at % d}")
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(column), d)


def _of_bytes(column: Any, source: str, first: int) -> NDArray[Any]:
    rows = column.to_pylist()
    lengths = np.array([len(row) for row in rows])
    _check_lengths(lengths, source, first, "bytes")
    if lengths[0] % 4:
        raise ValueError(f"{source} must hold the bytes of float32; got {lengths[0]} bytes in row {first}")
    return np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), -1)


def _check_lengths(lengths: NDArray[Any], source: str, first: int, unit: str) -> None:
    wrong = np.flatnonzero(lengths != lengths[0])
    if len(wrong):
        row, d = int(wrong[0]), int(lengths[0])
        raise ValueError(f"{source} must have {d} {unit} in every row; got {int(lengths[row])} in row {first + row}")


def _storage(kind: Any) -> Any:
    return getattr(kind, "storage_type", kind)  # what an extension type, such as a tensor, is kept as

"""Values as JSON and arrays, and back: what parameters and fitted attributes are in files.

What JSON has stands for itself, as do lists; all else is an object with one entry, whose name says what it is.
"""

import math
import re
from enum import StrEnum
from typing import Any

import numpy as np

from manyclass._core.reading import check_unpacked
from manyclass._core.sealed import DTYPES
from manyclass._core.typing import Arrays

_EXACT = (bool, int, str, type(None))

# What arrays and numbers of files may be: text of some length or objects, numbers of few kinds.
_TEXT, _NUMBER = re.compile(r"[<>=|]?U\d{1,9}|\|?O"), re.compile(r"[<>=|]?(?:[iu][1248]|f[248]|b1)")


def encode_value(value: Any, name: str, arrays: Arrays) -> Any:
    """`value` as JSON; arrays of numbers are put into `arrays`, under names that begin with `name`.

    >>> arrays = {}
    >>> encode_value({"a": (1, np.float32(0.5)), 2: np.eye(2)}, "x", arrays), list(arrays)
    ({'dict': [['a', {'tuple': [1, {'scalar': ['<f4', 0.5]}]}], [2, {'tensor': ['x.2', '<f8']}]]}, ['x.2'])
    """
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, arrays)
    if isinstance(value, np.str_) or (isinstance(value, np.generic) and _can_hold(np.asarray(value))):
        return {"scalar": [value.dtype.str, encode_value(value.item(), name, arrays)]}
    if isinstance(value, StrEnum):
        return value.value
    if type(value) in _EXACT or (type(value) is float and math.isfinite(value)):
        return value
    if type(value) is float:
        return {"float": repr(value)}
    if type(value) in (list, tuple):
        items = [encode_value(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
        return items if type(value) is list else {"tuple": items}
    if type(value) is dict:
        return {
            "dict": [[encode_value(k, name, arrays), encode_value(v, f"{name}.{k}", arrays)] for k, v in value.items()]
        }
    raise TypeError(f"{name} must be made of numbers, text and arrays to be saved; got {type(value).__name__}")


def decode_value(value: Any, arrays: Arrays) -> Any:
    """The value of which `encode_value` made this."""
    if isinstance(value, list):
        return [decode_value(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, what),) = value.items()
    return _DECODERS[kind](what, arrays)


def _encode_array(array: Any, name: str, arrays: Arrays) -> Any:
    if _can_hold(array):
        while name in arrays:  # the keys 1 and "1" of a dictionary
            name += "'"
        arrays[name] = array
        return {"tensor": [name, array.dtype.str]}
    if array.dtype.kind not in "UO":
        raise TypeError(f"{name} must hold numbers or text to be saved; got dtype {array.dtype}")
    values = [encode_value(item, f"{name}.{i}", arrays) for i, item in enumerate(array.reshape(-1).tolist())]
    return {"array": [array.dtype.str, list(array.shape), values]}


def _can_hold(array: Any) -> bool:
    """Whether an array of this dtype, in either byte order, may go into a file as it is."""
    return array.dtype.newbyteorder("<") in DTYPES.values()


def _decode_array(what: Any, arrays: Arrays) -> Any:
    dtype, shape, values = what
    if not isinstance(dtype, str) or not _TEXT.fullmatch(dtype):
        raise ValueError(f"an array of dtype {str(dtype)[:40]} cannot be stored as a list")
    decoded = [decode_value(value, arrays) for value in values]
    # A short file can ask for very long strings, each of which would take its whole length.
    kind, letters = np.dtype(dtype), sum(len(value) for value in decoded if isinstance(value, str))
    check_unpacked(len(decoded) * kind.itemsize, 4 * letters, "an array of strings")
    array = np.empty(len(decoded), kind)
    # Item by item: NumPy would make of a list of tuples what it likes.
    for i, value in enumerate(decoded):
        array[i] = value
    return array.reshape(shape)


def _decode_tensor(what: Any, arrays: Arrays) -> Any:
    name, dtype = what
    array = arrays.pop(name)  # once: in another byte order it is copied
    if _number_dtype(dtype).newbyteorder("<") != array.dtype.newbyteorder("<"):
        raise ValueError(f"{name} must have the dtype {array.dtype}; got {dtype!r}")
    return array.astype(np.dtype(dtype), copy=False)


def _decode_scalar(what: Any, arrays: Arrays) -> Any:
    dtype, value = what
    decoded = decode_value(value, arrays)
    if isinstance(decoded, str) and isinstance(dtype, str) and _TEXT.fullmatch(dtype):
        return np.str_(decoded)
    if not isinstance(decoded, int | float):
        raise ValueError(f"a number cannot be stored as {type(decoded).__name__}")
    return _number_dtype(dtype).type(decoded)


def _number_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of that name, if files may have it."""
    if not isinstance(dtype, str) or not _NUMBER.fullmatch(dtype):
        raise ValueError(f"numbers cannot be stored as dtype {str(dtype)[:40]}")
    return np.dtype(dtype)


_DECODERS: dict[str, Any] = {
    "array": _decode_array,
    "tensor": _decode_tensor,
    "scalar": _decode_scalar,
    "float": lambda what, arrays: float(what),
    "tuple": lambda what, arrays: tuple(decode_value(what, arrays)),
    "dict": lambda what, arrays: {decode_value(k, arrays): decode_value(v, arrays) for k, v in what},
}

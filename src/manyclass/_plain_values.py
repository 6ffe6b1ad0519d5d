"""Values as JSON and arrays, and exactly back: numbers, text, NumPy's scalars and arrays, lists, tuples, dictionaries.

What JSON has stands for itself, as do lists. All else is an object with one entry, whose name says what it is.
"""

import math
from typing import Any

import numpy as np

from manyclass._tensors import Arrays, can_hold

_EXACT = (bool, int, str, type(None))


def encode(value: Any, name: str, arrays: Arrays) -> Any:
    """`value` as JSON; arrays of numbers are put into `arrays`, under names that begin with `name`.

    >>> arrays = {}
    >>> encode({"a": (1, np.float32(0.5)), 2: np.eye(2)}, "x", arrays), list(arrays)
    ({'dict': [['a', {'tuple': [1, {'scalar': ['<f4', 0.5]}]}], [2, {'tensor': ['x.2', '<f8']}]]}, ['x.2'])
    """
    if isinstance(value, np.ndarray):
        return _encode_array(value, name, arrays)
    if isinstance(value, np.str_) or (isinstance(value, np.generic) and can_hold(np.asarray(value))):
        return {"scalar": [value.dtype.str, encode(value.item(), name, arrays)]}
    if type(value) in _EXACT or (type(value) is float and math.isfinite(value)):
        return value
    if type(value) is float:
        return {"float": repr(value)}
    if type(value) in (list, tuple):
        items = [encode(item, f"{name}.{i}", arrays) for i, item in enumerate(value)]
        return items if type(value) is list else {"tuple": items}
    if type(value) is dict:
        return {"dict": [[encode(k, name, arrays), encode(v, f"{name}.{k}", arrays)] for k, v in value.items()]}
    raise TypeError(f"{name} must be made of numbers, text and arrays to be saved; got {type(value).__name__}")


def decode(value: Any, arrays: Arrays) -> Any:
    """The value of which `encode` made this."""
    if isinstance(value, list):
        return [decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, what),) = value.items()
    return _DECODERS[kind](what, arrays)


def _encode_array(array: Any, name: str, arrays: Arrays) -> Any:
    if can_hold(array):
        while name in arrays:  # the keys 1 and "1" of a dictionary
            name += "'"
        arrays[name] = array
        return {"tensor": [name, array.dtype.str]}
    if array.dtype.kind not in "UO":
        raise TypeError(f"{name} must hold numbers or text to be saved; got dtype {array.dtype}")
    values = [encode(item, f"{name}.{i}", arrays) for i, item in enumerate(array.reshape(-1).tolist())]
    return {"array": [array.dtype.str, list(array.shape), values]}


def _decode_array(what: Any, arrays: Arrays) -> Any:
    dtype, shape, values = what
    if np.dtype(dtype).kind not in "UO":
        raise ValueError(f"an array of dtype {dtype} cannot be stored as a list")
    array = np.empty(len(values), dtype)
    # Item by item: NumPy would make of a list of tuples what it likes.
    for i, value in enumerate(values):
        array[i] = decode(value, arrays)
    return array.reshape(shape)


def _decode_tensor(what: Any, arrays: Arrays) -> Any:
    name, dtype = what
    return arrays[name].astype(np.dtype(dtype), copy=False)


def _decode_scalar(what: Any, arrays: Arrays) -> Any:
    dtype, value = what
    return np.dtype(dtype).type(decode(value, arrays))


_DECODERS: dict[str, Any] = {
    "array": _decode_array,
    "tensor": _decode_tensor,
    "scalar": _decode_scalar,
    "float": lambda what, arrays: float(what),
    "tuple": lambda what, arrays: tuple(decode(what, arrays)),
    "dict": lambda what, arrays: {decode(k, arrays): decode(v, arrays) for k, v in what},
}

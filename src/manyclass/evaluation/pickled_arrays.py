"""NumPy's arrays, types and numbers as pickles spell them, built without calling what the pickle names."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class NotPlainError(ValueError):
    """The pickle asks for something that is not plain data."""


class PickledType:
    """A type of numbers or strings of fixed length, whose byte order comes later."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[<>|=]?(b1|[iu][1248]|f[248]|[SU][1-9]\d{0,5})", code):
            raise NotPlainError(f"the pickle must have arrays of numbers or strings; got one of type {code!r:.40}")
        self.dtype = np.dtype(code)

    def build(self, state: Any) -> "PickledType":
        order = state[1]
        if order not in ("<", ">", "|", "="):
            raise NotPlainError(f"the pickle must have numbers of a known byte order; got {order!r:.40}")
        self.dtype = self.dtype.newbyteorder(order)
        return self


class PickledArray:
    """An array that a pickle makes empty and fills later, and may mention again after that."""

    def __init__(self, *_: Any) -> None:
        self.built: NDArray[Any] | None = None

    def build(self, state: Any) -> NDArray[Any]:
        _, shape, dtype, columns_first, content = state
        self.built = _array(content, dtype, shape, "F" if columns_first else "C")
        return self.built


class Call:
    """A name in a pickle that stands for one of our own functions."""

    def __init__(self, module: str, name: str) -> None:
        self._function = CALLS[module, name]

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)


def build(made: Any, state: Any) -> Any:
    """Fill what was made empty: an array or a type."""
    if not isinstance(made, PickledArray | PickledType):
        raise NotPlainError(f"the pickle must hold plain data; it sets the state of a {type(made).__name__}")
    return made.build(state)


def _array(content: Any, dtype: Any, shape: Any, order: str) -> NDArray[Any]:
    # Python 2 wrote bytes as text.
    data = content.encode("latin1") if isinstance(content, str) else content
    if not isinstance(data, bytes | bytearray) or not isinstance(dtype, PickledType):
        raise NotPlainError(f"the pickle must have arrays of numbers or strings; got one of {type(content).__name__}")
    if not all(isinstance(side, int) and side >= 0 for side in shape):
        raise NotPlainError(f"the pickle must have arrays of a known shape; got {shape!r:.40}")
    flat = np.frombuffer(data, dtype.dtype) if data else np.zeros(0, dtype.dtype)
    return flat.reshape(shape, order="F" if order == "F" else "C")


def _from_buffer(content: Any, dtype: Any, shape: Any, order: Any) -> NDArray[Any]:
    return _array(content, dtype, shape, order)


def _scalar(dtype: Any, content: Any) -> Any:
    return _array(content, dtype, (), "C").item()


def _encode(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise NotPlainError(f"the pickle must write bytes in latin1; got {encoding!r:.40}")
    return text.encode("latin1")


def _no_bytes(*arguments: Any) -> bytes:
    if arguments:
        raise NotPlainError("the pickle must call for bytes only where there are none; it is damaged")
    return b""


def _not_called(*_: Any) -> Any:
    raise NotPlainError("the pickle must make arrays as NumPy writes them; it makes one directly")


CALLS: dict[tuple[str, str], Callable[..., Any]] = {
    ("_codecs", "encode"): _encode,
    ("__builtin__", "bytes"): _no_bytes,
    ("numpy", "dtype"): PickledType,
    ("numpy", "ndarray"): _not_called,
}
for _core in ("numpy.core", "numpy._core"):  # NumPy 1 and 2
    CALLS[f"{_core}.multiarray", "_reconstruct"] = PickledArray
    CALLS[f"{_core}.multiarray", "scalar"] = _scalar
    CALLS[f"{_core}.numeric", "_frombuffer"] = _from_buffer

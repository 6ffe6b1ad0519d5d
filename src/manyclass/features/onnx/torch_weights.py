"""Weights in a file of PyTorch, as it wrote them before version 1.6, read without executing anything in it.

Such a file is five pickles (a magic number, a version, the machine, a dict of tensors, the keys of their storages) and
then the numbers of every storage. Of the fourth, a program for a stack machine, only what builds a dict of tensors is
understood: names, numbers, tuples and dicts; the two functions that it may name are recognized, and never looked up.
"""

import io
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_DTYPES = {"torch FloatStorage": "<f4", "torch LongStorage": "<i8"}


class _Tensor(NamedTuple):
    """A tensor of numbers that come later: its storage, where it begins in it, its shape and strides."""

    storage: tuple[Any, ...]
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_torch_weights(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a file by their names.

    Parameters
    ----------
    data : bytes
        What is in the file.
    path : Path
        Where it is, for errors.

    Returns
    -------
    dict of str to ndarray
        Tensors, which share the memory of `data`.

    Raises
    ------
    ValueError
        If the file is not of this kind, or holds anything but tensors.
    """
    file = io.BytesIO(data)
    try:
        magic, version, _, tensors, keys = (_Machine().run(file) for _ in range(5))
        if (magic, version) != (0x1950A86A20F9469CFC6C, 1001):
            raise ValueError("it has another magic number or version")
        storages = _storages(data, file.tell(), tensors, keys)
        return {name: _array(tensor, storages) for name, tensor in tensors.items()}
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} must hold weights as PyTorch writes them; it cannot be read: {error}") from None


def _storages(data: bytes, at: int, tensors: dict[str, _Tensor], keys: list[str]) -> dict[str, NDArray[Any]]:
    """The numbers of each storage: they follow one another, after how many there are."""
    kinds = {tensor.storage[2]: (_DTYPES[tensor.storage[1]], tensor.storage[4]) for tensor in tensors.values()}
    storages = {}
    for key in keys:
        dtype, n = kinds[key]
        if np.frombuffer(data, "<i8", 1, at)[0] != n:
            raise ValueError(f"a storage of {n} numbers has another length")
        storages[key] = np.frombuffer(data, dtype, n, at + 8)
        at += 8 + storages[key].nbytes
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes are left over")
    return storages


def _array(tensor: _Tensor, storages: dict[str, NDArray[Any]]) -> NDArray[Any]:
    numbers, (_, start, shape, strides) = storages[tensor.storage[2]], tensor
    last = start + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if min((start, *strides)) < 0 or min(shape, default=1) < 1 or last >= len(numbers):
        raise ValueError(f"a tensor of shape {shape} reaches beyond its storage")
    at = [n * numbers.itemsize for n in strides]
    return np.lib.stride_tricks.as_strided(numbers[start:], shape, at, writeable=False)


class _Machine:
    """The stack machine of pickles, with a few of its operations."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def run(self, file: io.BytesIO) -> Any:
        """What the next pickle of a file builds."""
        value: Any
        for operation, value, _ in pickletools.genops(file):
            name = operation.name
            if name in _PUSHES:
                self._stack.append(_PUSHES[name](value))
            elif name in ("BINPUT", "LONG_BINPUT"):
                self._memo[value] = self._stack[-1]
            elif name in ("BINGET", "LONG_BINGET"):
                self._stack.append(self._memo[value])
            elif name == "MARK":
                self._marks.append(len(self._stack))
            elif name == "BUILD":  # attributes of a dict, which it can do without
                self._stack.pop()
            elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
                self._stack.append(tuple(self._popped(len(self._stack) - int(name[-1]))))
            elif name == "TUPLE":
                self._stack.append(tuple(self._since_mark()))
            elif name in ("SETITEM", "SETITEMS"):
                items = self._popped(len(self._stack) - 2) if name == "SETITEM" else self._since_mark()
                self._stack[-1].update(zip(items[::2], items[1::2], strict=True))
            elif name == "APPENDS":
                items = self._since_mark()
                self._stack[-1].extend(items)
            elif name == "REDUCE":
                function, arguments = self._popped(len(self._stack) - 2)
                self._stack.append(_REDUCED[function](*arguments))
            elif name not in ("PROTO", "STOP", "BINPERSID"):  # a storage is known by the tuple that names it
                raise ValueError(f"{name} is not used by tensors")
        (built,) = self._stack
        return built

    def _since_mark(self) -> list[Any]:
        return self._popped(self._marks.pop())

    def _popped(self, start: int) -> list[Any]:
        if start < 0:
            raise ValueError("its stack is empty")
        items = self._stack[start:]
        del self._stack[start:]
        return items


def _same(value: Any) -> Any:
    return value


_PUSHES: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("BINUNICODE", "BININT", "BININT1", "BININT2", "LONG1", "GLOBAL"), _same),
    "NONE": lambda _: None,
    "NEWTRUE": lambda _: True,
    "NEWFALSE": lambda _: False,
    "EMPTY_DICT": lambda _: {},
    "EMPTY_LIST": lambda _: [],
    "EMPTY_TUPLE": lambda _: (),
}

_REDUCED: dict[str, Callable[..., Any]] = {
    "collections OrderedDict": dict,
    "torch._utils _rebuild_tensor_v2": lambda storage, start, shape, strides, *_: _Tensor(
        storage, start, shape, strides
    ),
}

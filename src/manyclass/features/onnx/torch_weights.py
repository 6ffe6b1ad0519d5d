"""Weights in a file of PyTorch, as it wrote them before version 1.6, read without executing anything in it.

Such a file is five pickles (a magic number, a version, the machine, a dict of tensors, the keys of their storages) and
then the numbers of every storage.
"""

import io
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.safe_pickle import PickleMachine


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
        magic, version, _, tensors, keys = (_next_pickle(file) for _ in range(5))
        if (magic, version) != (0x1950A86A20F9469CFC6C, 1001):
            raise ValueError("it has another magic number or version")
        storages = _storages(data, file.tell(), tensors, keys)
        return {name: _array(tensor, storages) for name, tensor in tensors.items()}
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} must hold weights as PyTorch writes them; it cannot be read: {error}") from None


def _storages(data: bytes, at: int, tensors: dict[str, _Tensor], keys: list[str]) -> dict[str, NDArray[Any]]:
    """The numbers of each storage: they follow one another, after how many there are."""
    kinds = {tensor.storage[2]: (tensor.storage[1](), tensor.storage[4]) for tensor in tensors.values()}
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


def _next_pickle(file: io.BytesIO) -> Any:
    machine = PickleMachine(_CALLS, budget=0)
    for code, argument, _ in pickletools.genops(file):
        if code.name == "BUILD":
            machine.pop(1)  # attributes of a dict, which it can do without
        elif code.name != "BINPERSID":  # a storage is known by the tuple that names it
            machine.step(code.name, argument)
    return machine.result()


_CALLS: dict[tuple[str, str], Callable[..., Any]] = {
    ("collections", "OrderedDict"): lambda *_: {},
    ("torch._utils", "_rebuild_tensor_v2"): lambda storage, start, shape, strides, *_: _Tensor(
        storage, start, shape, strides
    ),
    ("torch", "FloatStorage"): lambda: np.dtype("<f4"),
    ("torch", "LongStorage"): lambda: np.dtype("<i8"),
}

"""The reader against the pickles that it must understand, written here by Python's own pickle, and against others."""

import collections
import io
import os
import pickle
import struct
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manyclass.features.onnx.torch_weights import read_torch_weights

MAGIC = 0x1950A86A20F9469CFC6C
PATH = Path("w.pth")


class Tensor:
    """What PyTorch's pickler makes of a tensor: a call of a function on a storage that is named."""

    def __init__(self, array, key, strides=None, start=0, n=None, kind="FloatStorage"):
        self.array, self.key, self.start, self.kind = array, key, start, kind
        self.strides = tuple(s // array.itemsize for s in array.strides) if strides is None else strides
        self.n = array.size if n is None else n

    def __reduce__(self):
        arguments = (Storage(self), self.start, self.array.shape, self.strides, False, collections.OrderedDict())
        return sys.modules["torch._utils"]._rebuild_tensor_v2, arguments


class Storage:
    def __init__(self, tensor):
        self.tensor = tensor


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        tensor = value.tensor
        return ("storage", getattr(sys.modules["torch"], tensor.kind), tensor.key, "cpu", tensor.n, None)


@pytest.fixture(autouse=True)
def named_like_torch(monkeypatch):
    """Modules of the names that the pickles hold."""
    for name in ("torch", "torch._utils"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    for name in ("FloatStorage", "LongStorage", "HalfStorage"):
        setattr(sys.modules["torch"], name, type(name, (), {"__module__": "torch"}))

    def _rebuild_tensor_v2(*arguments):
        raise AssertionError("this is never called")

    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    sys.modules["torch._utils"]._rebuild_tensor_v2 = _rebuild_tensor_v2


def written(tensors, magic=MAGIC, keys=None, numbers=None):
    """The bytes of such a file."""
    file = io.BytesIO()
    keys = sorted(tensor.key for tensor in tensors.values()) if keys is None else keys
    for value in (magic, 1001, {"little_endian": True}, collections.OrderedDict(tensors), keys):
        Pickler(file, protocol=2).dump(value)
    by_key = {tensor.key: tensor.array for tensor in tensors.values()}
    for key in keys:
        array = by_key[key]
        file.write(struct.pack("<q", array.size if numbers is None else numbers) + array.tobytes(order="A"))
    return file.getvalue()


@pytest.fixture
def tensors():
    rng = np.random.default_rng(0)
    return {
        "a.weight": Tensor(rng.normal(size=(4, 3, 2)).astype(np.float32), "7"),
        "b.count": Tensor(np.array(5), "3", kind="LongStorage"),
        "c": Tensor(rng.normal(size=(5, 3)).astype(np.float32).T, "1"),
    }


def test_tensors_come_back(tensors):
    found = read_torch_weights(written(tensors), PATH)
    assert list(found) == list(tensors)
    for name, tensor in tensors.items():
        assert_array_equal(found[name], tensor.array)
        assert found[name].dtype == tensor.array.dtype


@pytest.mark.parametrize("change", [{"magic": 3}, {"numbers": 3}, {"keys": ["1", "3"]}])
def test_other_files_are_refused(tensors, change):
    with pytest.raises(ValueError, match=r"^w\.pth must hold weights as PyTorch writes them; it cannot be read: .+$"):
        read_torch_weights(written(tensors, **change), PATH)


def test_bytes_that_are_left_over_are_refused(tensors):
    with pytest.raises(ValueError, match=r"4 bytes are left over$"):
        read_torch_weights(written(tensors) + b"left", PATH)


@pytest.mark.parametrize(
    "more", [{"strides": (7, 1)}, {"strides": (-1, 1)}, {"start": 3}, {"start": -1}, {"kind": "HalfStorage"}]
)
def test_tensors_that_reach_beyond_their_storage_are_refused(more):
    array = np.zeros((2, 2), np.float32)
    with pytest.raises(ValueError, match="cannot be read"):
        read_torch_weights(written({"a": Tensor(array, "1", **more)}), PATH)


class Attack:
    def __init__(self, where):
        self.where = where

    def __reduce__(self):
        return os.mkdir, (str(self.where),)


def test_nothing_in_it_is_executed(tmp_path, tensors):
    file = io.BytesIO()
    for value in (MAGIC, 1001, {}, {"a": Attack(tmp_path / "made")}, []):
        pickle.dump(value, file, protocol=2)
    with pytest.raises(ValueError, match="cannot be read"):
        read_torch_weights(file.getvalue(), PATH)
    assert not (tmp_path / "made").exists()


def refusal(data):
    """The words by which bytes are refused; None if they are read."""
    try:
        read_torch_weights(data, PATH)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(20))
def test_changed_bytes_are_read_or_refused(tensors, seed):
    rng = np.random.default_rng(seed)
    whole = written(tensors)
    for _ in range(50):
        data = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
        end = int(rng.integers(1, len(data) + 1)) if rng.random() < 0.3 else len(data)
        words = refusal(bytes(data[:end]))
        assert words is None or (words.startswith("w.pth must hold weights") and "\n" not in words)

"""Files that notice every wrong bit: sealed JSON, and safetensors files with a seal; values as JSON and arrays.

Sealed JSON is in one exact spelling, with its own SHA-256 beside it.

A sealed file of arrays is a safetensors file (https://github.com/huggingface/safetensors), which any reader of those
opens. Its header begins, always in these bytes, with `{"__metadata__":{"sha256":"`, 64 hexadecimal digits, and then
holds `format` (what kind of file), `version` (a whole number) and `content` (JSON as a string). The digits are the
SHA-256 of the whole file with 64 zeros in their place: nothing in the file is believed, not even its header, before
they are compared. Then arrays are read to where they stay, so that a file takes no more memory than they do.

As a value, what JSON has stands for itself, as do lists; all else is an object with one entry that says what it is.
"""

import hashlib
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from io import BufferedReader
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import aligned_empty
from manyclass._core.digest import canonical_json, json_digest, sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import replacing, write_at, write_bytes
from manyclass._core.reading import check_unpacked, load_json, open_file
from manyclass._core.typing import Arrays


def seal(content: dict[str, Any]) -> bytes:
    """The content beside its digest, and a newline."""
    return canonical_json({"content": content, "sha256": json_digest(content)}) + b"\n"


def unseal(data: bytes) -> dict[str, Any]:
    """The content, if these are exactly the bytes that `seal` makes of it."""
    try:
        content = load_json(data, "it")["content"]
        exact = isinstance(content, dict) and data == seal(content)
    except (ValueError, KeyError, TypeError, RecursionError):
        exact = False
    if not exact:
        raise StorageError("does not match its own checksum")
    return content  # type: ignore[no-any-return]


def parse_json(value: Any, name: str) -> dict[str, Any]:
    """A dict as JSON gives it back."""
    try:
        if not isinstance(value, dict):
            raise TypeError(type(value).__name__)
        return json.loads(canonical_json(value))  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a dict that JSON can hold; got {error}") from None


DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BOOL": np.dtype("?"),
    "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "I16": np.dtype("<i2"), "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"), "U32": np.dtype("<u4"), "U16": np.dtype("<u2"), "U8": np.dtype("u1"),
}  # fmt: skip

_NAMES = dict(zip(DTYPES.values(), DTYPES, strict=True))

START = b'{"__metadata__":{"sha256":"'

_SEAL = slice(8 + len(START), 8 + len(START) + 64)

_UNSEALED = "0" * 64

_PIECE = 1 << 20  # bytes that are summed up at a time

_MOST_SIDES = 64  # of an array

_MOST_HEADER = 100_000_000  # bytes, as other readers of safetensors files have it

_MALFORMED = (KeyError, TypeError, ValueError, OverflowError, RecursionError)


def _nothing(content: Any) -> Collection[str]:
    return ()


@dataclass(frozen=True)
class SealedFormat:
    """A kind of file, the newest version of it that is known, and what to do about a damaged one."""

    name: str
    version: int
    advice: str

    def write(
        self, path: str | os.PathLike[str], content: Any, arrays: Mapping[str, NDArray[Any]], part: bool = False
    ) -> None:
        """Make `path` hold the content and the arrays, whole or not at all; arrays in C order are not copied.

        `part` is as for `replace_file`.
        """
        write_bytes(path, *self.pieces(content, arrays), part=part)

    def pieces(self, content: Any, arrays: Mapping[str, NDArray[Any]]) -> list[Any]:
        """The bytes of the file: its header, and one array after the other."""
        plain = {name: as_little_endian(array) for name, array in arrays.items()}
        header = bytearray(self._header(json.dumps(content, separators=(",", ":"), allow_nan=False), plain))
        data = [raw_bytes(array) for array in plain.values()]
        header[_SEAL] = sha256_digest([header, *data]).encode()
        return [header, *data]

    @contextmanager
    def filling(
        self, path: str | os.PathLike[str], content: Any, arrays: Mapping[str, NDArray[Any]]
    ) -> Iterator[Callable[[str, int, NDArray[Any]], None]]:
        """Make `path` hold the content and arrays of these shapes, whole or not at all, whose rows come later.

        What it gives writes rows of an array, of which the second argument is the number of the first; any thread may
        call it. Rows that never come are zeros.
        """
        header = bytearray(self._header(json.dumps(content, separators=(",", ":"), allow_nan=False), dict(arrays)))
        sizes = [array.nbytes for array in arrays.values()]
        starts = dict(zip(arrays, itertools.accumulate(sizes, initial=len(header)), strict=False))
        with replacing(path) as descriptor:
            os.ftruncate(descriptor, len(header) + sum(sizes))
            write_at(descriptor, header, 0)

            def put(name: str, first: int, rows: NDArray[Any]) -> None:
                like = arrays[name]
                if rows.dtype != like.dtype or rows.shape[1:] != like.shape[1:] or first + len(rows) > len(like):
                    raise ValueError(f"rows of {name} must fit into {like.shape} of {like.dtype}; got {rows.shape}")
                offset = first * math.prod(like.shape[1:]) * like.itemsize
                write_at(descriptor, raw_bytes(as_little_endian(rows)), starts[name] + offset)

            yield put
            with open(descriptor, "rb", closefd=False) as file:
                _, digest = _seals(file)
            write_at(descriptor, digest.encode(), _SEAL.start)

    def read(
        self,
        path: str | os.PathLike[str],
        rows: slice = slice(None),
        mapped: Callable[[Any], Collection[str]] = _nothing,
    ) -> tuple[Any, Arrays]:
        """(content, arrays, or these rows of each) as they were written; whatever else is refused in one sentence.

        `mapped` is told the content, and names the arrays that stay in the file and are mapped.
        """
        with open_file(path, "model") as file:
            self._check_start(path, file)
            self._check_seal(path, file)
            # Who can write a file can seal it: from here on nothing is believed either.
            try:
                header = _header(file)
                metadata = header.pop("__metadata__")
                name, version = metadata["format"], int(metadata["version"])
                known = name == self.name and version <= self.version
                content = load_json(metadata["content"], "its content") if known else None
                arrays = dict(_arrays(file, header, rows, mapped(content))) if known else {}
            except _MALFORMED as error:
                raise ValueError(
                    f"{os.fspath(path)} cannot be read as a {self.name}: {error}; {self.advice}"
                ) from error
        if name != self.name:
            raise ValueError(f"{os.fspath(path)} must hold a {self.name}; it holds a {name}")
        if version > self.version:
            raise ValueError(
                f"{os.fspath(path)} is a {self.name} of version {version}, and this manyclass reads versions up to "
                f"{self.version}; install a newer one"
            )
        return content, arrays

    def _header(self, content: str, arrays: Arrays) -> bytes:
        entries: dict[str, Any] = {
            "__metadata__": {
                "sha256": _UNSEALED, "format": self.name, "version": str(self.version), "content": content,
            }
        }  # fmt: skip
        end = 0
        for name, array in arrays.items():
            start, end = end, end + array.nbytes
            entries[name] = {"dtype": _NAMES[array.dtype], "shape": array.shape, "data_offsets": (start, end)}
        text = json.dumps(entries, separators=(",", ":")).encode("ascii")
        # Spaces up to a multiple of 8, so that the arrays are aligned in a file that is mapped.
        text += b" " * (-len(text) % 8)
        return len(text).to_bytes(8, "little") + text

    def _check_start(self, path: str | os.PathLike[str], file: BufferedReader) -> None:
        """Refuse what is no such file before all of it is read."""
        if not _starts_sealed(file):
            raise ValueError(f"{os.fspath(path)} is not a {self.name}, or its first bytes are damaged; {self.advice}")

    def _check_seal(self, path: str | os.PathLike[str], file: BufferedReader) -> None:
        seal, digest = _seals(file)
        if digest.encode() != seal:
            raise ValueError(
                f"{os.fspath(path)} is damaged: its {file.tell()} bytes do not match their checksum; {self.advice}"
            )


def starts_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as sealed files of arrays do."""
    with open_file(path, "model") as file:
        return _starts_sealed(file)


def _starts_sealed(file: BufferedReader) -> bool:
    return file.read(_SEAL.start)[8:] == START


def read_seal(path: str | os.PathLike[str]) -> str:
    """The checksum that a sealed file of arrays begins with; of another file, whatever is there."""
    with open_file(path, "model") as file:
        return file.read(_SEAL.stop)[_SEAL].decode("ascii", "replace")


def _seals(file: BufferedReader) -> tuple[bytes, str]:
    """(the checksum that a file has, the one that it should have), read to its end."""
    file.seek(0)
    start = file.read(_SEAL.stop)
    state = hashlib.sha256(start[: _SEAL.start] + _UNSEALED.encode())
    while piece := file.read(_PIECE):
        state.update(piece)
    return start[_SEAL], state.hexdigest()


def _header(file: BufferedReader) -> dict[str, Any]:
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if length > min(os.fstat(file.fileno()).st_size - 8, _MOST_HEADER):
        raise ValueError(f"its header cannot have {length} bytes")
    return load_json(file.read(length), "its header")  # type: ignore[no-any-return]


def _arrays(
    file: BufferedReader, header: dict[str, Any], rows: slice, mapped: Collection[str]
) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays that follow a header: one after the other, as safetensors files have them, and nothing else."""
    end, first, size = 0, file.tell(), os.fstat(file.fileno()).st_size
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        (start, stop), shape, dtype = entry["data_offsets"], entry["shape"], DTYPES[entry["dtype"]]
        # Few and small numbers before their product: that of a million of them takes minutes.
        few = type(shape) is list and len(shape) <= _MOST_SIDES
        whole = few and all(type(number) is int and 0 <= number < 1 << 63 for number in (start, stop, *shape))
        if not (whole and start == end and stop - start == math.prod(shape) * dtype.itemsize <= size):
            raise ValueError(f"its header does not say where {name[:80]!r} is")
        end = stop
        file.seek(first + start)
        yield name, (_map_array if name in mapped and stop > start else _read_array)(file, shape, dtype, rows)
    if first + end != size:
        raise ValueError(f"it has {size - first} bytes of arrays, and its header tells of {end}")


def _read_array(file: BufferedReader, shape: list[int], dtype: np.dtype[Any], rows: slice) -> NDArray[Any]:
    if shape and rows != slice(None):
        start, stop, _ = rows.indices(shape[0])
        file.seek(start * math.prod(shape[1:]) * dtype.itemsize, os.SEEK_CUR)
        shape = [max(0, stop - start), *shape[1:]]
    nbytes = math.prod(shape) * dtype.itemsize
    room = aligned_empty((1, -(-nbytes // 4))).reshape(-1).view(np.uint8)[:nbytes]
    if file.readinto(room.data) != nbytes:
        raise ValueError("it ends before its arrays do")
    return room.view(dtype).reshape(shape)


def _map_array(file: BufferedReader, shape: list[int], dtype: np.dtype[Any], rows: slice) -> NDArray[Any]:
    whole = np.memmap(file, dtype, "r", file.tell(), tuple(shape))
    return np.asarray(whole[rows])  # a plain array, which holds the map


def as_little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """The array as files have it: little-endian, in C order."""
    # Not ascontiguousarray, which makes vectors of scalars.
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def raw_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array in C order, without a copy if it is in C order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


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

"""Files that notice every wrong bit: sealed JSON, and safetensors files with a seal.

Sealed JSON is in one exact spelling, with its own SHA-256 beside it.

A sealed file of arrays is a safetensors file (https://github.com/huggingface/safetensors), which any reader of those
opens. Its header begins, always in these bytes, with `{"__metadata__":{"sha256":"`, 64 hexadecimal digits, and then
holds `format` (what kind of file), `version` (a whole number) and `content` (JSON as a string). The digits are the
SHA-256 of the whole file with 64 zeros in their place: nothing in the file is believed, not even its header, before
they are compared. Then arrays are read to where they stay, so that a file takes no more memory than they do.
"""

import hashlib
import itertools
import json
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import aligned_empty
from manyclass._core.digest import canonical_json, json_digest, sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import replacing, write_at, write_bytes
from manyclass._core.reading import load_json, open_file
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
        self, path: str | os.PathLike[str], content: Any, arrays: Mapping[str, NDArray[Any]], later: Collection[str]
    ) -> Iterator[Callable[[str, int, NDArray[Any]], None]]:
        """Make `path` hold the content and the arrays, whole or not at all; `later` names those whose rows come later.

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

            for name in [name for name in arrays if name not in later]:
                put(name, 0, arrays[name])
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

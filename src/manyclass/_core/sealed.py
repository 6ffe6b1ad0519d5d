"""Files that notice every wrong bit: sealed JSON, and safetensors files with a seal.

Sealed JSON is in one exact spelling, with its own SHA-256 beside it.

A sealed file of arrays is a safetensors file (https://github.com/huggingface/safetensors), which any reader of those
opens. Its header begins, always in these bytes, with `{"__metadata__":{"sha256":"`, 64 hexadecimal digits, and then
holds `format` (what kind of file), `version` (a whole number) and `content` (JSON as a string). The digits are the
SHA-256 of the whole file with 64 zeros in their place: nothing in the file is read, not even its header, before they
are compared.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

from manyclass._core.digest import canonical_json, json_digest, sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import write_bytes
from manyclass._core.reading import load_json, open_file, read_file
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

_MALFORMED = (KeyError, TypeError, ValueError, RecursionError, SafetensorError)


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

    def read(self, path: str | os.PathLike[str]) -> tuple[Any, Arrays]:
        """(content, arrays) as they were written; whatever else the file holds is refused in one sentence."""
        self._check_start(path)
        data = read_file(path, "model")
        self._check_seal(path, data)
        # Who can write a file can seal it: from here on nothing is believed either.
        try:
            metadata = _metadata(data)
            name, version = metadata["format"], int(metadata["version"])
            known = name == self.name and version <= self.version
            content, arrays = (load_json(metadata["content"], "its content"), _arrays(data)) if known else (None, {})
        except _MALFORMED as error:
            raise ValueError(f"{os.fspath(path)} cannot be read as a {self.name}: {error}; {self.advice}") from error
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

    def _check_start(self, path: str | os.PathLike[str]) -> None:
        """Refuse what is no such file before all of it is read."""
        if not starts_sealed(path):
            raise ValueError(f"{os.fspath(path)} is not a {self.name}, or its first bytes are damaged; {self.advice}")

    def _check_seal(self, path: str | os.PathLike[str], data: bytes) -> None:
        unsealed = [data[: _SEAL.start], _UNSEALED.encode(), memoryview(data)[_SEAL.stop :]]
        if sha256_digest(unsealed).encode() != data[_SEAL]:
            raise ValueError(
                f"{os.fspath(path)} is damaged: its {len(data)} bytes do not match their checksum; {self.advice}"
            )


def starts_sealed(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as sealed files of arrays do."""
    with open_file(path, "model") as file:
        return file.read(_SEAL.start)[8:] == START


def read_seal(path: str | os.PathLike[str]) -> str:
    """The checksum that a sealed file of arrays begins with; of another file, whatever is there."""
    with open_file(path, "model") as file:
        return file.read(_SEAL.stop)[_SEAL].decode("ascii", "replace")


def _metadata(data: bytes) -> dict[str, str]:
    header = data[8 : 8 + int.from_bytes(data[:8], "little")]
    return load_json(header, "its header")["__metadata__"]  # type: ignore[no-any-return]


def _arrays(data: bytes) -> Arrays:
    arrays = {}
    for name, tensor in deserialize(data):  # type: ignore[no-untyped-call]
        flat: NDArray[Any] = np.frombuffer(tensor["data"], DTYPES[tensor["dtype"]])
        arrays[name] = flat.reshape(tensor["shape"]).copy()
    return arrays


def as_little_endian(array: NDArray[Any]) -> NDArray[Any]:
    """The array as files have it: little-endian, in C order."""
    # Not ascontiguousarray, which makes vectors of scalars.
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")


def raw_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array in C order, without a copy if it is in C order."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data

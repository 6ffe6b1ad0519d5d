"""SHA-256 of bytes, arrays, files and JSON, as hexadecimal digits."""

import hashlib
import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyclass._core.reading import open_file


def sha256_digest(pieces: Iterable[bytes | bytearray | memoryview | str | ArrayLike]) -> str:
    """The digest of all pieces, one after the other; texts are UTF-8, and arrays are as they lie in C order.

    >>> sha256_digest([b"ab", "c"]) == sha256_digest(["abc"])
    True
    """
    state = hashlib.sha256()
    for piece in pieces:
        if isinstance(piece, str):
            piece = piece.encode("utf-8", "surrogatepass")
        state.update(piece if isinstance(piece, bytes | bytearray | memoryview) else np.ascontiguousarray(piece).data)
    return state.hexdigest()


def file_digest(path: str | os.PathLike[str]) -> str:
    """The digest of a file."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_digest(value: Any) -> str:
    """The digest of the one spelling of a JSON value."""
    return sha256_digest([canonical_json(value)])


def canonical_json(value: Any) -> bytes:
    """The one spelling of a JSON value: sorted keys, no spaces, ASCII; NaN and infinity are refused.

    >>> canonical_json({"b": 1, "a": "é"})
    b'{"a":"\\\\u00e9","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")

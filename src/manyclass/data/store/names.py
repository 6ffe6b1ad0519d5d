"""Names of rows: one run of UTF-8 bytes and the offsets in it, decoded when asked for."""

import os
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray


class Names(Sequence[str]):
    """A sequence of n strings in one run of UTF-8 bytes, decoded when they are read.

    Bytes that are not UTF-8 become surrogates.

    Parameters
    ----------
    blob : ndarray of uint8
        The bytes of all strings.
    offsets : ndarray of int64 of shape (n + 1,)
        String i is bytes ``offsets[i]`` to ``offsets[i + 1]``.

    Examples
    --------
    >>> names = Names(*encode_names(["a.jpg", "b.jpg"]))
    >>> names[1], names[:1], len(names)
    ('b.jpg', ['a.jpg'], 2)
    """

    def __init__(self, blob: NDArray[np.uint8], offsets: NDArray[np.int64]):
        self._blob = blob
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: Any) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        return self._blob[self._offsets[i] : self._offsets[i + 1]].tobytes().decode("utf-8", "surrogateescape")

    def __repr__(self) -> str:
        return f"Names({len(self)} strings, {len(self._blob)} bytes)"


def encode_names(names: Iterable[str | os.PathLike[str]]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """(bytes, offsets) of names, each a string or a path."""
    encoded = [_encode(name, row) for row, name in enumerate(names)]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def _encode(name: Any, row: int) -> bytes:
    try:
        text = os.fspath(name)
        return text.encode("utf-8", "surrogateescape")  # type: ignore[no-any-return]
    except (TypeError, AttributeError, UnicodeEncodeError):
        raise ValueError(f"names must be strings or paths; got {name!r} at row {row}") from None

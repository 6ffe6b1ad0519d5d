"""Files of MATLAB (level 5, as `save -v7` writes them), read for what ground truth has: text, numbers, cells, structs.

SciPy's reader crashes on some malformed files. This one takes slices of bytes, compares every length with the bytes
that are there, and knows few types: all else is refused in one sentence. The format is MathWorks' "MAT-File Format".
"""

import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Types of data elements.
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}

_TEXT = {16: "utf-8", 17: "utf-16", 18: "utf-32", 2: "latin-1", 4: "utf-16", 1: "latin-1"}

_MATRIX, _COMPRESSED = 14, 15

# Classes of arrays.
_CELL, _STRUCT, _CHAR, _NUMERIC = 1, 2, 4, range(6, 16)

_COMPLEX = 0x800  # a bit of an array's flags

_DEEPEST, _MOST_VALUES = 16, 1 << 22  # a cell takes 8 bytes of a file, and a hundred of memory

_Element = tuple[int, memoryview]


def read_mat(data: bytes, names: tuple[str, ...], largest: int) -> dict[str, Any]:
    """The variables of these names: lists of cells, dictionaries of structs (or lists of them), text, arrays.

    What is compressed may have at most `largest` bytes.
    """
    if len(data) < 128 or data[126:128] not in (b"IM", b"MI"):
        raise ValueError("it must be a MAT-file of level 5; save it by save -v7")
    order = "little" if data[126:128] == b"IM" else "big"
    if int.from_bytes(data[124:126], order) != 0x0100:  # type: ignore[arg-type]
        raise ValueError("it must be a MAT-file of level 5; save it by save -v7")
    return _Reader(order, names, largest).variables(memoryview(data)[128:])


class _Reader:
    """Arrays out of bytes of one byte order, as many as are allowed."""

    def __init__(self, order: Any, names: tuple[str, ...], largest: int):
        self._order, self._names, self._room = order, names, largest
        self._sign = "<" if order == "little" else ">"
        self._left = _MOST_VALUES

    def variables(self, data: memoryview) -> dict[str, Any]:
        found = {}
        for kind, body in self._elements(data, padded=False):
            if kind == _COMPRESSED:
                kind, body = next(self._elements(self._unpack(body)), (0, body))
            if kind != _MATRIX:
                raise ValueError("it has something else than variables")
            name, read = self._array(body, 0)
            if name in self._names:
                found[name] = read()
        return found

    def _unpack(self, body: memoryview) -> memoryview:
        machine = zlib.decompressobj()
        try:
            data = machine.decompress(body, self._room + 1)
        except zlib.error as error:
            raise ValueError(f"a compressed variable is damaged ({error})") from None
        self._room -= len(data)
        if self._room < 0:
            raise ValueError("its compressed variables unpack to more than ground truth may have")
        return memoryview(data)

    def _elements(self, data: memoryview, padded: bool = True) -> Iterator[_Element]:
        """(type, bytes) of one data element after the other."""
        while len(data):
            if len(data) < 8:
                raise ValueError("it ends within a data element")
            kind, length, start = self._number(data[:4]), self._number(data[4:8]), 8
            if kind >> 16:  # a small element: type and length in four bytes, and its data in the next four
                kind, length, start = kind & 0xFFFF, kind >> 16, 4
            if length > (4 if start == 4 else len(data) - 8):
                raise ValueError("it ends within a data element")
            yield kind, data[start : start + length]
            # Compressed variables follow one another without gaps.
            gap = -length % 8 if padded or kind != _COMPRESSED else 0
            data = data[8 if start == 4 else 8 + length + gap :]

    def _number(self, data: memoryview) -> int:
        return int.from_bytes(data, self._order)

    def _array(self, body: memoryview, depth: int) -> tuple[str, Callable[[], Any]]:
        """(name, how to read the value) of an array."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise ValueError("it has more values, or values within values, than ground truth may have")
        if not len(body):  # an empty cell
            return "", lambda: np.zeros(0)
        parts = self._elements(body)
        flags, shape, name = (self._next(parts) for _ in range(3))
        if len(flags[1]) != 8:
            raise ValueError("an array has no flags")
        bits = self._number(flags[1][:4])
        return bytes(name[1]).decode("ascii", "replace"), lambda: self._value(bits, shape, parts, depth)

    def _value(self, bits: int, shape: _Element, parts: Iterator[_Element], depth: int) -> Any:
        kind, dims = bits & 0xFF, self._numbers(shape).tolist()
        if bits & _COMPLEX or len(dims) < 2 or not _is_whole(dims) or min(dims) < 0:
            raise ValueError("an array is complex, or its shape is none")
        if kind == _CELL:
            return self._values(math.prod(dims), parts, depth)
        if kind == _STRUCT:
            return self._structs(math.prod(dims), parts, depth)
        if kind == _CHAR:
            return self._text(dims, self._next(parts))
        if kind in _NUMERIC:
            values = self._numbers(self._next(parts))
            if len(values) != math.prod(dims):
                raise ValueError(f"an array must have {math.prod(dims)} numbers; it has {len(values)}")
            return values.reshape(dims, order="F")
        raise ValueError("it has arrays of other types than text, numbers, cells and structs")

    def _values(self, count: int, parts: Iterator[_Element], depth: int) -> list[Any]:
        if count > self._left:
            raise ValueError("it has more values than ground truth may have")
        return [self._inner(self._next(parts), depth) for _ in range(count)]

    def _inner(self, element: _Element, depth: int) -> Any:
        if element[0] != _MATRIX:
            raise ValueError("a cell or a field is no array")
        return self._array(element[1], depth + 1)[1]()

    def _structs(self, count: int, parts: Iterator[_Element], depth: int) -> Any:
        width, names = self._numbers(self._next(parts)).tolist(), bytes(self._next(parts)[1])
        if len(width) != 1 or not _is_whole(width) or not 0 < width[0] <= 64 or len(names) % width[0]:
            raise ValueError("the fields of a struct have no names")
        cut = (names[i : i + width[0]].split(b"\0")[0] for i in range(0, len(names), width[0]))
        fields = [name.decode("ascii", "replace") for name in cut]
        if not fields and count:
            raise ValueError("a struct has no fields")
        made = [
            dict(zip(fields, self._values(len(fields), parts, depth), strict=True))
            for _ in range(self._checked_count(count))
        ]
        return made[0] if count == 1 else made

    def _checked_count(self, count: int) -> int:
        if count > self._left:
            raise ValueError("it has more values than ground truth may have")
        return count

    def _text(self, dims: list[int], element: _Element) -> str | list[str]:
        kind, data = element
        if kind not in _TEXT:
            raise ValueError("its text is in no known encoding")
        wide = _TEXT[kind] in ("utf-16", "utf-32")
        encoding = f"{_TEXT[kind]}-{'le' if self._order == 'little' else 'be'}" if wide else _TEXT[kind]
        letters = bytes(data).decode(encoding, "replace")
        if dims[0] <= 1 or len(letters) != math.prod(dims):
            return letters
        return ["".join(letters[i :: dims[0]]) for i in range(self._checked_count(dims[0]))]

    def _numbers(self, element: _Element) -> NDArray[Any]:
        kind, data = element
        if kind not in _NUMBERS or len(data) % int(_NUMBERS[kind][1]):
            raise ValueError("an array of numbers is of no known type")
        return np.frombuffer(data, self._sign + _NUMBERS[kind])

    def _next(self, parts: Iterator[_Element]) -> _Element:
        found = next(parts, None)
        if found is None:
            raise ValueError("it ends within an array")
        return found


def _is_whole(values: list[Any]) -> bool:
    return all(isinstance(value, int) for value in values)

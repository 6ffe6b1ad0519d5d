"""Pickles of plain data, read as a list of instructions of which only harmless ones are carried out.

Unpickling calls what the file names, so a file can do anything. Here nothing is imported or called by name: lists,
tuples, dictionaries, strings, bytes, numbers and NumPy's arrays of numbers or strings are built by our own code, and
everything else is refused. What a pickle calls to make an array, a type or a number of NumPy's stands in `CALLS`; who
reads pickles of something else has such a table of its own.
"""

import pickletools
import re
import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.reading import read_file

_VALUES = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}

_MOST_STEPS = 1 << 23  # a million images have half of them; each can leave a value behind

_IGNORED = {"PROTO", "FRAME", "STOP"}


def read_pickle(path: Path) -> Any:
    """The plain data in a pickle of any protocol; a ValueError tells what it has besides."""
    data = read_file(path, "truth")
    machine = PickleMachine(CALLS, budget=8 * len(data))
    try:
        for steps, (code, argument, _) in enumerate(pickletools.genops(data)):
            if steps > _MOST_STEPS:
                raise NotPlainError("the pickle has more values than ground truth may have")
            machine.step(code.name, argument)
        return machine.result()
    except NotPlainError:
        raise
    # What stops short or mixes up its instructions trips over the stack, the memo or the decoder.
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"the pickle is damaged ({error})") from error


class PickleMachine:
    """The stack, the marks on it, and the memo of a pickle.

    `calls` has our own function for every (module, name) that the pickle may name. An honest file has every byte of its
    arrays once; `budget` is how many may be made, so that a short file cannot ask for the same long string again and
    again.
    """

    def __init__(self, calls: Mapping[tuple[str, str], Callable[..., Any]], budget: int) -> None:
        self.calls = calls
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.budget = budget

    def step(self, name: str, argument: Any) -> None:
        """Carry out one instruction."""
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _STEPS:
            _STEPS[name](self, argument)
        elif name not in _IGNORED:
            raise NotPlainError(f"the pickle must hold plain data; it has the instruction {name}")

    def result(self) -> Any:
        if len(self.stack) != 1 or self.marks:
            raise NotPlainError("the pickle must hold one value; it is damaged")
        return self.stack.pop()

    def pop(self, n: int) -> tuple[Any, ...]:
        if len(self.stack) < n:
            raise NotPlainError("the pickle reads from an empty stack; it is damaged")
        taken = tuple(self.stack[len(self.stack) - n :])
        del self.stack[len(self.stack) - n :]
        return taken

    def pop_to_mark(self) -> tuple[Any, ...]:
        return self.pop(len(self.stack) - self.marks.pop())

    def remember(self, number: int) -> None:
        self.memo[number] = self.stack[-1]

    def recall(self, number: int) -> None:
        known = self.memo[number]
        self.stack.append(known.built if isinstance(known, PickledArray) else known)

    def name(self, module: str, name: str) -> None:
        if (module, name) not in self.calls:
            raise NotPlainError(f"the pickle must hold plain data; it names {module}.{name}")
        self.stack.append(Call(self.calls[module, name]))

    def call(self) -> None:
        function, arguments = self.pop(2)
        if not isinstance(function, Call):
            raise NotPlainError("the pickle calls an object that is not callable; it is damaged")
        self.spend(function(*arguments))

    def spend(self, made: Any) -> None:
        """Push what was made of the file's bytes, if the file has as many."""
        self.budget -= made.nbytes if isinstance(made, np.ndarray) else 0
        self.budget -= len(made) if isinstance(made, str | bytes) else 0
        if self.budget < 0:
            raise NotPlainError("the pickle must not repeat the same data; it makes more than it holds")
        self.stack.append(made)

    def extend(self, values: tuple[Any, ...]) -> None:
        if type(self.stack[-1]) is not list:
            raise NotPlainError("the pickle appends to an object that is not a list; it is damaged")
        self.stack[-1].extend(values)

    def update(self, values: tuple[Any, ...]) -> None:
        if type(self.stack[-1]) is not dict:
            raise NotPlainError("the pickle sets entries of an object that is not a dictionary; it is damaged")
        self.stack[-1].update(_pairs(values))


def _pairs(values: tuple[Any, ...]) -> dict[Any, Any]:
    # Tuples within tuples without end would overflow the stack when hashed.
    if wrong := [key for key in values[::2] if not isinstance(key, str | int)]:
        raise NotPlainError(f"the pickle must have strings or numbers as keys; got {type(wrong[0]).__name__}")
    return dict(zip(values[::2], values[1::2], strict=True))


_STEPS: dict[str, Callable[[PickleMachine, Any], None]] = {
    "MARK": lambda m, _: m.marks.append(len(m.stack)),
    "EMPTY_LIST": lambda m, _: m.stack.append([]),
    "EMPTY_DICT": lambda m, _: m.stack.append({}),
    "EMPTY_TUPLE": lambda m, _: m.stack.append(()),
    "TUPLE1": lambda m, _: m.stack.append(m.pop(1)),
    "TUPLE2": lambda m, _: m.stack.append(m.pop(2)),
    "TUPLE3": lambda m, _: m.stack.append(m.pop(3)),
    "TUPLE": lambda m, _: m.stack.append(m.pop_to_mark()),
    "LIST": lambda m, _: m.stack.append(list(m.pop_to_mark())),
    "DICT": lambda m, _: m.stack.append(_pairs(m.pop_to_mark())),
    "APPEND": lambda m, _: m.extend(m.pop(1)),
    "APPENDS": lambda m, _: m.extend(m.pop_to_mark()),
    "SETITEM": lambda m, _: m.update(m.pop(2)),
    "SETITEMS": lambda m, _: m.update(m.pop_to_mark()),
    "PUT": lambda m, number: m.remember(number),
    "BINPUT": lambda m, number: m.remember(number),
    "LONG_BINPUT": lambda m, number: m.remember(number),
    "MEMOIZE": lambda m, _: m.remember(len(m.memo)),
    "GET": lambda m, number: m.recall(number),
    "BINGET": lambda m, number: m.recall(number),
    "LONG_BINGET": lambda m, number: m.recall(number),
    "GLOBAL": lambda m, name: m.name(*name.split(" ")),
    "STACK_GLOBAL": lambda m, _: m.name(*m.pop(2)),
    "REDUCE": lambda m, _: m.call(),
    "BUILD": lambda m, _: m.spend(build(*m.pop(2))),
}


class NotPlainError(ValueError):
    """The pickle asks for something that is not plain data."""


class PickledType:
    """A type of numbers or strings of fixed length, whose byte order comes later."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or not re.fullmatch(r"[<>|=]?(b1|[iu][1248]|f[248]|[SU][1-9]\d{0,5})", code):
            raise NotPlainError(
                f"the pickle must have arrays of numbers or strings; got one of type {reprlib.repr(code)}"
            )
        self.dtype = np.dtype(code)

    def build(self, state: Any) -> "PickledType":
        order = state[1]
        if order not in ("<", ">", "|", "="):
            raise NotPlainError(f"the pickle must have numbers of a known byte order; got {reprlib.repr(order)}")
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

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

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
        raise NotPlainError(f"the pickle must have arrays of a known shape; got {reprlib.repr(shape)}")
    flat = np.frombuffer(data, dtype.dtype) if data else np.zeros(0, dtype.dtype)
    return flat.reshape(shape, order="F" if order == "F" else "C")


def _from_buffer(content: Any, dtype: Any, shape: Any, order: Any) -> NDArray[Any]:
    return _array(content, dtype, shape, order)


def _scalar(dtype: Any, content: Any) -> Any:
    return _array(content, dtype, (), "C").item()


def _encode(text: Any, encoding: Any) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise NotPlainError(f"the pickle must write bytes in latin1; got {reprlib.repr(encoding)}")
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

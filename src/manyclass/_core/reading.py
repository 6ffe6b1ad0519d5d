"""The one gate for all that is read: a regular file, of a size that its kind may have, before any of its bytes.

Files come from strangers too. A pipe or a device would hang a reader or never end, a file can be larger than memory,
and a short one can unpack to a long one: all of that is refused here in one sentence, and nobody else opens files. The
headers of .npy files, of which nothing is believed either, are read here too.
"""

import errno
import io
import json
import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedReader
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import FileRefusedError
from manyclass._core.text import format_bytes

VARIABLE = "MANYCLASS_LIMITS"

_MB, _GB = 10**6, 10**9

# Bytes of a file of each kind; of `unpacked`, what a compressed array may have; of `members`, arrays in an archive.
LIMITS = {
    "manifest": 256 * _MB,  # of a store of a million classes and a terabyte of rows it has a tenth of that
    "record": 256 * _MB,
    "settings": 100_000,
    "labels": 2 * _GB,
    "truth": 256 * _MB,
    "image": _GB,
    "model": 64 * _GB,
    "network": 2 * _GB,  # no ONNX file can be larger
    "unpacked": 256 * _MB,
    "members": 10_000,
}

_RATIO = 100  # what is packed may always be so many times as large unpacked; honest features reach a tenth of it

_DEPTH = 100  # of lists within lists

_Path = str | bytes | os.PathLike[Any]


def get_limits() -> dict[str, int]:
    """Get the limits on what is read.

    Returns
    -------
    dict of str to int
        The limits by name, those of `MANYCLASS_LIMITS` and of a `with limits(...)` block included.
    """
    return {**LIMITS, **_parse(os.environ.get(VARIABLE, ""))}


@contextmanager
def limits(**largest: int | str) -> Iterator[None]:
    """Read larger or only smaller files inside a `with` block.

    Files are refused if they are larger than files of their kind may be, and arrays if they unpack to more than
    `unpacked` and to more than a hundred times the bytes of their file. The limits hold for the whole process and for
    those that it starts. The environment variable `MANYCLASS_LIMITS`, such as `labels=4GB,unpacked=10GB`, sets them for
    commands.

    Parameters
    ----------
    **largest : int or str
        Bytes, or words such as "4 GB", for `manifest`, `record`, `settings`, `labels`, `truth`, `image`, `model`,
        `network` or `unpacked`; a number for `members`, the arrays of an .npz file.

    Returns
    -------
    context manager
        Inside it the limits hold.

    Examples
    --------
    >>> with limits(labels="4 GB"):
    ...     get_limits()["labels"]
    4000000000
    """
    before = os.environ.get(VARIABLE)
    words = ",".join(f"{name}={value}" for name, value in largest.items())
    _parse(words)
    os.environ[VARIABLE] = ",".join(filter(None, [before, words]))
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


_SIZE = re.compile(r"(\d{1,15}) *(|k|M|G|T)B?", re.IGNORECASE)


@lru_cache(maxsize=16)
def _parse(words: str) -> dict[str, int]:
    """The limits that a text such as `labels=4GB,members=7` sets; later ones win."""
    found = {}
    for word in filter(None, (word.strip() for word in words.split(","))):
        name, _, value = (part.strip() for part in word.partition("="))
        size = _SIZE.fullmatch(value)
        if name not in LIMITS or size is None:
            raise ValueError(f"limits must be sizes of {', '.join(LIMITS)}, such as labels=4GB; got {word!r}")
        found[name] = int(size[1]) * 1000 ** " kmgt".index(size[2].lower() or " ")
    return found


def open_file(path: _Path, kind: str | None = None) -> BufferedReader:
    """A regular file, opened to be read, of no more bytes than its kind may have; without a kind of any size."""
    try:
        _check(path, os.stat(path), kind)  # before it is opened: to open a device can do things
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError as error:
        if isinstance(error, FileRefusedError):
            raise
        raise FileRefusedError(path, f"cannot be read: {error}") from None
    try:
        _check(path, os.fstat(descriptor), kind)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_file(path: _Path, kind: str) -> bytes:
    """The bytes of a file."""
    most = get_limits()[kind]
    with open_file(path, kind) as file:
        data = file.read(os.fstat(file.fileno()).st_size + 1)
        # It may grow meanwhile, and some files of the system tell no size.
        while len(data) <= most and (more := file.read(1 << 20)):
            data += more
    if len(data) > most:
        raise _too_large(path, len(data), kind)
    return data


def read_pieces(path: _Path, kind: str | None = None) -> Iterator[bytes]:
    """The bytes of a file, one megabyte after the other."""
    with open_file(path, kind) as file:
        while piece := file.read(1 << 20):
            yield piece


def read_text(path: _Path, kind: str, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The text of a file, with newlines for all ends of lines."""
    return re.sub("\r\n?", "\n", read_file(path, kind).decode(encoding, errors))


def read_json(path: _Path, kind: str) -> Any:
    """The value in a file of JSON."""
    return load_json(read_file(path, kind), os.fsdecode(path))


def load_json(data: bytes | str, source: str) -> Any:
    """The value of some JSON, of no more lists within lists than all who use it can go through."""
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError(f"{source} must hold JSON of a sane depth; it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{source} must hold JSON; {error}") from None
    check_depth(value, source)
    return value


def check_depth(value: Any, source: str) -> None:
    """Refuse lists and dictionaries that are nested more deeply than recursive functions can follow."""
    level = [value]
    for _ in range(_DEPTH):
        level = [
            entry
            for parent in level
            if isinstance(parent, dict | list)
            for entry in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(entry, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"{source} must nest at most {_DEPTH} lists and tables; it is nested too deeply")


def check_unpacked(size: int, packed: int, source: object) -> None:
    """Refuse what would take more memory than `unpacked` allows, and much more than the bytes that it is made of."""
    if size > max(get_limits()["unpacked"], _RATIO * packed):
        raise ValueError(
            f"{source} must not take much more memory than it has bytes; it has {format_bytes(packed)} and would take "
            f"{format_bytes(size)}; {way_out('unpacked', size)}"
        )


def _check(path: _Path, found: os.stat_result, kind: str | None) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise FileRefusedError(path, f"must be a regular file; it is {_kind_of_file(found.st_mode)}")
    largest = get_limits()
    if kind is not None and found.st_size > largest[kind]:
        raise _too_large(path, found.st_size, kind)


def _too_large(path: _Path, size: int, kind: str) -> FileRefusedError:
    most = format_bytes(get_limits()[kind])
    return FileRefusedError(path, f"has {format_bytes(size)}, over the limit of {most}; {way_out(kind, size)}")


def way_out(kind: str, needed: int) -> str:
    """How to go on with what one trusts."""
    return f"if you trust it, set {VARIABLE}={kind}={needed}, or `with manyclass.limits({kind}={needed})`"


def _kind_of_file(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    }  # fmt: skip
    return kinds.get(stat.S_IFMT(mode), "something else")


_LONGEST_HEADER = 10_000  # bytes, as NumPy has it

_READERS = {
    1: (2, np.lib.format.read_array_header_1_0),
    2: (4, np.lib.format.read_array_header_2_0),
    3: (4, np.lib.format.read_array_header_2_0),  # in UTF-8, which only names of fields need
}


@dataclass(frozen=True)
class ArrayHeader:
    """What the header of an .npy file says, and how many bytes it has."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    order: str
    length: int

    @property
    def nbytes(self) -> int:
        """Bytes that the array takes; Python's numbers do not overflow."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_array_header(file: Any) -> ArrayHeader:
    """The header with which a file begins; whatever is wrong with it ends in some exception."""
    magic = file.read(8)
    if magic[:6] != b"\x93NUMPY" or magic[6] not in _READERS:
        raise ValueError("it cannot be read: it does not begin as .npy files do")
    size, parse = _READERS[magic[6]]
    start = file.read(size)
    length = int.from_bytes(start, "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"its header has {length} bytes")
    shape, columns_first, dtype = parse(io.BytesIO(start + file.read(length)))
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never read")
    if not all(isinstance(side, int) and side >= 0 for side in shape):
        raise ValueError(f"its shape is {shape}")
    return ArrayHeader(shape, dtype, "F" if columns_first else "C", 8 + size + length)


def map_npy(path: str | os.PathLike[str], kind: str | None = None) -> NDArray[Any]:
    """The array of an .npy file, of any version and order, memory-mapped read-only; never one of Python objects."""
    try:
        with open_file(path, kind) as file:
            mapped = _mapped(file)
        mapped.filename = os.fspath(path)  # which the descriptor does not tell
        return np.asarray(mapped)
    except FileNotFoundError:
        raise FileNotFoundError(f"no file or folder at {path}") from None
    except FileRefusedError:
        raise
    except OSError as error:
        way_out = "; raise the limit with ulimit -n" if error.errno == errno.EMFILE else ""
        raise OSError(f"{path} cannot be opened: {error.strerror or error}{way_out}") from error
    except Exception as error:  # a hostile header can fail in many ways
        raise ValueError(f"{path} must be a whole .npy file of numbers; {_reason(error)}") from error


def map_bytes(path: str) -> NDArray[np.uint8]:
    """The bytes of a regular file, mapped; an array that knows its file."""
    with open_file(path) as file:
        if not os.fstat(file.fileno()).st_size:
            return np.zeros(0, np.uint8)  # which cannot be mapped
        pages = np.memmap(file, np.uint8, "r")
    pages.filename = path  # which the descriptor does not tell
    return pages


def _mapped(file: BufferedReader) -> np.memmap[Any, Any]:
    header = read_array_header(file)
    if header.length + header.nbytes > os.fstat(file.fileno()).st_size:
        raise ValueError("its data ends before its header says")
    order: Any = header.order
    return np.memmap(file, header.dtype, "r", header.length, header.shape, order)


def _reason(error: Exception) -> str:
    words = str(error).splitlines()[0] if str(error) else type(error).__name__
    return words if words.startswith(("it ", "its ")) else f"it cannot be read: {words}"

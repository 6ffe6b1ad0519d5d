"""The members of a tar, known by its headers alone: where each begins, and how many bytes it has.

Nothing is unpacked, so that neither a path nor a link of a member can lead anywhere. Headers are read here and not by
Python's tarfile, which reads whatever lengths they name into memory.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from manyclass._core.errors import FileRefusedError
from manyclass._core.reading import open_file
from manyclass.data.archives.packed_file import PICTURES, PackedFile, check_packed

_BLOCK = 512

_LONGEST_NAME = 1 << 16  # bytes of a header that only says how the next member is called

_OCTAL, _DECIMAL = re.compile(rb"[0-7]{0,23}"), re.compile(rb"\+[0-9]{1,22}")

_LINKS = {b"1": "a link", b"2": "a link", b"3": "a device", b"4": "a device", b"6": "a FIFO", b"S": "a sparse file"}


@dataclass(frozen=True, slots=True)
class TarMember(PackedFile):
    """A member of a tar: `size` bytes from `start` on, or the reason why it has none that can be read."""

    archive: str
    name: str
    start: int
    size: int
    flaw: str | None = None

    def __str__(self) -> str:
        return f"{self.archive}/{self.name}"

    def read(self) -> bytes:
        """The bytes, read where they lie."""
        if self.flaw is not None:
            raise FileRefusedError(str(self), self.flaw)
        check_packed(self.size, str(self))
        with open_file(self.archive) as file:
            data = _read_at(file.fileno(), self.start, self.size)
        if len(data) < self.size:
            raise FileRefusedError(str(self), "is cut off")
        return data

    def identity(self) -> str:
        """The number of bytes, as of a file."""
        return str(self.size)

    def moved(self, archive: str) -> "TarMember":
        """The member of the same tar elsewhere."""
        return replace(self, archive=archive)


@dataclass(frozen=True)
class TarPictures:
    """The pictures of a tar by their names, what stands beside each, and a sentence if the tar ends too early.

    A name is the key of webdataset, what comes before the first dot; of keys with several pictures all but the first
    are called by all of their name. `beside` has the other members of a key by what comes after that dot.
    """

    pictures: dict[str, TarMember] = field(default_factory=dict)
    beside: dict[str, dict[str, TarMember]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def pictures_in_tar(path: Path) -> TarPictures:
    """The pictures of a tar, in its order."""
    found = TarPictures()
    try:
        for member in tar_members(path):
            key, extension = split_key(member.name)
            if os.path.basename(member.name).startswith("."):
                continue
            if member.name.lower().endswith(PICTURES):
                found.pictures[key if key not in found.pictures else member.name] = member
            elif member.flaw is None:
                found.beside.setdefault(key, {})[extension.lower()] = member
    except TarError as error:
        if not found.pictures:
            raise
        found.notices.append(f"{error}; what comes before is used")
    return found


def split_key(name: str) -> tuple[str, str]:
    """The key of a member, by which webdataset tells samples apart, and the rest of its name.

    >>> split_key("a.b/0001.left.jpg")
    ('a.b/0001', 'left.jpg')
    """
    folder, base = os.path.split(name)
    key, _, extension = base.partition(".")
    return os.path.join(folder, key) if folder else key, extension


class TarError(ValueError):
    """A tar is none, or not whole."""


def tar_members(path: Path) -> Iterator[TarMember]:
    """The members that are files or would be, in their order; TarError where headers make no sense."""
    archive = os.fspath(path)
    with open_file(path) as file:
        descriptor, total = file.fileno(), os.fstat(file.fileno()).st_size
        place, named = 0, dict[str, bytes]()
        while place < total:
            header = _read_at(descriptor, place, _BLOCK)
            if not header.strip(b"\0") and len(header) == _BLOCK:
                return
            if len(header) < _BLOCK or not _is_header(header):
                raise TarError(f"{path} must be a whole tar, not compressed; at byte {place} it is none")
            kind, start = header[156:157], place + _BLOCK
            size = _number(named.pop("size", header[124:136]), path, place)
            if kind in b"xgLKX":  # about the next member, or about all
                if size > _LONGEST_NAME:
                    raise TarError(f"{path} must name members in few bytes; at byte {place} a name takes {size:,}")
                named |= _extended(kind, _read_at(descriptor, start, size))
                place = start + _padded(size)
                continue
            name = named.pop("path", None) or _plain_name(header)
            sparse = any(key.startswith("GNU.sparse") for key in named)
            named = {}
            if kind != b"5":
                yield _member(archive, name, start, size, b"S" if sparse else kind, total)
            if kind == b"S" and header[482:483] != b"\0":
                raise TarError(f"{path} must have no sparse files of many parts; it has one at byte {place}")
            place = start + (0 if kind in b"123456" else _padded(size))


def _member(archive: str, name: bytes, start: int, size: int, kind: bytes, total: int) -> TarMember:
    flaw = f"is {_LINKS[kind]} in a tar, which is not followed" if kind in _LINKS else None
    if flaw is None and start + size > total:
        flaw = "is cut off"
    return TarMember(archive, name.decode("utf-8", "surrogateescape"), start, size, flaw)


def _is_header(header: bytes) -> bool:
    """Whether a block has the checksum that it says, of its bytes as they are or as C's chars."""
    try:
        said = int(header[148:156].strip(b" \0") or b"0", 8)
    except ValueError:
        return False
    around = header[:148] + b" " * 8 + header[156:]
    return said in (sum(around), sum(around) - 256 * sum(byte > 127 for byte in around))


def _number(digits: bytes, path: Path, place: int) -> int:
    """A size: octal digits, or bytes where that would be too short, as GNU writes it; a decimal of a longer header."""
    if len(digits) == 12 and digits[0] & 0x80:
        size = int.from_bytes(bytes([digits[0] & 0x7F]) + digits[1:], "big") if digits[0] == 0x80 else -1
    else:
        text = digits.split(b"\0", 1)[0].strip()
        pattern, base = (_DECIMAL, 10) if text.startswith(b"+") else (_OCTAL, 8)
        size = int(text or b"0", base) if pattern.fullmatch(text) else -1
    if not 0 <= size < 1 << 62:
        raise TarError(f"{path} must have members of some size; at byte {place} it names none")
    return size


def _extended(kind: bytes, data: bytes) -> dict[str, bytes]:
    """What a longer header says of the next member: its path and its size."""
    if kind == b"L":
        return {"path": data.rstrip(b"\0")}
    if kind not in b"xX":
        return {}
    found: dict[str, bytes] = {}
    while data:
        length, _, _ = data.partition(b" ")
        n = int(length) if length.isdigit() and len(length) < 8 else 0
        if not len(length) < n <= len(data):
            break
        key, _, value = data[len(length) + 1 : n - 1].partition(b"=")
        name = key.decode("utf-8", "replace")
        if name in ("path", "size") or name.startswith("GNU.sparse"):
            found[name] = b"+" + value if name == "size" else value
        data = data[n:]
    return found


def _plain_name(header: bytes) -> bytes:
    name, prefix = (part.split(b"\0", 1)[0] for part in (header[:100], header[345:500]))
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _read_at(descriptor: int, start: int, size: int) -> bytes:
    pieces = []
    while size > 0 and (piece := os.pread(descriptor, min(size, 1 << 26), start)):
        pieces.append(piece)
        start, size = start + len(piece), size - len(piece)
    return b"".join(pieces)

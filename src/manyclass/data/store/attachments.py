"""Attachment: a whole file that is committed with the rows of a store: the encoder that made them, and what it skipped.

A store holds at most one of each role, and `about` tells how it was made.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import Bytes

ENCODER, SKIPPED = "encoder", "skipped"

_SUFFIXES = {ENCODER: "safetensors", SKIPPED: "jsonl"}

ATTACHMENT_NAME = re.compile(r"(?:encoder|skipped)-(0|[1-9][0-9]{0,8})\.(?:safetensors|jsonl)")


def attachment_name(role: str, serial: int) -> str:
    """The name of the file of a role in the commit of this number.

    >>> attachment_name("encoder", 3)
    'encoder-3.safetensors'
    """
    return f"{role}-{serial}.{_SUFFIXES[role]}"


@dataclass(frozen=True)
class Attachment:
    """Name, size and SHA-256 of a file, and how it was made."""

    name: str
    size: int
    sha256: str
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, role: str, serial: int, pieces: Sequence[Bytes], about: dict[str, Any]) -> Self:
        """The record of a file of these bytes."""
        return cls(
            attachment_name(role, serial),
            sum(memoryview(piece).nbytes for piece in pieces),
            sha256_digest(pieces),
            about,
        )

    @classmethod
    def from_json(cls, role: str, value: Any) -> Self:
        """The record that a manifest or a journal holds; nothing in it is believed before it is checked."""
        if not isinstance(value, dict) or set(value) != {"name", "size", "sha256", "about"}:
            raise StorageError("an attachment must be described by about, name, sha256 and size")
        name, size, sha256, about = (value[key] for key in ("name", "size", "sha256", "about"))
        serial = isinstance(name, str) and role in _SUFFIXES and ATTACHMENT_NAME.fullmatch(name)
        if not serial or name != attachment_name(role, int(serial[1])):
            raise StorageError(f"an attachment {role!r} cannot be named {name!r}")
        if type(size) is not int or not 0 <= size < 2**62 or not isinstance(about, dict):
            raise StorageError(f"{name} must have a size and a description")
        if not (isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256)):
            raise StorageError(f"{name} must have a SHA-256 in 64 digits; got {sha256!r}")
        return cls(name, size, sha256, about)

    def json(self) -> dict[str, Any]:
        """What `from_json` takes."""
        return asdict(self)

    def entry(self, role: str) -> dict[str, Any]:
        """What a journal says of it."""
        return {"attachment": role, "file": self.json()}


Attachments = dict[str, Attachment]  # by role

"""JSON in one exact spelling, sealed with its own SHA-256, so that one wrong bit anywhere is found."""

import hashlib
import json
from typing import Any

from manyclass.data.store.errors import StorageError


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value: sorted keys, no spaces, ASCII; NaN and infinity are refused.

    >>> canonical({"b": 1, "a": "é"})
    b'{"a":"\\\\u00e9","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest(value: Any) -> str:
    """SHA-256 of the one spelling, as hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def seal(content: dict[str, Any]) -> bytes:
    """The content beside its digest, and a newline."""
    return canonical({"content": content, "sha256": digest(content)}) + b"\n"


def unseal(data: bytes) -> dict[str, Any]:
    """The content, if these are exactly the bytes that `seal` makes of it."""
    try:
        content = json.loads(data)["content"]
        exact = isinstance(content, dict) and data == seal(content)
    except (ValueError, KeyError, TypeError, RecursionError):
        exact = False
    if not exact:
        raise StorageError("does not match its own checksum")
    return content  # type: ignore[no-any-return]


def as_json(value: Any, name: str) -> dict[str, Any]:
    """A dict as JSON gives it back."""
    try:
        if not isinstance(value, dict):
            raise TypeError(type(value).__name__)
        return json.loads(canonical(value))  # type: ignore[no-any-return]
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a dict that JSON can hold; got {error}") from None

"""LabelEvent: one thing that somebody said of some pictures, and its line in a file.

A line is JSON, with a checksum of all that stands before it in the line as the last entry: a bit that flips is found.
"""

import json
import re
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

ACTIONS = ("label", "set_aside", "keep", "undo")

_LONGEST = 500  # letters of a label, a name of a person and the like

# Control characters, halves of surrogate pairs, and what ends a line or a paragraph.
_NO_TEXT = {"Cc", "Cs", "Zl", "Zp"}

_CHECK = re.compile(rb',"check":"([0-9a-f]{8})"}')


@dataclass(frozen=True)
class LabelEvent:
    """One thing that somebody said of some pictures.

    Parameters
    ----------
    number : int
        Events are counted from 1, each higher than the one before.
    time : str
        When it was said, in ISO 8601, UTC.
    who : str
        Who said it; may be empty.
    action : str
        "label", "set_aside", "keep" (what the label is now is right) or "undo".
    ids : tuple of str
        The pictures.
    label : str or None
        The label; None with "label" takes the label away.
    proposed : str or None
        The label that was proposed when this was said, if there was one.
    source : str
        Where it was said, such as "label" or "audit"; may be empty.
    undoes : int or None, default=None
        The number of the event that an "undo" takes back.
    """

    number: int
    time: str
    who: str
    action: str
    ids: tuple[str, ...]
    label: str | None
    proposed: str | None
    source: str
    undoes: int | None = None

    def to_line(self) -> bytes:
        """Write the event as a line.

        Returns
        -------
        bytes
            The line, with its end.
        """
        entries = {key: value for key, value in asdict(self).items() if key != "undoes" or value is not None}
        text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
        # Names of files can hold what is no text or ends a line for some programs; as escapes it harms nobody.
        data = text.encode() if text.isprintable() else json.dumps(entries, separators=(",", ":")).encode()
        return b'%s,"check":"%08x"}\n' % (data[:-1], zlib.crc32(data[:-1]))

    @classmethod
    def from_line(cls, line: bytes) -> "LabelEvent":
        """Read an event from its line; ValueError says what is wrong with it.

        Parameters
        ----------
        line : bytes
            The line, without its end.

        Returns
        -------
        LabelEvent
            The event.
        """
        check = _CHECK.fullmatch(line[-20:])
        if check is None:
            raise ValueError("does not end with a checksum")
        if zlib.crc32(line[:-20]) != int(check[1], 16):
            raise ValueError("does not match its checksum")
        try:
            entries = json.loads(line[:-20] + b"}")
            event = cls(**{**entries, "ids": tuple(entries["ids"])})
            event._check()
        except (KeyError, TypeError, ValueError, RecursionError):
            raise ValueError("is no event of a label log") from None
        return event

    def _check(self) -> None:
        """Refuse what no log writes: a checksum tells damage, and not who made a line."""
        undo = self.action == "undo"
        good = (
            type(self.number) is int
            and self.number > 0
            and all(isinstance(text, str) for text in (self.time, self.who, self.source, *self.ids))
            and self.action in ACTIONS
            and len(self.ids) > 0
            and (type(self.undoes) is int and 0 < self.undoes < self.number if undo else self.undoes is None)
            and all(text is None or isinstance(text, str) for text in (self.label, self.proposed))
        )
        if not good:
            raise ValueError


def check_label(label: Any, name: str = "label", may_be_empty: bool = False) -> str:
    """Check a label that somebody typed, and bring it to the one spelling of it.

    Parameters
    ----------
    label : str
        The label.
    name : str, default="label"
        What an error calls it.
    may_be_empty : bool, default=False
        Let an empty text pass.

    Returns
    -------
    str
        The label without spaces around it, in Unicode's composed form (NFC).

    Examples
    --------
    >>> check_label("  cafe\\u0301 ")
    'café'
    """
    if not isinstance(label, str):
        raise ValueError(f"{name} must be a text; got {type(label).__name__}")
    text = label.strip()
    strange = next((letter for letter in text if unicodedata.category(letter) in _NO_TEXT), None)
    if strange is not None:
        raise ValueError(f"{name} must be one line of text; got U+{ord(strange):04X} in it; take that out")
    text = unicodedata.normalize("NFC", text)
    if not text and not may_be_empty:
        raise ValueError(f"{name} must not be empty; give it at least one letter")
    if len(text) > _LONGEST:
        raise ValueError(f"{name} must have at most {_LONGEST} letters; got {len(text)}; make it shorter")
    return text


def check_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids of some pictures, each once.

    >>> check_ids(["b", "a", "b"])
    ('b', 'a')
    """
    if isinstance(ids, str):
        raise ValueError(f"ids must be a list of texts; got the text {ids[:50]!r}; put it into a list")
    unique = tuple(dict.fromkeys(ids))
    wrong = next((one for one in unique if not isinstance(one, str) or not one), None)
    if wrong is not None:
        raise ValueError(f"ids must be texts that are not empty; got {wrong!r}")
    if not unique:
        raise ValueError("ids must name at least one picture; got none")
    return unique

"""The names in a store's folder, and the size of a block."""

import re

MANIFEST = "manifest.json"
JOURNAL = "journal"
LOCK = "lock"
PARTIAL = ".partial"

BLOCK_BYTES = 4 << 20  # of data per checksum, rounded down to whole rows

# What a segment may hold besides its rows: the file's first name, and its dtype.
COLUMNS = {"y": "<i8", "split": "|u1", "names": "|u1", "name_offsets": "<i8"}
ROWS = {"X": ("<f2", "<f4", "<f8"), "codes": ("|u1",)}

_FILE = re.compile(r"(?:X|codes|y|split|names|name_offsets|quantizer_[a-z0-9_]{1,64})-(0|[1-9][0-9]{0,8})\.npy")
_OURS = re.compile(rf"(?:{_FILE.pattern}|journal|manifest\.json)(?:\.partial|\.tmp)?")


def file_name(name: str) -> bool:
    """Whether a manifest may name a file so."""
    return _FILE.fullmatch(name) is not None


def serial_of(name: str) -> int | None:
    """The number of the commit that made a file of ours, finished or not; None for other files.

    >>> serial_of("X-3.npy.partial"), serial_of("manifest.json")
    (3, None)
    """
    match = _OURS.fullmatch(name)
    return int(match[1]) if match and match[1] else None


def is_ours(name: str) -> bool:
    """Whether a writer may have left a file of this name, and may remove it."""
    return _OURS.fullmatch(name) is not None

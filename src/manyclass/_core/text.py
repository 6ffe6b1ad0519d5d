"""Amounts, numbers and names as people write them in a sentence or a table."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any


def format_bytes(n_bytes: float) -> str:
    """Bytes as people say it.

    >>> format_bytes(512), format_bytes(25_600_000), format_bytes(3.2e12)
    ('512 bytes', '25.6 MB', '3.2 TB')
    """
    if n_bytes < 1000:
        return f"{n_bytes:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        n_bytes /= 1000
        if n_bytes < 999.95:
            return f"{n_bytes:.1f} {unit}"
    return f"{n_bytes / 1000:.1f} TB"


def format_seconds(value: float) -> str:
    """A time as people say it.

    >>> format_seconds(0.0123), format_seconds(3.21), format_seconds(75)
    ('12.3 ms', '3.2 s', '1 min 15 s')
    """
    if value < 1:
        return f"{1000 * value:.1f} ms"
    if value < 60:
        return f"{value:.1f} s"
    return f"{int(value) // 60} min {int(value) % 60} s"


MISSING = "\u2013"  # an en dash


def format_percent(fraction: float | None, digits: int = 1) -> str:
    """A fraction as a percentage.

    >>> format_percent(0.93125), format_percent(None)
    ('93.1 %', '–')
    """
    return MISSING if fraction is None else f"{100 * fraction:.{digits}f} %"


def format_points(difference: float) -> str:
    """A difference of two fractions, without its sign.

    >>> format_points(-0.012), format_points(0.01)
    ('1.2 points', '1.0 points')
    """
    return f"{abs(100 * difference):.1f} points"


def format_p(value: float) -> str:
    """A p-value.

    >>> format_p(0.0312), format_p(0.0)
    ('0.031', '< 0.001')
    """
    return f"{value:.3f}" if value >= 0.001 else "< 0.001"


def format_count(value: float | None) -> str:
    """A count.

    >>> format_count(12345), format_count(None)
    ('12,345', '–')
    """
    return MISSING if value is None else f"{value:,.0f}"


def format_number(value: Any) -> str:
    """A number of any size with four digits at most; what is no number as it is.

    >>> format_number(0.000123456), format_number(16.0), format_number("auto"), format_number(None)
    ('0.0001235', '16', 'auto', '–')
    """
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, int | float) and abs(value) < 1e15 else str(value)


def join_names(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> join_names(["a"]), join_names(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def pluralize(count: int, noun: str, plural: str | None = None) -> str:
    """How many of something.

    >>> pluralize(1, "row"), pluralize(2500, "row"), pluralize(2, "class", "classes")
    ('1 row', '2,500 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def printable(name: str) -> str:
    """A name that can be drawn: what no font has, such as control characters, is a replacement character.

    >>> printable("a\\x00b\\ud800c")
    'a\ufffdb\ufffdc'
    """
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in name)


def shorten(name: str, most: int) -> str:
    """A name that can be drawn, of at most so many letters; its end is kept, as that is where most names differ.

    >>> shorten("LATIN SMALL LETTER A", 20), shorten("LATIN SMALL LETTER A", 12)
    ('LATIN SMALL LETTER A', 'LAT…LETTER A')
    """
    name = printable(name)
    if len(name) <= most:
        return name
    head = (most - 1) // 3
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def number_at(entry: dict[str, Any] | None, key: str) -> float | None:
    """The number under a key of an object, or None if there is none.

    >>> number_at({"rank": 3, "note": "x"}, "rank"), number_at({"note": "x"}, "note"), number_at(None, "x")
    (3, None, None)
    """
    value = (entry or {}).get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a complaint, with what is spelled most alike; nothing if all else is far off.

    >>> did_you_mean("slam", ["slem", "lda"]), did_you_mean("x", ["slem"])
    ('; did you mean slem?', '')
    """
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""

"""What a user may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a complaint, with what is spelled most alike; nothing if all else is far off.

    >>> did_you_mean("slam", ["slem", "lda"]), did_you_mean("x", ["slem"])
    ('; did you mean slem?', '')
    """
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""

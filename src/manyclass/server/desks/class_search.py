"""ClassSearch: names of classes by their first letters, by letters within, and by nearly the same letters.

People type a few letters and choose among thousands of names. What begins so comes first, then what has a word that
begins so, then what has these letters anywhere, then what differs by a slip: a letter too many, too few, another one,
or two that changed places.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray

_FEWEST = 3  # letters of a text that can have slips: with fewer, everything is nearly the same

_ENOUGH = 8  # names that fit as they are, with which nobody looks for slips

_COMPARED = 200  # names that are compared letter by letter at most, so that a text takes a few milliseconds


class ClassSearch:
    """Names that can be searched; case and accents do not count.

    >>> found = ClassSearch(["cat", "Cathedral", "wild cat", "scatter", "dog"])
    >>> found.find("cat")
    ['cat', 'Cathedral', 'wild cat', 'scatter']
    >>> found.find("cta")
    ['cat', 'Cathedral', 'wild cat']
    """

    def __init__(self, names: Iterable[str]):
        self.names = sorted(set(names), key=lambda name: (search_key(name), name))
        self._keys = [search_key(name) for name in self.names]
        # Names and their words, and the number of the name of each.
        self._entries = sorted({(word, i) for i, key in enumerate(self._keys) for word in (key, *key.split())})
        self._letters = np.array([_letters(word) for word, _ in self._entries], np.uint64)
        self._lengths = np.array([len(word) for word, _ in self._entries], np.intp)

    def find(self, text: str, weight: Callable[[str], float] = lambda name: 0.0) -> list[str]:
        """Names that fit a text, the best first; of those that fit alike, the ones of more weight first."""
        key = search_key(text)
        ranks = self._ranks(key) if key else dict.fromkeys(range(len(self.names)), 0)
        order = sorted(sorted(ranks), key=lambda i: (ranks[i], -weight(self.names[i])))
        return [self.names[i] for i in order]

    def _ranks(self, key: str) -> dict[int, int]:
        """How well names fit, by their numbers: 0 for the very name, then the less the larger."""
        inner = f" {key}"
        ranks = {i: _rank(name, key, inner) for i, name in enumerate(self._keys) if key in name}
        if len(key) < _FEWEST or len(ranks) >= _ENOUGH:
            return ranks
        most = 1 if len(key) <= 5 else 2
        for row in self._candidates(key, most):
            word, i = self._entries[row]
            if i not in ranks and (slips := _slips(key, word, most)) <= most:
                ranks[i] = 3 + slips
        return ranks

    def _candidates(self, key: str, most: int) -> NDArray[np.intp]:
        """Entries that lack so few letters of a text that they may differ by slips alone, the likeliest first."""
        missing = np.bitwise_count(np.uint64(_letters(key)) & ~self._letters)
        near = np.flatnonzero(missing <= most)
        return near[np.lexsort((np.abs(self._lengths[near] - len(key)), missing[near]))][:_COMPARED]


def _rank(name: str, key: str, inner: str) -> int:
    return 0 if name == key else 1 if name.startswith(key) else 2 if inner in name else 3


@lru_cache(1 << 17)
def search_key(text: str) -> str:
    """The letters by which texts are compared: small ones, without accents, words apart by one blank.

    >>> search_key("  Crème_brûlée-2 ")
    'creme brulee 2'
    """
    if text.isascii():  # most are, and it is ten times faster
        return " ".join(text.lower().replace("_", " ").replace("-", " ").split())
    plain = "".join(letter for letter in normalize("NFKD", text.casefold()) if not combining(letter))
    return " ".join(plain.replace("_", " ").replace("-", " ").split())


@lru_cache(1 << 18)
def _letters(word: str) -> int:
    """Which letters a word has: bits, of which a letter's code chooses one."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits


def _slips(key: str, word: str, most: int) -> int:
    """How many slips make a beginning of `word` of the text: changes, and swaps of neighbors; `most` + 1 for more.

    >>> _slips("elephnat", "elephant statue", 2), _slips("tigre", "tiger", 1), _slips("cat", "dog", 1)
    (1, 1, 2)
    """
    word = word[: len(key) + most]
    former: list[int] = []
    above = list(range(len(word) + 1))
    for i, letter in enumerate(key, 1):
        row = [i]
        for j, other in enumerate(word, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == word[j - 2] and key[i - 2] == other:
                best = min(best, former[j - 2] + 1)
            row.append(best)
        if min(row) > most:
            return most + 1
        former, above = above, row
    return min(*above, most + 1)

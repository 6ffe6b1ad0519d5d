"""Which characters are classes: drawn by several faces, and not drawn like one another."""

import unicodedata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.datasets.glyph_images.fonts import Face, faces

# The order in which characters become classes; within a block by code point, those with accents after all the others.
_BLOCKS = (
    (0x0021, 0x007E),  # ASCII
    (0x0370, 0x03FF),  # Greek
    (0x0400, 0x04FF),  # Cyrillic
    (0x0530, 0x058F),  # Armenian
    (0x10A0, 0x10FF),  # Georgian
    (0x05D0, 0x05EA),  # Hebrew
    (0x20A0, 0x20CF),  # currencies
    (0x2190, 0x22FF),  # arrows and mathematics
    (0x2600, 0x266F),  # symbols
    (0x1401, 0x166C),  # Canadian syllabics
    (0x00A1, 0x024F),  # the rest of Latin
)

_FEWEST_FACES = 4

_PIXELS = 48

_SAME = 0.06  # relative squared difference below which two drawings are the same to the eye

Letter = tuple[str, tuple[Face, ...]]


def alphabet(n: int) -> list[Letter]:
    """The first n characters that may be classes, each with the faces that have it; fewer where there are no more.

    >>> [character for character, _ in alphabet(3)]
    ['!', '"', '#']
    """
    # Whether a character is a repeat depends on earlier ones alone, so most need no look when few are wanted.
    characters = _candidates()
    probably = n + n // 2 + 50
    letters = _distinct(characters[:probably])
    return (letters if len(letters) >= n or probably >= len(characters) else _distinct(characters))[:n]


def _distinct(characters: list[str]) -> list[Letter]:
    return [(c, _faces_of(c)) for c, repeat in zip(characters, _repeats(characters), strict=True) if not repeat]


def _candidates() -> list[str]:
    characters = [chr(code) for first, last in _BLOCKS for code in range(first, last + 1)]
    drawable = [c for c in characters if unicodedata.category(c)[0] in "LNPS" and len(_faces_of(c)) >= _FEWEST_FACES]
    return sorted(drawable, key=lambda c: unicodedata.decomposition(c) != "")


def _faces_of(character: str) -> tuple[Face, ...]:
    return tuple(face for face in faces() if ord(character) in face.characters)


def _repeats(characters: list[str]) -> NDArray[np.bool_]:
    """Whether a character is blank, or looks like an earlier one in any face that has both."""
    n = len(characters)
    same = np.zeros((n, n), bool)
    blank = np.zeros(n, bool)
    for face in faces():
        has = np.flatnonzero([ord(c) in face.characters for c in characters])
        ink = np.stack([_center_ink(face.draw(characters[i], _PIXELS)) for i in has])
        squares = np.einsum("ij,ij->i", ink, ink)
        blank[has] |= squares == 0
        distances = squares[:, None] + squares - 2 * (ink @ ink.T)
        same[np.ix_(has, has)] |= distances < _SAME * np.minimum.outer(squares, squares)
    # Against every earlier one, kept or not: what looks like a repeat of a repeat is left out too.
    return blank | np.tril(same, -1).any(axis=1)


def _center_ink(drawing: NDArray[np.uint8]) -> NDArray[Any]:
    """The drawing (s, s) as a vector, its ink moved to the middle, so that a dash is the same at any height."""
    rows, columns = np.flatnonzero(drawing.any(axis=1)), np.flatnonzero(drawing.any(axis=0))
    if len(rows) == 0:
        return np.zeros(drawing.size, np.float32)
    shift = [(drawing.shape[0] - ink[0] - ink[-1] - 1) // 2 for ink in (rows, columns)]
    return (np.roll(drawing, shift, axis=(0, 1)).ravel() / 255).astype(np.float32)

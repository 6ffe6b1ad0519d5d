"""Characters that are classes are many, distinct, and drawn by several faces."""

import string
import unicodedata

import pytest

from manyclass.datasets.glyph_images.alphabet import alphabet


@pytest.fixture(scope="module")
def letters():
    return alphabet(500)


def test_every_class_is_drawn_by_several_faces(letters):
    assert all(len(has) >= 4 for _, has in letters)


def test_there_are_five_hundred_different_characters(letters):
    assert len({character for character, _ in letters}) == 500


@pytest.mark.parametrize(
    "twin",
    [
        "GREEK CAPITAL LETTER ALPHA",
        "CYRILLIC CAPITAL LETTER A",
        "CYRILLIC CAPITAL LETTER O",
        "GREEK SMALL LETTER OMICRON",
        "CYRILLIC SMALL LETTER ER",
    ],
)
def test_letters_that_look_like_a_latin_one_are_no_class(letters, twin):
    assert unicodedata.lookup(twin) not in [character for character, _ in letters]


def test_every_latin_letter_but_one_is_a_class(letters):
    characters = {character for character, _ in letters}
    assert set(string.ascii_letters) - characters == {"l"}  # drawn as I is, in some faces


def test_no_two_classes_share_a_drawing_in_any_face(letters):
    seen: dict[tuple[str, bytes], str] = {}
    for character, has in letters[:300]:
        for face in has:
            drawing = (face.name, face.draw(character, 48).tobytes())
            assert seen.setdefault(drawing, character) == character

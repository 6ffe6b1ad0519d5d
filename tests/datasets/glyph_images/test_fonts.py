"""Typefaces: what they have, what they draw, and a fingerprint of them all."""

import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from manyclass.datasets.glyph_images.fonts import faces, fonts_fingerprint


def test_faces_have_distinct_names_and_always_the_same_order():
    names = [face.name for face in faces()]
    assert len(set(names)) == len(names) > 10
    faces.cache_clear()
    assert [face.name for face in faces()] == names


def test_letters_are_in_all_faces_and_computer_modern_has_nothing_else():
    for face in faces():
        assert {ord("a"), ord("Z"), ord("7")} <= face.characters
        if face.name.startswith("cm"):
            assert all(chr(code).isascii() and chr(code).isalnum() for code in face.characters)


@pytest.mark.parametrize("character", "iWgÅ—")
@pytest.mark.parametrize("pixels", [16, 64])
def test_ink_lies_inside_and_in_the_middle(character, pixels):
    ink = faces()[0].draw(character, pixels)
    assert (ink.shape, ink.dtype) == ((pixels, pixels), np.uint8)
    columns = np.flatnonzero(ink.any(axis=0))
    assert len(columns)
    assert abs(columns[0] - (pixels - 1 - columns[-1])) <= 1


def test_a_comma_lies_lower_than_an_apostrophe():
    comma, apostrophe = (np.flatnonzero(faces()[0].draw(one, 64).any(axis=1)) for one in ",'")
    assert comma.min() > apostrophe.max()


def test_nothing_is_drawn_for_a_space():
    assert not faces()[0].draw(" ", 32).any()


def test_the_fingerprint_is_of_the_files_and_the_libraries(monkeypatch):
    from manyclass.datasets.glyph_images import fonts as module

    before = fonts_fingerprint()
    monkeypatch.setattr(module, "version", lambda name: "0.0")
    assert module.fonts_fingerprint.__wrapped__() != before
    monkeypatch.undo()
    monkeypatch.setattr(module, "faces", lambda: faces()[1:])
    assert module.fonts_fingerprint.__wrapped__() != before
    monkeypatch.undo()
    assert module.fonts_fingerprint.__wrapped__() == before


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    for library in ("matplotlib", "fontTools", "fontTools.ttLib"):
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r'pip install "manyclass\[plot\]"'):
        faces.__wrapped__()

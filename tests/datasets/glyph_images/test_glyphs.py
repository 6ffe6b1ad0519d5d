"""The promises of the drawn data set."""

import sys
import unicodedata

import numpy as np
import pytest

from manyclass.datasets import Glyphs, glyphs
from manyclass.datasets.glyph_images import alphabet as _alphabet
from manyclass.datasets.glyph_images.fonts import faces


@pytest.fixture(scope="module")
def some():
    return glyphs(40, 8, size=16, random_state=3, cache=False)


def same(a: Glyphs, b: Glyphs) -> bool:
    return np.array_equal(a.images, b.images) and (a.classes, a.faces, a.split) == (b.classes, b.faces, b.split)


def test_shapes_and_dtypes_are_as_promised(some):
    assert some.images.shape == (320, 16, 16)
    assert some.images.dtype == np.uint8
    assert some.y.dtype == np.int64
    assert np.array_equal(some.y, np.repeat(np.arange(40), 8))
    assert len(some.faces) == len(some.split) == len(some) == 320


def test_the_same_seed_gives_the_same_bits(some):
    assert same(some, glyphs(40, 8, size=16, random_state=3, cache=False))


def test_another_seed_gives_other_pictures_of_the_same_classes(some):
    other = glyphs(40, 8, size=16, random_state=4, cache=False)
    assert other.classes == some.classes
    assert (other.images != some.images).any(axis=(1, 2)).all()


@pytest.mark.parametrize(("n_classes", "n_per_class"), [(12, 8), (40, 3), (7, 2)])
def test_asking_for_less_gives_the_first_of_the_same_pictures(some, n_classes, n_per_class):
    few = glyphs(n_classes, n_per_class, size=16, random_state=3, cache=False)
    first = some.images.reshape(40, 8, 16, 16)[:n_classes, :n_per_class].reshape(-1, 16, 16)
    assert np.array_equal(few.images, first)
    assert few.classes == some.classes[:n_classes]


@pytest.mark.parametrize("n_per_class", [2, 3, 5, 9])
def test_every_class_is_in_both_parts_of_the_split(n_per_class):
    drawn = glyphs(5, n_per_class, size=8, cache=False)
    for part in ("train", "test"):
        assert set(drawn.y[np.array(drawn.split) == part]) == set(range(5))


def test_classes_are_distinct_names_of_characters(some):
    assert len(set(some.classes)) == 40
    assert all(len(unicodedata.lookup(name)) == 1 for name in some.classes)


def test_every_picture_comes_from_a_face_that_has_the_character(some):
    characters = {face.name: face.characters for face in faces()}
    for label, face in zip(some.y, some.faces, strict=True):
        assert ord(unicodedata.lookup(some.classes[label])) in characters[face]


def test_classes_are_drawn_each_in_its_own_way(some):
    # The capitals have the same faces to choose from, and would choose alike if they shared their random numbers.
    capitals = [c for c, name in enumerate(some.classes) if name.startswith("LATIN CAPITAL")]
    assert len({tuple(some.faces[8 * c : 8 * c + 8]) for c in capitals}) == len(capitals) > 3


def test_ink_stands_out_from_paper_in_every_picture():
    images = glyphs(40, 8, random_state=3, cache=False).images.astype(int)
    # Paper covers most of a picture, and its noise has at most 9 gray levels.
    assert (np.median(images, axis=(1, 2)) - images.min(axis=(1, 2)) > 40).all()


def test_progress_counts_every_class():
    calls = []
    glyphs(3, 2, size=8, cache=False, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_classes": 0}, "n_classes must be a whole number, at least 1; got 0"),
        ({"n_per_class": 1}, "n_per_class must be a whole number, at least 2; got 1"),
        ({"size": 4}, "size must be a whole number, from 8 to 512; got 4"),
        ({"random_state": None}, "random_state must be a whole number, at least 0; got None"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        glyphs(**{"n_classes": 2, "n_per_class": 2, "size": 8, **settings}, cache=False)


def test_more_classes_than_characters_are_refused(monkeypatch):
    monkeypatch.setattr(_alphabet, "_candidates", lambda: list("abcda"))
    with pytest.raises(ValueError, match="n_classes must be at most 4, all that the fonts here draw; got 5"):
        glyphs(5, cache=False)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    faces.cache_clear()
    with pytest.raises(ImportError, match=r'pip install "manyclass\[plot\]"'):
        faces()

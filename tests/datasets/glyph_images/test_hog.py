"""The promises of the plain feature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.datasets import glyph_features, glyphs

sides = st.integers(8, 40)


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 5), height=sides, width=sides, seed=st.integers(0, 2**32 - 1))
def test_rows_have_640_numbers_and_unit_length(n, height, width, seed):
    X = glyph_features(np.random.default_rng(seed).integers(0, 256, (n, height, width), np.uint8))
    assert X.shape == (n, 640)
    assert X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)


def test_a_row_does_not_depend_on_its_neighbors():
    images = np.random.default_rng(0).integers(0, 256, (300, 12, 12), np.uint8)
    alone = np.concatenate([glyph_features(images[i : i + 1]) for i in (0, 255, 256, 299)])
    np.testing.assert_allclose(glyph_features(images)[[0, 255, 256, 299]], alone, atol=1e-6)


@pytest.mark.parametrize(("gain", "lift"), [(0.5, 0), (1, 40), (0.25, 100)])
def test_brightness_and_contrast_change_nothing(gain, lift):
    images = np.random.default_rng(1).uniform(0, 255, (3, 16, 16))
    np.testing.assert_allclose(glyph_features(gain * images + lift), glyph_features(images), atol=1e-5)


def test_a_picture_without_edges_gives_zeros():
    assert not glyph_features(np.full((2, 16, 16), 77, np.uint8)).any()


def test_turning_a_picture_by_a_quarter_turns_the_directions_by_two():
    picture = np.random.default_rng(2).uniform(0, 255, (16, 16))
    upright, turned = glyph_features(np.stack([picture, np.rot90(picture)]))
    fine = upright[:512].reshape(8, 8, 8)
    # Turning against the clock moves a direction, counted with the clock, two places back.
    expected = np.stack([np.rot90(fine[(o + 2) % 8]) for o in range(8)])
    np.testing.assert_allclose(turned[:512].reshape(8, 8, 8), expected, atol=1e-5)


def test_a_dot_votes_only_for_the_cells_around_it():
    picture = np.zeros((1, 32, 32))
    picture[0, 13, 9] = 1
    fine = glyph_features(picture)[0, :512].reshape(8, 8, 8) ** 2
    occupied = np.argwhere(fine.sum(axis=0) > 1e-6)
    assert occupied.min(axis=0).tolist() == [2, 1]
    assert occupied.max(axis=0).tolist() == [4, 3]


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (np.zeros((4, 4)), r"images must have shape \(n, height, width\), both at least 8; got \(4, 4\)"),
        (np.zeros((2, 32, 4)), r"both at least 8; got \(2, 32, 4\)"),
        (np.full((1, 8, 8), "a"), "images must hold real numbers; got dtype <U1"),
    ],
)
def test_wrong_images_are_refused_in_one_sentence(images, sentence):
    with pytest.raises(ValueError, match=sentence):
        glyph_features(images)


def test_nearest_class_mean_is_far_from_chance_and_from_perfect():
    drawn = glyphs(60, 12, random_state=0, cache=False)
    X, train = glyph_features(drawn.images), np.array(drawn.split) == "train"
    means = np.stack([X[train & (drawn.y == c)].mean(axis=0) for c in range(60)])
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    hits = (X[~train] @ means.T).argmax(axis=1) == drawn.y[~train]
    assert 0.6 < hits.mean() < 0.99

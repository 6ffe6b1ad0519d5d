"""Resizing and smoothing against Pillow and SciPy, and what they must leave alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image
from scipy.ndimage import gaussian_filter

from manyclass import _native
from manyclass.features.images.pixels import resize, smooth


def noise(*shape):
    return np.random.default_rng(sum(shape)).random(shape, dtype=np.float32)


@pytest.mark.parametrize("level", _native.levels())
@given(h=st.integers(1, 60), w=st.integers(1, 60), H=st.integers(1, 60), W=st.integers(1, 60))
def test_a_resized_picture_is_what_pillow_makes_of_it(any_level, level, h, w, H, W):
    _native.set_level(level)
    image = noise(h, w)
    expected = np.asarray(Image.fromarray(image).resize((W, H), Image.Resampling.BICUBIC))
    assert_allclose(resize(image, H, W), expected, atol=2e-6)


@pytest.mark.parametrize("level", _native.levels())
@given(
    h=st.integers(1, 60), w=st.integers(1, 60), H=st.integers(1, 60), W=st.integers(1, 60), channels=st.integers(1, 9)
)
def test_bytes_are_resized_to_the_nearest_whole_number(any_level, level, h, w, H, W, channels):
    _native.set_level(level)
    image = np.random.default_rng(h * w).choice(np.array([0, 1, 90, 254, 255], np.uint8), (h, w, channels))
    found = resize(image, H, W)
    assert (found.dtype, found.shape) == (np.uint8, (H, W, channels))
    for c in range(channels):
        plane = Image.fromarray(image[..., c].astype(np.float32)).resize((W, H), Image.Resampling.BICUBIC)
        assert_allclose(found[..., c], np.asarray(plane).clip(0, 255), atol=0.5 + 1e-3)


@pytest.mark.parametrize("level", _native.levels())
@given(starts=st.lists(st.integers(0, 20), min_size=1, max_size=12), taps=st.integers(1, 9))
def test_rows_of_bytes_may_be_taken_in_any_order(any_level, level, starts, taps):
    _native.set_level(level)
    image = np.random.default_rng(taps).integers(0, 256, (29, 7, 3), np.uint8)
    rows, weights = np.array(starts, np.int32), np.full((taps, len(starts)), 1 / taps, "f")
    columns, ones = np.arange(7, dtype=np.int32), np.ones((1, 7), "f")
    out = np.empty((len(starts), 7, 3), np.uint8)
    _native.resample(image, rows, weights, columns, ones, out)
    expected = np.array([image[first : first + taps].mean(axis=0) for first in starts])
    assert_allclose(out, expected, atol=0.5 + 1e-3)


@given(h=st.integers(2, 40), w=st.integers(2, 40), channels=st.integers(1, 9))
def test_channels_are_resized_each_for_itself(h, w, channels):
    image = noise(h, w, channels)
    together = resize(image, 11, 17)
    assert together.shape == (11, 17, channels)
    for c in range(channels):
        assert_array_equal(together[..., c], resize(image[..., c], 11, 17))


@pytest.mark.parametrize("level", _native.levels())
@given(h=st.integers(1, 40), w=st.integers(1, 40), H=st.integers(1, 40), W=st.integers(1, 40))
def test_colors_are_resized_as_each_of_them_alone(any_level, level, h, w, H, W):
    _native.set_level(level)
    image = np.random.default_rng(h + w).integers(0, 256, (h, w, 3), np.uint8)
    together = resize(image, H, W)
    for c in range(3):
        assert_array_equal(together[..., c], resize(image[..., c], H, W))


def test_a_resized_ramp_stays_a_ramp_in_the_middle():
    ramp = np.tile(np.arange(64, dtype=np.float32), (64, 1))
    small = resize(ramp, 64, 32)[20, 4:-4]
    assert_allclose(np.diff(small), 2, atol=1e-4)


def test_the_same_size_is_the_same_picture():
    image = noise(9, 8)
    assert resize(image, 9, 8) is image
    assert smooth(image, 0) is image


@pytest.mark.parametrize("sigma", [0.6, 1.5])
def test_smoothing_is_a_gaussian_filter_away_from_the_edges(sigma):
    image = noise(50, 40)
    edge = int(4 * sigma) + 2
    expected = gaussian_filter(image.astype(np.float64), sigma, truncate=6)
    assert_allclose(smooth(image, sigma)[edge:-edge, edge:-edge], expected[edge:-edge, edge:-edge], atol=1e-4)


def test_smoothing_keeps_a_single_gray():
    assert_allclose(smooth(np.full((7, 30), 0.3, np.float32), 2.0), 0.3, rtol=1e-6)

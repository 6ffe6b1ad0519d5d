"""Local color statistics against NumPy's mean and std of every cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manyclass import _native
from manyclass.features.images.pixels import resize
from manyclass.features.local.color import LocalColor


def twin(image, step, patch):
    cell = patch // 4
    top, left = ((length - patch) % step // 2 for length in image.shape[:2])
    out = []
    for y in range(top, image.shape[0] - patch + 1, step):
        for x in range(left, image.shape[1] - patch + 1, step):
            part = image[y : y + patch, x : x + patch].reshape(4, cell, 4, cell, 3) / 255
            out.append(np.concatenate([part.mean(axis=(1, 3)), part.std(axis=(1, 3))], axis=-1).ravel())
    return np.array(out)


def picture(h, w, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (h, w, 3), dtype=np.uint8)


@pytest.mark.parametrize("level", _native.levels())
@given(
    h=st.integers(16, 50), w=st.integers(16, 50), step=st.integers(1, 12), patch=st.sampled_from([4, 8, 12, 16])
)  # fmt: skip
def test_every_level_gives_the_mean_and_deviation_of_every_cell(any_level, level, h, w, step, patch):
    _native.set_level(level)
    image = picture(h, w, seed=h * w)
    assert_allclose(LocalColor(step, 1, patch).describe(image).values, twin(image, step, patch), atol=2e-7)


def test_all_levels_give_the_same_bits(any_level):
    image, found = picture(130, 150), []
    for level in any_level:
        _native.set_level(level)
        found.append(LocalColor(6, 1).describe(image).values)
    for other in found:
        assert_array_equal(other, found[0])


def test_every_scale_is_the_picture_at_that_size_in_8_bits():
    image = picture(50, 64)
    small = np.rint(resize(image.astype(np.float32), 35, 45).clip(0, 255)).astype(np.uint8)
    expected = np.concatenate([twin(image, 6, 24), twin(small, 6, 24)])
    assert_allclose(LocalColor(6, 2).describe(image).values, expected, atol=2e-7)


@pytest.mark.parametrize("patch", [24, 128])
def test_a_single_color_has_no_deviation_at_any_scale(patch):
    image = np.empty((260, 300, 3), np.uint8)
    image[:] = (255, 1, 128)
    values = LocalColor(patch=patch).describe(image).values.reshape(-1, 2, 3)
    assert_array_equal(values[:, 1], 0)
    assert_array_equal(values[:, 0], np.broadcast_to(np.array([255, 1, 128], "f") / np.float32(255), (len(values), 3)))


def test_the_largest_patches_keep_the_smallest_deviation():
    image = np.full((128, 128, 3), 255, np.uint8)
    image[0, 0] = 254
    deviations = LocalColor(scales=1, patch=128).describe(image).values.reshape(16, 2, 3)[:, 1]
    assert_allclose(deviations[0], np.sqrt(1023) / 1024 / 255, rtol=1e-6)
    assert_array_equal(deviations[1:], 0)


def test_positions_are_the_centers_of_patches_within_the_picture():
    found = LocalColor(step=10, scales=1).describe(picture(24, 47))
    assert_allclose(found.positions, [[(1 + 12) / 47, 0.5], [(11 + 12) / 47, 0.5], [(21 + 12) / 47, 0.5]])


@pytest.mark.parametrize("shape", [(23, 100), (100, 23), (1, 1)])
def test_a_picture_too_small_for_a_patch_has_none(shape):
    found = LocalColor().describe(picture(*shape))
    assert found.values.shape == (0, 96)
    assert found.positions.shape == (0, 2)

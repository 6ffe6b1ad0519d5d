"""Dense SIFT against its twin and against what turning, mirroring and light do to it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manyclass import _native
from manyclass.features.images.pixels import resize, smooth
from manyclass.features.local.dense_sift import DenseSift, to_gray
from tests.features import sift_twin


def photograph(h, w, seed=0):
    """Soft blobs, edges and grain, in three colors that differ."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    waves = 90 * np.sin(x / 5 + seed)[..., None] * np.cos(y / 7)[..., None] + 40 * (x + 2 * y > w)[..., None]
    return np.clip(110 + waves + rng.normal(0, 12, (h, w, 3)), 0, 255).astype(np.uint8)


def gray(image):
    return (image @ np.array([0.299, 0.587, 0.114]) / 255).astype(np.float32)


def cells(values):
    """(m, 4, 4, 8): y, x, direction."""
    return values.reshape(-1, 4, 4, 8)


@pytest.mark.parametrize("level", _native.levels())
@given(
    h=st.integers(13, 36),
    w=st.integers(13, 36),
    step=st.integers(1, 9),
    patch=st.sampled_from([4, 8, 12, 16]),
    root=st.booleans(),
)
def test_every_level_agrees_with_the_twin(any_level, level, h, w, step, patch, root):
    _native.set_level(level)
    image = photograph(h, w, seed=h + w)
    found = DenseSift(step, 1, patch, root, contrast=0).describe(image).values
    assert_allclose(found, sift_twin.patches(gray(image), step, patch // 4, root), atol=1e-5 if root else 3e-6)


@pytest.mark.parametrize("level", _native.levels())
def test_every_scale_is_the_twin_of_the_image_at_that_size(any_level, level):
    _native.set_level(level)
    image = photograph(45, 61)
    found = DenseSift(step=7, scales=3, smoothing=0.8).describe(image).values
    sizes = [(45, 61), (32, 43), (22, 30)]
    expected = [sift_twin.patches(smooth(resize(gray(image), *size), 0.8), 7, 6) for size in sizes]
    assert_allclose(found, np.concatenate(expected), atol=3e-6)


@pytest.mark.parametrize("level", _native.levels())
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (16, 33), (40, 64)])
def test_gray_is_the_luma_of_bytes(any_level, level, shape):
    _native.set_level(level)
    image = np.random.default_rng(0).integers(0, 256, (*shape, 3), np.uint8)
    assert_allclose(to_gray(image), image @ np.array([0.299, 0.587, 0.114]) / 255, atol=2e-7)


def test_patches_are_those_of_vlfeat_with_a_flat_window():
    # What VLFeat 0.9.21 made of a drawn picture, times 512 and rounded: no turn, no other order.
    with np.load(Path(__file__).parents[1] / "vlfeat_sift.npz") as kept:
        gray, expected, centers = kept["gray"], kept["values"].astype(np.float64), kept["centers"]
    found = DenseSift(step=7, scales=1).describe(np.repeat(gray[..., None], 3, axis=2))
    cosines = np.einsum("ij,ij->i", found.values, expected) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.999
    assert_allclose(found.positions[:, ::-1] * gray.shape, centers + 0.5, atol=1e-4)


@pytest.mark.parametrize(("step", "number"), [(4, 10_246), (6, 4_626)])
def test_a_picture_of_100_000_pixels_has_as_many_patches_as_the_reference_finds(step, number):
    found = DenseSift(step).describe(photograph(258, 387))
    assert found.values.shape == (number, 128)
    assert found.values.dtype == found.positions.dtype == np.float32


def test_a_patch_is_of_unit_length_and_cut():
    values = DenseSift().describe(photograph(60, 60)).values
    assert_allclose(np.linalg.norm(values, axis=1), 1, rtol=1e-6)
    assert values.min() >= 0
    # What was cut shares the highest value of its patch.
    assert (np.isclose(values, values.max(axis=1, keepdims=True)).sum(axis=1) > 1).mean() > 0.5


def test_a_single_edge_votes_for_its_direction_alone():
    image = np.zeros((19, 19, 3), np.uint8)
    image[10:] = 255  # brighter downwards: 90 degrees, direction 2
    values = cells(DenseSift(scales=1).describe(image).values)
    assert (values[..., 2] > 0).any()
    assert_array_equal(np.delete(values, 2, axis=-1), 0)


@pytest.mark.parametrize("scales", [1, 2])
def test_a_mirrored_picture_has_mirrored_patches(scales):
    image = photograph(53, 53)
    values = DenseSift(6, scales).describe(image)
    mirrored = DenseSift(6, scales).describe(image[:, ::-1])
    order = np.lexsort((-mirrored.positions[:, 0], mirrored.positions[:, 1], _scale_of(53, scales)))
    # x turns round: cells from right to left, and direction t becomes 4 - t.
    expected = cells(mirrored.values[order])[:, :, ::-1, (4 - np.arange(8)) % 8]
    assert_allclose(cells(values.values), expected, atol=1e-5)
    assert_allclose(values.positions[:, 0], 1 - mirrored.positions[order, 0], atol=1e-6)


def _scale_of(side, scales):
    numbers = [((round(side * 2 ** (-j / 2)) - 19) // 6 + 1) ** 2 for j in range(scales)]
    return np.repeat(np.arange(scales), numbers)


def test_a_transposed_picture_has_transposed_patches():
    image = photograph(43, 55)
    values = cells(DenseSift(4, 1).describe(image).values).reshape(7, 10, 4, 4, 8)
    turned = cells(DenseSift(4, 1).describe(image.transpose(1, 0, 2)).values).reshape(10, 7, 4, 4, 8)
    # Right becomes down: direction t becomes 2 - t.
    expected = turned.transpose(1, 0, 3, 2, 4)[..., (2 - np.arange(8)) % 8]
    assert_allclose(values, expected, atol=1e-5)


@pytest.mark.parametrize(("times", "plus"), [(2, 0), (1, 100), (2, 1)])
def test_light_and_contrast_leave_patches_as_they_are(times, plus):
    image = photograph(40, 47) // 2
    sift = DenseSift(5, 2)
    assert_allclose(sift.describe(times * image + np.uint8(plus)).values, sift.describe(image).values, atol=1e-5)


@pytest.mark.parametrize("gray_level", [0, 77, 255])
@pytest.mark.parametrize("root", [False, True])
def test_a_picture_without_contrast_gives_zeros_at_every_scale(gray_level, root):
    found = DenseSift(root=root).describe(np.full((150, 131, 3), gray_level, np.uint8)).values
    assert len(found) > 500
    assert_array_equal(found, 0)


def test_patches_below_the_contrast_are_zeros_and_others_are_kept():
    image = photograph(60, 90)
    image[:, :45] = 100 + image[:, :45] // 50
    everything, some = (DenseSift(6, 1, contrast=contrast).describe(image).values for contrast in (0, 0.02))
    gone = ~some.any(axis=1)
    assert 0.2 < gone.mean() < 0.8
    assert_array_equal(some[~gone], everything[~gone])
    assert everything.any(axis=1).all()


@pytest.mark.parametrize("shape", [(1, 1), (18, 400), (400, 18), (19, 1)])
def test_a_picture_too_small_for_a_patch_has_none(shape):
    found = DenseSift().describe(photograph(*shape))
    assert found.values.shape == (0, 128)
    assert found.positions.shape == (0, 2)


def test_one_patch_fits_exactly():
    found = DenseSift().describe(photograph(19, 19))
    assert found.values.shape == (1, 128)
    assert_allclose(found.positions, [[0.5, 0.5]])


def test_roots_are_square_roots_of_shares():
    image = photograph(50, 40)
    plain, rooted = (DenseSift(root=root).describe(image).values for root in (False, True))
    assert_allclose(rooted**2, plain / plain.sum(axis=1, keepdims=True), atol=1e-6)


def test_threads_at_work_on_many_pictures_give_the_same_bits():
    images = [photograph(70, 80, seed) for seed in range(6)]
    alone = [DenseSift().describe(image).values for image in images]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda image: DenseSift().describe(image).values, images))
    for a, b in zip(alone, together, strict=True):
        assert_array_equal(a, b)


def test_views_give_what_their_copies_give():
    image = photograph(80, 60)[::2, ::-1]
    assert_array_equal(DenseSift().describe(image).values, DenseSift().describe(image.copy()).values)


@pytest.mark.parametrize(
    "image",
    [np.zeros((20, 20), np.uint8), np.zeros((20, 20, 3)), np.zeros((20, 20, 4), np.uint8), np.zeros((0, 9, 3), "u1")],
)
def test_what_is_no_picture_is_refused(image):
    with pytest.raises(ValueError, match="image must be uint8 of shape"):
        DenseSift().describe(image)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"step": 0}, "step must be a whole number, from 1"),
        ({"scales": 0}, "scales must be a whole number"),
        ({"patch": 132}, "patch must be a whole number, from 4 to 128"),
        ({"patch": 22}, "patch must be a multiple of 4; got 22"),
        ({"contrast": -1}, "contrast must be a finite number"),
        ({"smoothing": float("nan")}, "smoothing must be a finite number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        DenseSift(**settings)

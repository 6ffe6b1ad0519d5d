"""The compiled loops refuse what would lead them outside of arrays."""

import numpy as np
import pytest

from manyclass import _native

GRAY = np.zeros((20, 30), np.float32)
PROFILE = np.ones(5, np.float32)


def room(*shape):
    return np.empty(shape, np.float32)


@pytest.mark.parametrize(
    ("rows", "columns", "shape"),
    [
        ((0, 1), (0, 1), (21, 30, 8)),
        ((0, 1), (0, 1), (20, 31, 8)),
        ((-5, 1), (0, 1), (3, 3, 8)),
        ((0, 1), (30, 1), (1, 1, 8)),
        ((0, 0), (0, 1), (2, 2, 8)),
        ((0, 1), (-(2**62), 1), (2, 2, 8)),
        ((0, 2**62), (0, 1), (2, 2, 8)),
        ((0, 1), (0, 1), (3, 3, 7)),
        ((0, 1), (0, 1), (0, 3, 8)),
    ],
)
def test_cells_that_do_not_meet_the_image_are_refused(rows, columns, shape):
    with pytest.raises(ValueError, match=r"cell|lattice"):
        _native.orientation_cells(GRAY, rows, columns, PROFILE, room(*shape))
    with pytest.raises(ValueError, match=r"cell|lattice"):
        _native.color_cells(np.zeros((20, 30, 3), np.uint8), rows, columns, PROFILE, room(*shape))


def test_gray_of_another_size_or_of_other_colors_is_refused():
    image, weights = np.zeros((4, 5, 3), np.uint8), np.ones(3, "f")
    for bad in (
        (image, weights, room(5, 4)),
        (image[..., :2].copy(), weights, room(4, 5)),
        (image, PROFILE, room(4, 5)),
    ):
        with pytest.raises(ValueError, match=r"gray|pixels"):
            _native.gray_of_colors(*bad)


@pytest.mark.parametrize(
    ("apart", "step", "out"),
    [(1, 1, (3, 2, 128)), (1, 1, (2, 3, 128)), (2, 1, (1, 1, 128)), (1, 1, (1, 1, 127)), (2**63, 1, (1, 1, 128)),
     (1, 1, (0, 1, 128))],
)  # fmt: skip
def test_patches_outside_of_the_cells_are_refused(apart, step, out):
    with pytest.raises(ValueError, match=r"patch|empty"):
        _native.sift_of_cells(np.zeros((5, 5, 8), "f"), apart, step, np.ones(16, "f"), 0.0, False, room(*out))


@pytest.mark.parametrize(
    ("apart", "n", "out"),
    [(1, 9, (3, 2, 96)), (1, 9, (2, 3, 96)), (2, 9, (1, 1, 96)), (1, 9, (1, 1, 128)), (1, 0, (1, 1, 96))],
)
def test_colors_outside_of_the_cells_are_refused(apart, n, out):
    with pytest.raises(ValueError, match="patch"):
        _native.color_of_cells(np.zeros((5, 5, 8), "f"), apart, 1, n, room(*out))


@pytest.mark.parametrize("start", [-1, 4, 2**31 - 1])
def test_weights_outside_of_the_image_are_refused(start):
    good, bad = np.array([0, 3], np.int32), np.array([0, start], np.int32)
    weights = np.ones((2, 2), np.float32)
    for kind in (np.float32, np.uint8):
        image, out = np.zeros((5, 5, 1), kind), np.empty((2, 2, 1), kind)
        _native.resample(image, good, weights, good, weights, out)
        for rows, columns in ((good, bad), (bad, good)):
            with pytest.raises(ValueError, match="weights must lie within the image"):
                _native.resample(image, rows, weights, columns, weights, out)


def test_words_and_mixtures_of_nothing():
    none, words, order = np.empty((0, 3), "f"), np.ones((2, 3), "f"), np.empty(0, np.int64)
    counts, first, second, total = np.zeros((1, 2)), np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), np.zeros(1)
    labels, starts = np.empty(0, np.int32), np.zeros(2, np.int64)
    assert _native.nearest_words(none, words, labels) == -1
    _native.residual_sums(none, order, starts, labels, words, counts, first)
    logs = np.zeros(2, "f")
    tables = words, words, logs, 1.0, counts, first, second, total
    assert _native.mixture_sums(none, order, starts, np.zeros(3, "f"), *tables) == -1
    with pytest.raises(ValueError, match="origin must have as many numbers"):
        _native.mixture_sums(none, order, starts, np.zeros(2, "f"), *tables)
    assert not counts.any()
    with pytest.raises(ValueError, match="as many columns"):
        _native.nearest_words(np.empty((2, 0), "f"), np.ones((2, 0), "f"), np.empty(2, np.int32))


def test_projections_of_another_size_are_refused():
    X, components, offsets = room(4, 3), room(3, 2), room(2)
    for bad in (
        (X, room(4, 2), offsets, room(4, 2)),
        (X, components, room(3), room(4, 2)),
        (X, components, offsets, room(3, 2)),
        (X, components, offsets, room(4, 3)),
    ):
        with pytest.raises(ValueError, match=r"components|out"):
            _native.project_rows(*bad)


@pytest.mark.parametrize("shape", [(0, 5, 1), (5, 0, 1), (5, 5, 0)])
def test_an_image_of_nothing_is_resampled_to_nothing(shape):
    out = room(*(min(2, side) for side in shape))
    starts = [np.arange(side, dtype=np.int32) for side in out.shape[:2]]
    weights = [np.ones((1, len(axis)), "f") for axis in starts]
    _native.resample(room(*shape), starts[0], weights[0], starts[1], weights[1], out)

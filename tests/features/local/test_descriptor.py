"""Where patches lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.features.local.dense_sift import DenseSift
from manyclass.features.local.descriptor import GridLine, PatchGrid, patch_positions


@given(length=st.integers(24, 400), step=st.integers(1, 50))
def test_as_many_patches_as_fit_lie_in_the_middle(length, step):
    line = PatchGrid(step, 1, 24).line(length, 24)
    last = line.first + (line.number - 1) * step + 24
    assert last <= length < last - line.first + step
    assert 0 <= (length - last) - line.first <= 1


def test_sizes_are_a_factor_of_root_two_apart():
    assert PatchGrid(6, 5, 24).sizes(258, 387, 19) == [(258, 387), (182, 274), (129, 194), (91, 137), (64, 97)]


def test_sizes_without_room_for_a_patch_are_left_out():
    assert PatchGrid(6, 5, 24).sizes(30, 400, 19) == [(30, 400), (21, 283)]


@given(h=st.integers(24, 300), w=st.integers(24, 300), step=st.integers(1, 40))
def test_positions_lie_within_the_picture_and_are_balanced(h, w, step):
    grid = PatchGrid(step, 1, 24)
    where = patch_positions(grid.line(h, 24), grid.line(w, 24), h, w, 24)
    assert where.min() >= 0
    assert where.max() <= 1
    assert np.abs(where.mean(axis=0) - 0.5).max() <= 0.5 / min(h, w) + 1e-6


def test_positions_come_row_by_row_as_x_and_y():
    where = patch_positions(GridLine(0, 8, 2), GridLine(4, 4, 2), 16, 20, 8)
    assert where == pytest.approx(np.array([[0.4, 0.25], [0.6, 0.25], [0.4, 0.75], [0.6, 0.75]]))


def test_images_of_one_size_share_their_grids_but_not_the_positions_that_are_handed_out():
    image, descriptor = np.zeros((40, 50, 3), np.uint8), DenseSift(scales=1)
    first, expected = descriptor.describe(image), descriptor.describe(image).positions.copy()
    first.positions[:] = 7
    assert descriptor.describe(image).positions.tolist() == expected.tolist()
    (level,) = descriptor.grid.levels(40, 50, 19)
    assert not level.positions.flags.writeable

"""Every layout divides an image; regions are sums over cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.features.aggregation.pyramid import Partition, Pyramid

LAYOUTS = [("1x1",), ("3x1",), ("1x1", "3x1"), ("1x1", "2x2"), ("1x1", "3x1", "2x2"), ("5x7", "3x2")]


def plain_region(x: float, y: float, rows: int, columns: int) -> int:
    row = sum(np.float32(y) >= np.float32(i) / np.float32(rows) for i in range(1, rows))
    return row * columns + sum(np.float32(x) >= np.float32(i) / np.float32(columns) for i in range(1, columns))


@pytest.mark.parametrize("layouts", LAYOUTS, ids=str)
def test_regions_are_what_a_loop_over_positions_counts(layouts):
    edges = np.arange(13) / 12
    positions = np.concatenate(
        [np.random.default_rng(0).random((200, 2)), np.stack(np.meshgrid(edges, edges), axis=-1).reshape(-1, 2)]
    ).astype(np.float32)
    pyramid = Pyramid(layouts)
    counts = pyramid.sum_regions(np.diff(pyramid.partition(positions).starts).astype(float))
    expected = []
    for rows, columns in pyramid.grids:
        regions = [plain_region(x, y, rows, columns) for x, y in positions]
        expected.extend(np.bincount(regions, minlength=rows * columns))
    assert counts.tolist() == expected


@given(st.lists(st.sampled_from(["1x1", "3x1", "2x2", "1x4"]), min_size=1, max_size=4), st.integers(0, 40))
def test_each_row_is_in_exactly_one_region_of_each_layout(layouts, m):
    positions = np.random.default_rng(m).random((m, 2)).astype(np.float32)
    pyramid = Pyramid(layouts)
    cells = pyramid.partition(positions)
    assert sorted(cells.order) == list(range(m))
    counts = pyramid.sum_regions(np.diff(cells.starts).astype(float))
    assert counts.sum() == m * len(layouts)


def test_stripes_lie_above_each_other_from_the_top():
    pyramid = Pyramid(("3x1",))
    cells = pyramid.partition(np.array([[0.5, 0.9], [0.1, 0.1], [0.9, 0.5], [0.2, 0.2]], np.float32))
    assert cells.order.tolist() == [1, 3, 2, 0]
    assert cells.starts.tolist() == [0, 2, 3, 4]


def test_sums_of_the_whole_image_are_repeated_for_every_layout_that_is_whole():
    sums = np.arange(6.0).reshape(1, 2, 3)
    assert Pyramid(("1x1", "1x1")).sum_regions(sums).tolist() == [sums[0].tolist()] * 2


@pytest.mark.parametrize(
    ("layouts", "sentence"),
    [
        ("1x1", "pyramid must be a sequence of layouts such as"),
        ((), "pyramid must be a sequence of layouts such as"),
        (("0x1",), "pyramid must hold layouts such as '3x1', rows by columns; got '0x1'"),
        (("1x1", "3"), "got '3'"),
        ((3,), "got 3"),
        (("99x99",), "pyramid must cut an image into at most 1024 cells; got 9801"),
    ],
    ids=str,
)
def test_layouts_that_are_none_are_refused(layouts, sentence):
    with pytest.raises(ValueError, match=sentence):
        Pyramid(layouts)


def test_cells_keep_the_order_of_rows_and_may_be_empty():
    cells = Partition.from_labels(np.array([2, 0, 2, 0], np.int32), 4)
    assert cells.order.tolist() == [1, 3, 0, 2]
    assert cells.starts.tolist() == [0, 2, 2, 4, 4]
    assert cells.n_cells == 4

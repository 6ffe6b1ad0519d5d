import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manyclass.retrieval.vectors import GrowableArray


@given(sizes=st.lists(st.integers(0, 40), max_size=12), large=st.integers(2, 30))
def test_rows_come_back_in_the_order_in_which_they_were_added(sizes, large):
    rows, added = GrowableArray(2), [np.zeros((0, 2), np.float32)]
    for i, size in enumerate(sizes):
        block = np.full((size, 2), i, np.float32)
        added.append(block)
        rows.attach(block) if size > large else rows.append(block)
    X = np.concatenate(added)
    assert len(rows) == len(X)
    shuffled = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_array_equal(rows.rows(shuffled), X[shuffled])
    np.testing.assert_array_equal(
        rows.select(np.sort(shuffled[::2])).rows(np.arange(-(-len(X) // 2))), X[np.sort(shuffled[::2])]
    )


def test_few_arrays_hold_many_small_additions():
    rows = GrowableArray(1)
    for i in range(20_000):
        rows.append(np.array([[i]], np.float32))
    assert len(list(rows)) <= 4
    assert rows.rows(np.array([19_999]))[0, 0] == 19_999


def test_a_small_addition_is_copied():
    rows, X = GrowableArray(1), np.ones((3, 1), np.float32)
    rows.append(X)
    X[:] = 5
    assert rows.rows(np.array([0]))[0, 0] == 1


def test_the_longest_row_is_known_after_every_addition():
    rows = GrowableArray(2)
    assert rows.longest() == 0
    for length in (3.0, 1.0, 7.0):
        rows.append(np.array([[length, 0]], np.float32))
        assert rows.longest() == max(3.0, length)
    many = np.zeros((10_000, 2), np.float32)
    many[9_000] = 6, 8
    rows.append(many)
    assert rows.longest() == 10

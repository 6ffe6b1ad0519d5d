"""ShardedMatrix: several matrices, one below the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc


@given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_shards_of_any_heights_equal_their_stack(heights, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((n, 3)) for n in heights]
    X, A = mc.ShardedMatrix(parts), np.vstack(parts)
    np.testing.assert_array_equal(X.toarray(), A)
    order = rng.permutation(len(A))
    np.testing.assert_array_equal(X.rows(order), A[order])
    start, stop = sorted(rng.integers(0, len(A) + 1, 2))
    np.testing.assert_array_equal(X.rows(slice(start, stop)), A[start:stop])
    np.testing.assert_allclose(X.rmatmat(np.ones(len(A))), A.sum(axis=0), atol=1e-12)


def test_rows_within_one_shard_are_not_copied():
    A = np.ones((4, 2), np.float32)
    X = mc.ShardedMatrix([A, np.zeros((3, 2), np.float32)])
    assert np.shares_memory(X.rows(slice(1, 3)), A)


def test_the_widest_float_of_the_shards_is_that_of_all():
    X = mc.ShardedMatrix([np.ones((1, 2), np.float16), np.ones((1, 2))])
    assert X.dtype == np.float64
    assert X.rows(slice(0, 1)).dtype == np.float64
    assert X.row_norms().dtype == np.float64


def test_sums_of_shards_are_added_in_float64():
    shards = [np.full((1, 1), value, np.float32) for value in (2**25, *[1.0] * 64)]
    assert mc.ShardedMatrix(shards).rmatmat(np.ones(65))[0] == 2**25 + 64


def test_a_shard_of_another_width_is_named():
    with pytest.raises(ValueError, match=r"^matrices must all have 2 columns, as the first has; got 3 in 1$"):
        mc.ShardedMatrix([np.ones((1, 2)), np.ones((1, 3))])


def test_no_shards_are_refused():
    with pytest.raises(ValueError, match=r"^matrices must hold at least one matrix; got none$"):
        mc.ShardedMatrix([])

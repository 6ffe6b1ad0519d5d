"""All pairs above a cosine, and no others, whatever is multiplied of the rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.audit import cosine_join
from manyclass.audit.cosine_join import CosineJoin, PrefixBound, TooManyPairsError


def all_pairs(X, threshold, Y=None):
    """By all cosines."""
    U = X.astype(np.float64) / np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
    V = U if Y is None else Y.astype(np.float64) / np.linalg.norm(Y.astype(np.float64), axis=1, keepdims=True)
    S = V @ U.T
    a, b = np.nonzero(threshold <= S)
    return {(i, j) for i, j in zip(a.tolist(), b.tolist(), strict=True) if Y is not None or i < j}


def found_pairs(X, threshold, Y=None):
    join = CosineJoin(mc.as_matrix(X), threshold, 10**6)
    blocks = join.own_pairs() if Y is None else join.pairs_with(mc.as_matrix(Y))
    return [tuple(pair) for _, pairs, _ in blocks for pair in pairs.tolist()]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 80), st.sampled_from([1, 3, 17, 40]), st.floats(0.1, 0.99), st.integers(0, 999))
def test_pairs_are_those_of_all_cosines(n, d, threshold, seed):
    rng = np.random.default_rng(seed)
    # Around a few centers, so that there are pairs, and rows with many of them.
    X = (rng.normal(size=(4, d))[rng.integers(0, 4, n)] + 0.4 * rng.normal(size=(n, d))).astype(np.float32)
    Y = (X[: n // 2 + 1] + 0.1 * rng.normal(size=(n // 2 + 1, d))).astype(np.float32)
    for other in (None, Y):
        found = found_pairs(X, threshold, other)
        assert len(found) == len(set(found))
        assert set(found) == all_pairs(X, threshold, other)


def test_a_part_of_the_columns_finds_them_all(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 128), np.float32)
    copies = rng.permutation(3000)[:200].reshape(-1, 2)
    X[copies[:, 1]] = X[copies[:, 0]] + 0.2 * rng.standard_normal((100, 128), np.float32)
    bound = PrefixBound.of(mc.as_matrix(X), 0.95)
    assert bound.V is not None
    assert bound.V.shape[1] < 128
    monkeypatch.setattr(cosine_join, "_QUERIES", 700)
    assert set(found_pairs(X, 0.95)) == all_pairs(X, 0.95)
    assert len(all_pairs(X, 0.95)) >= 90


def test_bounds_are_never_below_cosines():
    X = np.random.default_rng(0).normal(size=(60, 40)) * np.linspace(3, 0.1, 40)
    V = np.linalg.qr(np.random.default_rng(1).normal(size=(40, 40)))[0]
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    for m in (1, 16, 39):
        B = PrefixBound(V[:, :m]).rows(mc.as_matrix(X)).astype(np.float64)
        assert (B @ B.T >= U @ U.T - 1e-6).all()


def test_rows_of_zeros_are_like_nothing():
    X = np.zeros((5, 20), np.float32)
    X[0, 0] = X[3, 0] = 1
    assert found_pairs(X, 0.5) == [(0, 3)]


def test_too_many_pairs_are_one_sentence():
    X = np.ones((3000, 20), np.float32)
    with pytest.raises(TooManyPairsError, match="threshold must be higher, as more than 1,000 pairs"):
        list(CosineJoin(mc.as_matrix(X), 0.9, 1000).own_pairs())

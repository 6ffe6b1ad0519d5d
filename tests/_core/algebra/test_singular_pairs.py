"""The first singular pairs."""

import numpy as np
import pytest

from manyclass._core.algebra import singular
from manyclass._core.algebra.singular import singular_pairs_above, top_singular_pairs


def _matrix(d, k, seed=0):
    rng = np.random.default_rng(seed)
    U, V = np.linalg.qr(rng.standard_normal((d, 10)))[0], np.linalg.qr(rng.standard_normal((k, 10)))[0]
    return (U * 0.5 ** np.arange(10)) @ V.T + 1e-5 * rng.standard_normal((d, k))


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (400, 300), (300, 400), (1, 5), (5, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_are_those_of_the_whole_decomposition(shape, dtype):
    G = _matrix(*shape).astype(dtype) if min(shape) > 1 else np.ones(shape, dtype)
    U, s, V = top_singular_pairs(G, 4)
    r = min(4, *shape)
    np.testing.assert_allclose(s[:r], np.linalg.svd(G.astype(float), compute_uv=False)[:r], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(G @ V, U * s, atol=1e-4)
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-6)


def test_a_start_makes_few_rounds_enough():
    G = _matrix(400, 300) + 0.01 * np.random.default_rng(1).standard_normal((400, 300))
    exact = np.linalg.svd(G)
    near = exact[2][:8].T + 1e-3 * np.random.default_rng(2).standard_normal((300, 8))
    cold, warm = top_singular_pairs(G, 8, rounds=1)[1], top_singular_pairs(G, 8, near, rounds=1)[1]
    errors = [np.abs(s - exact[1][:8]).max() for s in (cold, warm)]
    assert errors[1] < 1e-4 < errors[0]


def test_zero_has_pairs_too():
    U, s, V = top_singular_pairs(np.zeros((6, 4)), 2)
    assert (s == 0).all()
    assert np.isfinite(U).all()
    np.testing.assert_allclose(V.T @ V, np.eye(2), atol=1e-12)


@pytest.mark.parametrize("shape", [(300, 260), (260, 300)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_just_above_a_crowd_are_all_found(shape, dtype):
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((size, 260)))[0] for size in shape)
    values = np.sort(np.r_[1.004, 1.002, np.linspace(0.9, 0.999, 258)])[::-1]
    G = ((U * values) @ V.T).astype(dtype)
    P, s, Q = singular_pairs_above(G, 1.0, 8)
    np.testing.assert_allclose(s, [1.004, 1.002], rtol=1e-6)
    np.testing.assert_allclose(np.abs(np.sum(P * U[:, :2], axis=0)), 1, rtol=1e-3)
    np.testing.assert_allclose(np.abs(np.sum(Q * V[:, :2], axis=0)), 1, rtol=1e-3)


@pytest.mark.parametrize("middling", [5, 1500])
def test_of_pairs_above_a_threshold_the_first_are_taken(middling, monkeypatch):
    monkeypatch.setattr(singular, "MIDDLING", middling)
    G = np.zeros((12, 9))
    G[range(6), range(6)] = [6.0, 5, 4, 3, 2, 1]
    np.testing.assert_allclose(singular_pairs_above(G, 2.5, 3)[1], [6, 5, 4])
    np.testing.assert_allclose(singular_pairs_above(G, 2.5, 9)[1], [6, 5, 4, 3])
    assert singular_pairs_above(G, 6.5, 9)[0].shape == (12, 0)


@pytest.mark.parametrize("size", [0.0, 1e-200])
def test_nothing_is_above_a_threshold_that_is_beyond_all_comparison(size):
    U, s, V = singular_pairs_above(size * np.ones((6, 4)), 1.0, 3)
    assert U.shape == (6, 0)
    assert s.shape == (0,)
    assert V.shape == (4, 0)

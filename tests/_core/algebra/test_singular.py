"""Singular values and vectors, by each of the ways to find them."""

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.algebra import singular

BEYOND = singular.SMALL + 40


def draw(d, k, seed=0, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal((d, k)).astype(dtype)


@pytest.mark.parametrize("shape", [(BEYOND, BEYOND), (BEYOND, 300), (300, BEYOND), (300, 5), (5, 300)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_the_top_is_that_of_the_whole_decomposition(shape, dtype, size):
    G = dtype(size) * draw(*shape, dtype=dtype)
    u, s, v = singular.top_singular_triple(G)
    U, values, Vt = np.linalg.svd(G.astype(np.float64))
    assert s == pytest.approx(values[0], rel=1e-10)
    np.testing.assert_allclose(np.outer(u, v), np.outer(U[:, 0], Vt[0]), atol=1e-6)


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("n", [4, BEYOND])
def test_squares_that_no_float_can_hold_do_not_matter(n, size):
    G = draw(n, n)
    assert singular.top_singular_triple(size * G)[1] == pytest.approx(size * np.linalg.norm(G, 2), rel=1e-10)


@pytest.mark.parametrize("rank", [1, 2, 30])
def test_a_large_matrix_of_low_rank_has_its_top(rank):
    G = draw(BEYOND, rank) @ draw(rank, BEYOND, seed=1)
    assert singular.top_singular_triple(G)[1] == pytest.approx(np.linalg.norm(G, 2), rel=1e-10)


@pytest.mark.parametrize("n", [3, BEYOND])
def test_equal_singular_values_are_no_trouble(n):
    u, s, v = singular.top_singular_triple(-np.eye(n))
    assert s == pytest.approx(1)
    assert -u @ v == pytest.approx(1)


@pytest.mark.parametrize("shape", [(BEYOND, BEYOND), (2, 300), (1, 1)])
def test_a_zero_matrix_has_some_pair_of_unit_vectors(shape):
    u, s, v = singular.top_singular_triple(np.zeros(shape))
    assert s == 0
    assert (np.linalg.norm(u), np.linalg.norm(v)) == (1, 1)


@pytest.mark.parametrize("threshold", [0.1, 2.0, 6.0, 100.0])
@pytest.mark.parametrize("shape", [(20, 6), (6, 6)])
def test_both_ways_to_shrink_agree(shape, threshold):
    A = draw(*shape)
    (V, s), (W, t) = singular.shrink_by_gram(A, threshold), singular.shrink_by_svd(A, threshold)
    np.testing.assert_allclose(V, W, atol=1e-12)
    np.testing.assert_allclose(s, t, atol=1e-12)


def test_small_thresholds_on_matrices_of_bad_condition_keep_their_digits():
    # The Gram matrix knows nothing of singular values below 1e-8 of the largest.
    Q, _ = np.linalg.qr(draw(6, 4))
    A = Q * np.array([1.0, 1e-3, 1e-9, 1e-10])
    V, s = singular.shrink_singular_values(A, 5e-10)
    np.testing.assert_allclose(s, [1 - 5e-10, 1e-3 - 5e-10, 5e-10], rtol=1e-5)
    np.testing.assert_allclose(V[:, 2], 5e-10 * Q[:, 2], rtol=1e-5)


def test_a_wide_matrix_is_shrunk_as_its_transpose():
    A = draw(4, 9)
    np.testing.assert_allclose(
        singular.shrink_singular_values(A, 1.0)[0], singular.shrink_singular_values(A.T, 1.0)[0].T, atol=1e-13
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_results_have_the_same_bits_for_any_number_of_threads(dtype):
    W = draw(300, 200, dtype=dtype)
    gauge, seen = mc.TraceNorm(1.0), []
    for n_threads in (1, 2):
        with mc.threads(n_threads):
            seen.append((gauge.norm(W), gauge.polar(W), *(a.tobytes() for a in (*gauge.atom(W), gauge.prox(W, 9.0)))))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("shape", [(40, 9), (9, 40)])
@pytest.mark.parametrize("threshold", [0.0, 1e-6, 1.0, 1e3])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e200])
def test_singular_values_above_a_threshold_are_those_of_the_whole_decomposition(shape, threshold, size):
    G = size * draw(*shape)
    exact = np.linalg.svd(G, compute_uv=False)
    found = np.sort(singular.singular_values_above(G, size * threshold))[::-1]
    np.testing.assert_allclose(found, exact, rtol=1e-9)


@pytest.mark.parametrize("shape", [(40, 9), (9, 40), (1, 1)])
@pytest.mark.parametrize("size", [0.0, 1e-200, 1.0, 1e200])
@pytest.mark.parametrize("middling", [1, 1500])
def test_the_top_value_is_that_of_the_whole_decomposition(shape, size, middling, monkeypatch):
    monkeypatch.setattr(singular, "MIDDLING", middling)
    G = size * draw(*shape)
    assert singular.top_singular_value(G) == pytest.approx(np.linalg.svd(G, compute_uv=False)[0], rel=1e-10, abs=0)


@pytest.mark.parametrize(("dtype", "rank"), [(np.float32, 1), (np.float64, 2)])
def test_a_rank_counts_what_the_dtype_can_tell(dtype, rank):
    assert singular.rank_above_rounding(np.array([1.0, 1e-7]), dtype) == rank


def test_flipped_factors_make_up_the_same_matrix_whatever_their_signs_were():
    rng = np.random.default_rng(0)
    U, s, Vt = np.linalg.svd(rng.standard_normal((6, 4)), full_matrices=False)
    signs = np.array([1, -1, -1, 1])
    flipped, again = singular.svd_flip(U, s, Vt.T), singular.svd_flip(U * signs, s, Vt.T * signs)
    for one, other in zip(flipped, again, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose((flipped[0] * s) @ flipped[2].T, (U * s) @ Vt)
    assert (singular.column_signs(flipped[0]) == 1).all()


def test_nothing_can_be_flipped():
    U, s, V = singular.svd_flip(np.zeros((3, 0)), np.zeros(0), np.zeros((2, 0)))
    assert (U.shape, s.shape, V.shape) == ((3, 0), (0,), (2, 0))

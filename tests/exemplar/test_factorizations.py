"""What all factors of a Gram matrix promise, and what each of them promises besides."""

import numpy as np
import pytest

from manyclass.data.dense import DenseMatrix
from manyclass.data.kernels import exemplar_kernel
from manyclass.exemplar import factorizations as pca
from manyclass.exemplar.factorizations import (
    complete_cholesky,
    incomplete_cholesky,
    incomplete_cholesky_pinv,
    kernel_pca,
    nystrom,
)
from manyclass.exemplar.gram import GramOfRows, PrecomputedGram


def full_kernel_pca(gram):
    return kernel_pca(gram, None)


def full_incomplete_cholesky(gram):
    return incomplete_cholesky(gram, None)


FULL = [complete_cholesky, full_incomplete_cholesky, full_kernel_pca]
RANKED = [incomplete_cholesky, kernel_pca, nystrom]
rng = np.random.default_rng(0)
X = rng.standard_normal((90, 6)).astype(np.float32)
GRAMS = {
    "regular": GramOfRows(DenseMatrix(X), exemplar_kernel("rbf", 1.0)),
    "duplicated": GramOfRows(DenseMatrix(np.repeat(X[:30], 3, axis=0)), exemplar_kernel("rbf", 1.0)),
    "of low rank": GramOfRows(DenseMatrix(X), exemplar_kernel("linear", 1.0)),
    "zero": GramOfRows(DenseMatrix(np.zeros((3, 2), np.float32)), exemplar_kernel("linear", 1.0)),
    "of one": GramOfRows(DenseMatrix(X[:1]), exemplar_kernel("poly", 1.0)),
}
RANKS = {"regular": 90, "duplicated": 30, "of low rank": 6, "zero": 1, "of one": 1}


@pytest.fixture(autouse=True)
def few_landmarks(monkeypatch):
    """So that Nystrom's factor has fewer of them than there are negatives."""
    monkeypatch.setattr(pca, "_FEWEST", 16)
    monkeypatch.setattr(pca, "_LANDMARKS", 1.2)


@pytest.mark.parametrize("factorize", FULL)
@pytest.mark.parametrize("name", GRAMS)
def test_a_full_factor_is_a_factor_of_the_rank_of_the_gram_matrix(factorize, name):
    K, factor = GRAMS[name].whole(), factorize(GRAMS[name])
    np.testing.assert_allclose(factor.B @ factor.B.T, K, atol=1e-12 * max(1, np.abs(K).max()))
    assert factor.B.shape[1] == RANKS[name]
    assert factor.residual == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("factorize", [*FULL, *(lambda g, f=f: f(g, 4) for f in RANKED)])
@pytest.mark.parametrize("name", GRAMS)
def test_kernel_values_with_the_landmarks_give_the_coordinates(factorize, name):
    factor = factorize(GRAMS[name])
    found = GRAMS[name].whole()[:, factor.landmarks] @ factor.M
    np.testing.assert_allclose(found, factor.B, atol=1e-10 * max(1, np.abs(factor.B).max()))


@pytest.mark.parametrize("factorize", RANKED)
@pytest.mark.parametrize("rank", [1, 7, 65])
def test_the_residual_is_the_part_of_the_trace_that_is_left_out(factorize, rank):
    K, factor = GRAMS["regular"].whole(), factorize(GRAMS["regular"], rank)
    assert factor.B.shape == (90, rank)
    assert factor.residual == pytest.approx(np.trace(K - factor.B @ factor.B.T) / np.trace(K))


@pytest.mark.parametrize("factorize", RANKED)
def test_a_rank_above_the_number_of_negatives_is_that_number(factorize):
    assert factorize(GRAMS["regular"], 1000).B.shape == (90, 90)


def test_kernel_pca_leaves_as_little_as_any_factor_of_its_rank_can():
    K, factor = GRAMS["regular"].whole(), kernel_pca(GRAMS["regular"], 5)
    left = np.linalg.norm(K - factor.B @ factor.B.T)
    assert left == pytest.approx(np.sqrt((np.linalg.eigvalsh(K)[:-5] ** 2).sum()))


def test_a_few_components_of_many_negatives_are_those_of_all(monkeypatch):
    monkeypatch.setattr(pca, "_SMALL", 10)
    few = kernel_pca(GRAMS["regular"], 8).B
    monkeypatch.setattr(pca, "_few", pca._all)
    np.testing.assert_allclose(few @ few.T, (B := kernel_pca(GRAMS["regular"], 8).B) @ B.T, atol=1e-10)


def test_components_that_lanczos_does_not_find_are_found_by_all(monkeypatch):
    def fail(*args, **kwargs):
        raise pca.ArpackNoConvergence("no", np.zeros(0), np.zeros((0, 0)))

    expected = kernel_pca(GRAMS["regular"], 8).residual
    monkeypatch.setattr(pca, "_SMALL", 10)
    monkeypatch.setattr(pca, "eigsh", fail)
    assert kernel_pca(GRAMS["regular"], 8).residual == pytest.approx(expected)


def test_pivots_are_the_negatives_that_those_before_explain_least():
    K = GRAMS["regular"].whole()
    left, pivots = K.copy(), []
    for _ in range(12):
        pivots.append(int(left.diagonal().argmax()))
        left = left - np.outer(left[:, pivots[-1]], left[pivots[-1]]) / left[pivots[-1], pivots[-1]]
    factor = incomplete_cholesky(GRAMS["regular"], 12)
    assert list(factor.landmarks) == pivots
    np.testing.assert_allclose(K - factor.B @ factor.B.T, left, atol=1e-12)


@pytest.mark.parametrize("factorize", [incomplete_cholesky, incomplete_cholesky_pinv, nystrom])
def test_the_gram_matrix_is_never_formed(factorize):
    class Columns(GramOfRows):
        def whole(self):
            raise AssertionError

    assert factorize(Columns(DenseMatrix(X), exemplar_kernel("rbf", 1.0)), 9).B.shape == (90, 9)


@pytest.mark.parametrize("name", GRAMS)
def test_coordinates_by_the_pseudoinverse_are_those_of_least_squares(name):
    """Eq. 12 of Rezende et al.: v = B^+ k."""
    K, factor = GRAMS[name].whole(), incomplete_cholesky_pinv(GRAMS[name], 4)
    np.testing.assert_array_equal(factor.B, incomplete_cholesky(GRAMS[name], 4).B)
    found = K[:, factor.landmarks] @ factor.M
    np.testing.assert_allclose(found.T, np.linalg.lstsq(factor.B, K)[0], atol=1e-10)


@pytest.mark.parametrize("name", GRAMS)
def test_nystrom_has_the_principal_components_of_the_projections_on_what_its_landmarks_span(name):
    K, factor = GRAMS[name].whole(), nystrom(GRAMS[name], 5)
    P = factor.landmarks
    projected = K[:, P] @ np.linalg.pinv(K[np.ix_(P, P)], rcond=1e-12, hermitian=True) @ K[P]
    squares, U = np.linalg.eigh(projected)
    best = (U[:, -5:] * squares[-5:]) @ U[:, -5:].T
    np.testing.assert_allclose(factor.B @ factor.B.T, best, atol=1e-8 * max(1, np.abs(K).max()))


def test_nystrom_with_all_negatives_is_kernel_pca(monkeypatch):
    monkeypatch.setattr(pca, "_FEWEST", 256)
    np.testing.assert_array_equal(nystrom(GRAMS["regular"], 5).B, kernel_pca(GRAMS["regular"], 5).B)


def test_nystrom_takes_landmarks_from_all_negatives_in_whatever_order_they_come():
    landmarks = nystrom(GRAMS["regular"], 5).landmarks
    counts = np.histogram(landmarks, 3, (0, GRAMS["regular"].n))[0]
    assert counts.min() > 0.15 * len(landmarks)
    assert len(set(landmarks.tolist())) == len(landmarks) < GRAMS["regular"].n


def test_nystrom_of_a_precomputed_gram_matrix_is_that_of_its_rows():
    given = nystrom(PrecomputedGram(DenseMatrix(GRAMS["regular"].whole())), 5)
    np.testing.assert_allclose(given.B, nystrom(GRAMS["regular"], 5).B, atol=1e-10)


def test_negative_eigenvalues_are_lifted_to_zero():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    factor = complete_cholesky(PrecomputedGram(DenseMatrix(K)))
    np.testing.assert_allclose(factor.B @ factor.B.T, K + np.eye(2), atol=1e-12)


def test_a_pivot_that_is_only_rounding_is_left_out():
    K = np.array([[1.0, 1.0], [1.0, 1.0 + np.finfo(np.float64).eps]])
    assert complete_cholesky(PrecomputedGram(DenseMatrix(K))).B.shape == (2, 1)

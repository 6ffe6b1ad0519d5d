"""Fisher vectors are the gradients that the formula says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass import _native
from manyclass.features.aggregation.fisher import FisherAggregation, fisher_vector
from manyclass.features.aggregation.pyramid import Pyramid
from manyclass.features.aggregation.vocabulary import DiagonalGmm
from tests.features import twins


def difference(found, expected):
    """The largest difference, as a share of the largest number."""
    return np.abs(found - expected).max() / max(1e-30, np.abs(expected).max())


@given(n=st.integers(1, 300), d=st.integers(1, 70), k=st.integers(1, 50), spread=st.sampled_from([0.1, 1.0, 3.0]))
@pytest.mark.parametrize("level", _native.levels())
def test_random_descriptors_agree_with_float64(level, any_level, n, d, k, spread):
    _native.set_level(level)
    mixture = twins.mixture_of(k, d, n, spread)
    X = twins.rows_of(mixture, n, seed=1)
    assert difference(fisher_vector(X, mixture), twins.fisher(X, mixture)) < 1e-4


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_descriptors_or_none_give_finite_numbers(n):
    mixture = twins.mixture_of(3, 4)
    X = twins.rows_of(mixture, n)
    np.testing.assert_allclose(fisher_vector(X, mixture), twins.fisher(X, mixture), atol=1e-5)


@pytest.mark.parametrize(
    ("weights", "variance"), [([1 - 1e-6, 1e-6], 1.0), ([0.5, 0.5], 1e-6), ([0.999999, 1e-6], 1e-4)], ids=str
)
def test_tiny_weights_and_variances_agree_with_float64(weights, variance):
    rng = np.random.default_rng(0)
    mixture = DiagonalGmm(np.array(weights), rng.normal(size=(2, 6)), np.stack([np.ones(6), np.full(6, variance)]))
    X = np.concatenate([rng.normal(size=(200, 6)), np.tile(mixture.means[1], (20, 1))]).astype("f4")
    assert difference(fisher_vector(X, mixture), twins.fisher(X, mixture)) < 1e-4


@pytest.mark.parametrize(("away", "width"), [(0.5, 1e-4), (0.5, 1e-6), (1e4, 1.0)])
def test_rows_that_lie_together_far_from_zero_agree_with_float64(away, width):
    m = twins.mixture_of(16, 40)
    mixture = DiagonalGmm(m.weights, away + width * m.means, width**2 * m.variances)
    X = (away + width * twins.rows_of(m, 200)).astype(np.float32)
    assert difference(fisher_vector(X, mixture), twins.fisher(X, mixture)) < 1e-4


def test_it_is_the_gradient_of_the_likelihood_in_the_means():
    mixture = twins.mixture_of(3, 4, spread=1)
    X = twins.rows_of(mixture, 50, seed=1)
    u = fisher_vector(X, mixture)[:12].reshape(3, 4)
    step = 1e-5

    def likelihood(means):
        moved = DiagonalGmm(mixture.weights, means, mixture.variances)
        return np.logaddexp.reduce(twins.log_densities(X, moved), axis=1).mean()

    for k, j in np.ndindex(3, 4):
        E = np.zeros((3, 4))
        E[k, j] = step
        slope = (likelihood(mixture.means + E) - likelihood(mixture.means - E)) / (2 * step)
        expected = slope * np.sqrt(mixture.variances[k, j] / mixture.weights[k])
        assert u[k, j] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("layouts", [("1x1",), ("1x1", "3x1"), ("2x2", "1x1", "3x1")], ids=str)
def test_every_region_is_the_improved_fisher_vector_of_its_own_rows(layouts):
    mixture = twins.mixture_of(5, 6)
    X, positions = twins.rows_of(mixture, 400), np.random.default_rng(2).random((400, 2)).astype("f4")
    pyramid = Pyramid(layouts)
    found = FisherAggregation(mixture).regions(X, positions, pyramid)
    assert found.dtype == np.float32
    at = 0
    for rows, columns in pyramid.grids:
        region = (positions[:, 1] * rows).astype(int) * columns + (positions[:, 0] * columns).astype(int)
        for r in range(rows * columns):
            plain = twins.fisher(X[region == r], mixture)
            improved = np.sign(plain) * np.sqrt(np.abs(plain))
            np.testing.assert_allclose(found[at], improved / np.linalg.norm(improved), atol=1e-4)
            at += 1


def test_a_region_without_rows_is_zero_and_the_others_are_not():
    mixture = twins.mixture_of(2, 3)
    X = twins.rows_of(mixture, 20)
    positions = np.full((20, 2), 0.1, np.float32)
    found = FisherAggregation(mixture).regions(X, positions, Pyramid(("3x1",)))
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1, 0, 0], atol=1e-6)

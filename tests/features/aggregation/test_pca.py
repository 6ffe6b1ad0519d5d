"""PCA agrees with scikit-learn's, and no direction is blown up."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

import manyclass as mc
from manyclass import _native
from manyclass.features.aggregation.pca import Projection, fit_projection, project_descriptors
from manyclass.features.local.descriptor import LocalDescriptors


def rows(n: int = 300, d: int = 11, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5).astype(np.float32)


@pytest.mark.parametrize("p", [1, 4, 11])
def test_components_are_those_of_scikit_learn(p):
    X, Y = rows(), rows(seed=1)
    expected = PCA(p, svd_solver="full").fit(X.astype(float)).transform(Y.astype(float))
    np.testing.assert_allclose(np.abs(fit_projection(X, p, False)(Y)), np.abs(expected), atol=1e-4)


def test_whitened_rows_are_those_of_scikit_learn_at_unit_length():
    X = rows(d=5)
    model = PCA(5, whiten=True, svd_solver="full").fit(X.astype(float))
    shares = model.explained_variance_ / model.explained_variance_[0]
    expected = model.transform(X) * np.sqrt(np.minimum(1, 100 * shares))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(fit_projection(X, 5, True)(X)), np.abs(expected), atol=1e-3)


@pytest.mark.parametrize("level", _native.levels())
@pytest.mark.parametrize(("n", "d", "p"), [(0, 3, 2), (1, 1, 1), (97, 128, 64), (200, 96, 17), (30, 5, 33)])
def test_projected_rows_are_products_in_float64(level, any_level, n, d, p):
    _native.set_level(level)
    rng = np.random.default_rng(n)
    X, mean, components = (rng.normal(size=shape).astype("f") for shape in ((n, d), (d,), (d, p)))
    expected = (X.astype(float) - mean) @ components.astype(float)
    np.testing.assert_allclose(Projection(mean, components)(X), expected, atol=2e-6 * d)


@pytest.mark.parametrize("level", _native.levels())
def test_a_projected_row_depends_on_itself_alone(level, any_level):
    _native.set_level(level)
    X = rows(50)
    projection = fit_projection(X, 4, False)
    together = projection(X)
    for i in range(50):
        np.testing.assert_array_equal(projection(X[i : i + 1])[0], together[i])


def test_what_a_projection_works_with_is_no_part_of_its_state():
    projection = fit_projection(rows(), 4, False)
    projection(rows())
    assert sorted(projection.state()) == ["components", "mean", "unit"]


def test_a_large_offset_costs_no_variance():
    X = rows()
    near, far = fit_projection(X, 3, False), fit_projection(X + np.float32(1000), 3, False)
    np.testing.assert_allclose(near.components, far.components, atol=1e-3)


@pytest.mark.parametrize("whiten", [False, True])
def test_rows_that_are_all_alike_give_zeros(whiten):
    X = np.full((20, 6), 0.25, np.float32)
    projection = fit_projection(X, 4, whiten)
    assert not projection(X).any()
    assert np.isfinite(projection(rows(d=6))).all()


def test_the_number_of_threads_changes_no_bit():
    X = rows(9000)
    results = []
    for n in (1, 2, 3):
        with mc.threads(n):
            results.append(fit_projection(X, 5, False)(X).tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize(
    ("X", "p", "sentence"),
    [
        (rows(), 12, "n_components must be at most the 11 numbers of a descriptor; got 12"),
        (np.where(np.arange(11) == 3, np.nan, rows()), 3, "descriptors must hold finite numbers; row 0 has NaN"),
    ],
    ids=["too many", "nan"],
)
def test_what_cannot_be_projected_is_refused(X, p, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit_projection(X, p, False)


def test_a_projection_that_does_not_fit_itself_is_refused():
    with pytest.raises(ValueError, match=r"a projection must have a mean \(D,\) and components"):
        Projection(np.zeros(3, np.float32), np.zeros((4, 2), np.float32))


@pytest.mark.parametrize(("coordinates", "expected"), [(False, [[7.0]]), (True, [[7.0, -0.25, 0.5]])])
def test_coordinates_stand_beside_the_numbers_and_count_from_the_middle(coordinates, expected):
    local = LocalDescriptors(np.array([[7.0]], "f4"), np.array([[0.25, 1.0]], "f4"))
    assert project_descriptors(local, None, coordinates).tolist() == expected

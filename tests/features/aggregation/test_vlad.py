"""VLAD: unit words, rotated to their axes, roots, unit length."""

import numpy as np
import pytest

from manyclass.features.aggregation.pyramid import Pyramid
from manyclass.features.aggregation.vlad import VladAggregation, fit_rotations
from manyclass.features.aggregation.vocabulary import VisualVocabulary, fit_vocabulary
from tests.features import twins


def sample(n: int = 500, d: int = 9, k: int = 6) -> tuple[np.ndarray, VisualVocabulary]:
    X = twins.rows_of(twins.mixture_of(4, d), n)
    return X, fit_vocabulary(X, k, seed=0)


def unit(X):
    lengths = np.linalg.norm(X, axis=-1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1)


@pytest.mark.parametrize("rotate", [False, True])
def test_a_vector_is_what_the_formula_says(rotate):
    X, words = sample()
    R = fit_rotations(X, words)
    found = VladAggregation(words, R if rotate else None).regions(X[:70], np.zeros((70, 2), "f4"), Pyramid(("1x1",)))
    S = unit(twins.residuals(X[:70], words.centers))
    if rotate:
        S = np.stack([R[c].T.astype(float) @ S[c] for c in range(6)])
    expected = unit((np.sign(S) * np.sqrt(np.abs(S))).ravel())
    np.testing.assert_allclose(found[0], expected, atol=1e-4)


def test_rotations_are_orthogonal_and_sort_the_residuals_by_variance():
    X, words = sample(3000, k=4)
    R, labels = fit_rotations(X, words), twins.nearest(X, words.centers)
    for c in range(4):
        np.testing.assert_allclose(R[c].T @ R[c], np.eye(9), atol=1e-5)
        turned = (X[labels == c] - words.centers[c]) @ R[c]
        moments = turned.T @ turned / len(turned)
        np.testing.assert_allclose(moments, np.diag(np.diag(moments)), atol=1e-3)
        assert (np.diff(np.diag(moments)) <= 1e-4).all()


def test_a_word_with_a_single_row_keeps_its_axes():
    words = VisualVocabulary(np.array([[0.0, 0.0], [50.0, 50.0]], "f4"))
    X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5], [50.0, 51.0]], "f4")
    np.testing.assert_array_equal(fit_rotations(X, words)[1], np.eye(2))


def test_no_rows_give_zeros():
    _, words = sample()
    found = VladAggregation(words, None).regions(
        np.zeros((0, 9), "f4"), np.zeros((0, 2), "f4"), Pyramid(("1x1", "3x1"))
    )
    assert found.shape == (4, 54)
    assert not found.any()


def test_rotations_of_another_shape_are_refused():
    _, words = sample()
    with pytest.raises(ValueError, match=r"rotations must have shape \(6, 9, 9\); got \(6, 9, 8\)"):
        VladAggregation(words, np.zeros((6, 9, 8), "f4"))

"""Words are centers of their rows; the nearest is found as by a loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass import _native
from manyclass.features.aggregation.pyramid import Partition
from manyclass.features.aggregation.vocabulary import VisualVocabulary, _lloyd_step, fit_vocabulary
from tests.features import twins


@given(n=st.integers(0, 150), d=st.integers(1, 40), k=st.integers(1, 40), seed=st.integers(0, 99))
@pytest.mark.parametrize("level", _native.levels())
def test_the_nearest_word_and_the_residuals_are_those_of_a_loop(level, any_level, n, d, k, seed):
    _native.set_level(level)
    rng = np.random.default_rng(seed)
    X, words = rng.normal(size=(n, d)).astype("f4"), VisualVocabulary(rng.normal(size=(k, d)).astype("f4"))
    labels = words.assign(X)
    assert labels.tolist() == twins.nearest(X, words.centers).tolist()
    counts, sums = words.residual_sums(X, labels, Partition.single(n))
    assert counts[0].tolist() == np.bincount(labels, minlength=k).tolist()
    np.testing.assert_allclose(sums[0], twins.residuals(X, words.centers), atol=1e-4)


@pytest.mark.parametrize("level", _native.levels())
def test_the_first_of_equal_words_is_taken(level, any_level):
    _native.set_level(level)
    words = VisualVocabulary(np.array([[5.0], [1.0], [1.0], [-1.0]] * 9, "f4"))
    assert words.assign(np.array([[1.2], [0.0], [5.0]], "f4")).tolist() == [1, 1, 0]


def test_words_that_lie_far_away_and_close_together_are_told_apart():
    words = VisualVocabulary(np.array([[3000.0, 0.0], [3000.01, 0.0], [3000.02, 0.0]], "f4"))
    assert words.assign(words.centers).tolist() == [0, 1, 2]


def test_residuals_are_added_up_cell_by_cell():
    X = twins.rows_of(twins.mixture_of(3, 5), 2000)
    words, where = fit_vocabulary(X, 6, seed=0), np.random.default_rng(0).integers(4, size=2000)
    counts, sums = words.residual_sums(X, words.assign(X), Partition.from_labels(where, 4))
    for cell in range(4):
        rows = X[where == cell]
        np.testing.assert_allclose(sums[cell], twins.residuals(rows, words.centers), atol=1e-3)
        assert counts[cell].sum() == len(rows)


def test_words_are_the_means_of_their_rows_at_the_end():
    X = twins.rows_of(twins.mixture_of(8, 3, spread=20), 1000)
    words = fit_vocabulary(X, 8, seed=0, iterations=100)
    labels = twins.nearest(X, words.centers)
    means = np.stack([X[labels == c].mean(axis=0, dtype=float) for c in range(8)])
    np.testing.assert_allclose(words.centers, means, rtol=1e-3, atol=1e-2)


def test_a_word_without_rows_moves_to_the_row_that_is_farthest_from_its_own():
    words, _ = _lloyd_step(
        np.array([[0.0], [1.0], [8.0], [2.0]], "f4"), VisualVocabulary(np.array([[0.0], [1e4]], "f4"))
    )
    assert words.centers.ravel().tolist() == [2.75, 8.0]


def test_the_number_of_threads_changes_no_bit():
    X = twins.rows_of(twins.mixture_of(5, 7), 18_000)
    results = []
    for n in (1, 2):
        with mc.threads(n):
            results.append(fit_vocabulary(X, 12, seed=3, iterations=4).centers.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("distinct", [1, 3])
def test_fewer_different_rows_than_words_are_refused(distinct):
    X = np.repeat(np.arange(distinct, dtype="f4")[:, None], 30, axis=0)
    with pytest.raises(ValueError, match=f"at most {distinct}, the number of distinct descriptors .*; got 4"):
        fit_vocabulary(X, 4, seed=0)
    assert len(fit_vocabulary(X, distinct, seed=0).centers) == distinct


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("level", _native.levels())
def test_rows_that_are_no_numbers_are_refused(bad, level, any_level):
    _native.set_level(level)
    X = np.zeros((5, 3), "f4")
    X[3, 1] = bad
    with pytest.raises(ValueError, match="descriptors must be finite numbers of moderate size; row 3 is not"):
        VisualVocabulary(np.eye(3, dtype="f4")).assign(X)


@pytest.mark.parametrize(
    "centers", [np.zeros((0, 3)), np.zeros(3), np.full((2, 2), np.nan)], ids=["none", "one", "nan"]
)
def test_words_that_are_none_are_refused(centers):
    with pytest.raises(ValueError, match=r"words must be \(k, D\) finite numbers"):
        VisualVocabulary(centers.astype("f4"))

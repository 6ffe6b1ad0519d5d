"""Metrics of several labels are scikit-learn's where it has them, and worked by hand where it has not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics

import manyclass as mc
from manyclass._core.label_lists import LabelLists

E = mc.evaluation


def drawn(seed, n, k):
    rng = np.random.default_rng(seed)
    return (rng.random((n, k)) < 0.3).astype(int), rng.random((n, k)), rng


@given(st.integers(0, 1000), st.integers(1, 30), st.integers(2, 9))
@settings(max_examples=60)
def test_f1_is_scikit_learns(seed, n, k):
    Y, S, _ = drawn(seed, n, k)
    P = (S > 0.6).astype(int)
    for average in ("micro", "macro", "samples"):
        expected = metrics.f1_score(Y, P, average=average, zero_division=0)
        for truth, guess in ((Y, P), (sparse.csr_matrix(Y), sparse.csr_matrix(P))):
            assert E.f1_score(truth, guess, average) == pytest.approx(expected)


def test_f1_of_lists_of_words_is_that_of_their_matrix():
    y, guess = [["cat", "dog"], [], ["bird"]], [["cat"], ["bird"], ["bird", "dog"]]
    # cat: 1 right of 1 and 1; dog: none of 1 and 1; bird: 1 of 1 and 2.
    assert E.f1_score(y, guess, "macro") == pytest.approx((1 + 0 + 2 / 3) / 3)
    assert E.f1_score(y, guess) == pytest.approx(2 * 2 / (3 + 4))
    assert E.f1_score(y, guess, "samples") == pytest.approx((2 / 3 + 0 + 2 / 3) / 3)
    assert E.f1_score(y, guess, "macro", n_classes=5) == pytest.approx((1 + 0 + 2 / 3) / 5)


@given(st.integers(0, 1000), st.integers(1, 30), st.integers(2, 9), st.booleans())
@settings(max_examples=60)
def test_average_precision_is_scikit_learns_with_equal_scores_too(seed, n, k, ties):
    Y, S, _ = drawn(seed, n, k)
    S = S.round(1) if ties else S
    found = E.label_precisions(Y, S)
    for c in range(k):
        if Y[:, c].any():
            assert found[c] == pytest.approx(metrics.average_precision_score(Y[:, c], S[:, c]))
        else:
            assert np.isnan(found[c])
    if Y.any():
        assert E.mean_label_precision(Y, S) == pytest.approx(np.nanmean(found))
    else:
        assert np.isnan(E.mean_label_precision(Y, S))


def test_precision_at_k_counts_own_classes_among_the_best():
    y, top = [[0, 2], [1], []], [[2, 1, 0], [0, 2, 1], [0, 1, 2]]
    assert [E.label_precision_at(y, top, k) for k in (1, 2, 3)] == pytest.approx([1 / 3, 1 / 6, 3 / 9])
    assert E.label_precision_at(LabelLists.of_pairs([0, 0, 1], [0, 2, 1], 3), top) == pytest.approx(3 / 9)


def test_propensities_are_the_formula_of_jain_worked_by_hand():
    # n = 1000: C = (ln 1000 - 1) 2.5^0.55 = 5.9078 * 1.6553.
    C = (np.log(1000) - 1) * 2.5**0.55
    assert E.label_propensities([3, 50], 1000) == pytest.approx([1 / (1 + C * 4.5**-0.55), 1 / (1 + C * 51.5**-0.55)])
    assert E.label_propensities([3], 1000, a=0.6, b=2.6)[0] == pytest.approx(
        1 / (1 + (np.log(1000) - 1) * 3.6**0.6 * 5.6**-0.6)
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_propensities_of_a_few_rows_are_above_0_and_at_most_1(n):
    p = E.label_propensities([0, 1, n], n)
    assert ((p > 0) & (p <= 1)).all()


def test_propensity_scored_precision_is_its_gain_over_the_best_that_any_could_have():
    y, top, p = [[0, 2], [1, 2]], [[0, 1], [2, 0]], [1.0, 0.5, 0.25]
    # k = 1: gains 1 and 4; the best are 4 and 4. k = 2: gains 1 and 4; the best 1 + 4 and 2 + 4.
    assert E.label_precision_at(y, top, 1, p) == pytest.approx(5 / 8)
    assert E.label_precision_at(y, top, 2, p) == pytest.approx(5 / 11)
    assert E.label_precision_at(y, [[2, 0], [2, 1]], 2, p) == 1


@given(st.integers(0, 200), st.integers(1, 12), st.integers(3, 8), st.integers(1, 3))
def test_propensity_scored_precision_is_the_plain_loop(seed, n, k, at):
    Y, S, rng = drawn(seed, n, k)
    Y[:, 0] = 1
    p, top = rng.uniform(0.1, 1, k), np.argsort(-S, axis=1)
    gained = sum(1 / p[c] for i in range(n) for c in top[i, :at] if Y[i, c])
    most = sum(sum(sorted((1 / p[c] for c in range(k) if Y[i, c]), reverse=True)[:at]) for i in range(n))
    assert E.label_precision_at(Y, top, at, p) == pytest.approx(gained / most)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: E.f1_score([[1]], [[1]], "weighted"), "average must be one of micro, macro, samples"),
    (lambda: E.f1_score([["a"]], [["a"], ["b"]]), "each of 1 rows of y; got 2"),
    (lambda: E.f1_score(np.eye(3), [["a"], ["b"], ["c"]]), "both be lists of labels, or matrices"),
    (lambda: E.label_precisions([["a"]], [[0.5]]), "must hold positions of classes"),
    (lambda: E.label_precisions([[4]], [[0.5, 0.1]]), "positions below 2"),
    (lambda: E.label_precisions([[0]], [[np.nan, 0.1]]), "scores"),
    (lambda: E.label_precision_at([[0]], [[0, 1]], 3), "at least k = 3 columns"),
    (lambda: E.label_precision_at([[0]], [0.5]), "matrix of positions"),
    (lambda: E.label_precision_at([[0]], [[0]], 1, [0.0]), "above 0 and at most 1"),
    (lambda: E.label_propensities([[1]], 3), "vector of counts"),
])  # fmt: skip
def test_what_is_no_labels_is_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()

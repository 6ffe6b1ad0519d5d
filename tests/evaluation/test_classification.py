"""Accuracies by their definition, by hand, and where scikit-learn means the same."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, top_k_accuracy_score

from manyclass.evaluation import accuracy, class_accuracies, classification, confusions, top_k_accuracy

# Ranks of the right class: 1, 2, 3, 1, 2.
Y = np.array([0, 0, 0, 1, 3])
SCORES = np.array(
    [
        [9.0, 1.0, 2.0, 3.0],
        [5.0, 6.0, 2.0, 3.0],
        [4.0, 6.0, 2.0, 5.0],
        [1.0, 7.0, 2.0, 3.0],
        [1.0, 2.0, 8.0, 3.0],
    ]
)


def problem(n, n_classes, seed, distinct=True):
    rng = np.random.default_rng(seed)
    scores = rng.random((n, n_classes)) if distinct else rng.integers(0, 3, (n, n_classes))
    return rng.integers(0, n_classes, n), scores


def top_k_by_counting(y, scores, k):
    """The definition, an example at a time: fewer than k others at least as high."""
    return [sum(s >= row[c] for j, s in enumerate(row) if j != c) < k for row, c in zip(scores, y, strict=True)]


@pytest.mark.parametrize(("k", "mean", "overall"), [(1, 4 / 9, 2 / 5), (2, 8 / 9, 4 / 5), (3, 1, 1), (9, 1, 1)])
def test_top_k_accuracy_by_hand(k, mean, overall):
    assert top_k_accuracy(Y, SCORES, k) == pytest.approx(mean)
    assert top_k_accuracy(Y, SCORES, k, per_class=False) == pytest.approx(overall)


@pytest.mark.parametrize(("k", "expected"), [(1, [1 / 3, 1, np.nan, 0]), (2, [2 / 3, 1, np.nan, 1])])
def test_class_accuracies_by_hand(k, expected):
    np.testing.assert_allclose(class_accuracies(Y, SCORES, k), expected)


def test_k_is_5_for_top_k_and_1_for_each_class():
    y, scores = problem(50, 12, seed=0)
    assert top_k_accuracy(y, scores) == top_k_accuracy(y, scores, k=5) != top_k_accuracy(y, scores, k=4)
    np.testing.assert_array_equal(class_accuracies(y, scores), class_accuracies(y, scores, k=1))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_scores_that_are_all_alike_are_wrong_until_every_class_is_listed(k):
    assert top_k_accuracy([0, 1, 2], np.zeros((3, 3)), k) == (k == 3)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_ties_count_as_wrong_in_whatever_order_the_columns_are(order):
    scores = np.array([[1.0, 1.0, 0.0]])[:, order]
    right = [order.index(0)]
    assert top_k_accuracy(right, scores, k=1) == 0
    assert top_k_accuracy(right, scores, k=2) == 1


@given(
    n=st.integers(1, 40),
    n_classes=st.integers(1, 9),
    k=st.integers(1, 10),
    distinct=st.booleans(),
    block=st.integers(1, 50),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape_and_block_gives_the_definition(monkeypatch, n, n_classes, k, distinct, block, seed):
    monkeypatch.setattr(classification, "_BLOCK", block)
    y, scores = problem(n, n_classes, seed, distinct)
    hits = np.array(top_k_by_counting(y, scores, k))
    assert top_k_accuracy(y, scores, k, per_class=False) == pytest.approx(hits.mean())
    each = [hits[y == c].mean() if (y == c).any() else np.nan for c in range(n_classes)]
    np.testing.assert_allclose(class_accuracies(y, scores, k), each)
    assert top_k_accuracy(y, scores, k) == pytest.approx(np.nanmean(each))


@given(n=st.integers(1, 60), n_classes=st.integers(3, 9), k=st.integers(1, 2), seed=st.integers(0, 2**32 - 1))
def test_without_ties_it_is_the_accuracy_of_scikit_learn(n, n_classes, k, seed):
    y, scores = problem(n, n_classes, seed)
    theirs = top_k_accuracy_score(y, scores, k=k, labels=np.arange(n_classes))
    assert top_k_accuracy(y, scores, k, per_class=False) == pytest.approx(theirs)


# scikit-learn gives the same number with a warning where a class is only predicted, or the only one.
@pytest.mark.filterwarnings("ignore:y_pred contains classes", "ignore:A single label")
@given(n=st.integers(1, 60), n_classes=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
def test_the_mean_over_classes_is_the_balanced_accuracy_of_scikit_learn(n, n_classes, seed):
    y, scores = problem(n, n_classes, seed)
    predicted = scores.argmax(axis=1)
    assert accuracy(y, predicted) == pytest.approx(balanced_accuracy_score(y, predicted))
    assert accuracy(y, predicted, per_class=False) == pytest.approx((y == predicted).mean())


def test_top_1_is_the_accuracy_of_the_highest_score():
    y, scores = problem(200, 7, seed=1)
    assert top_k_accuracy(y, scores, k=1) == pytest.approx(accuracy(y, scores.argmax(axis=1)))


@pytest.mark.parametrize("labels", [["owl", "cat", "dog", "bee"], [30, -7, 12, 5], [0.5, 0.25, 4.0, 2.0]])
def test_labels_mean_the_columns_that_classes_names(labels):
    named = np.array(labels)[Y]
    assert top_k_accuracy(named, SCORES, 2, classes=labels) == top_k_accuracy(Y, SCORES, 2)
    np.testing.assert_array_equal(class_accuracies(named, SCORES, 1, classes=labels), class_accuracies(Y, SCORES, 1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_scores_of_any_type_and_order_give_the_same(dtype, order):
    assert top_k_accuracy(Y, np.asarray(SCORES, dtype, order=order), 2) == top_k_accuracy(Y, SCORES, 2)


def test_infinite_scores_rank_first_and_last():
    scores = [[np.inf, 1, 2], [0, -np.inf, -5]]
    assert class_accuracies([0, 1], scores, k=1)[:2].tolist() == [1, 0]
    assert class_accuracies([0, 1], scores, k=2)[:2].tolist() == [1, 0]


def test_no_copy_of_large_scores_is_made():
    scores = np.ones((4000, 5000), np.float32)
    tracemalloc.start()
    top_k_accuracy(np.zeros(4000, int), scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A comparison of all of them at once would take 20 MB.
    assert peak < 6e6


def test_accuracy_takes_names_as_pandas_keeps_them():
    assert accuracy(np.array(["a", "b"], object), ["a", "c"]) == 0.5


def test_a_class_that_is_only_predicted_does_not_count():
    assert accuracy([0, 0], [0, 5]) == 0.5


def test_confusions_by_hand():
    y, predicted = list("aaaabbbc"), list("bbacaacc")
    assert confusions(y, predicted) == [("a", "b", 2), ("b", "a", 2), ("a", "c", 1), ("b", "c", 1)]
    assert confusions(y, predicted, top=1) == [("a", "b", 2)]
    assert confusions(y, predicted)[0].truth == "a"


def test_no_confusion_gives_no_pair():
    assert confusions([3, 1], [3, 1]) == []


@given(n=st.integers(1, 80), n_classes=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
def test_confusions_are_what_lies_beside_the_diagonal_of_the_confusion_matrix(n, n_classes, seed):
    y, scores = problem(n, n_classes, seed)
    matrix = confusion_matrix(y, scores.argmax(axis=1), labels=np.arange(n_classes))
    found = confusions(y, scores.argmax(axis=1), top=n_classes**2)
    assert [times for *_, times in found] == sorted((times for *_, times in found), reverse=True)
    rebuilt = np.diag(np.diag(matrix))
    for truth, predicted, times in found:
        rebuilt[truth, predicted] = times
    np.testing.assert_array_equal(rebuilt, matrix)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 4], SCORES[:2], 1), r"y must hold integers in \[0, 4\); got 4 at row 1"),
        (([-1, 0], SCORES[:2], 1), r"y must hold integers in \[0, 4\); got -1 at row 0"),
        (([0.0, 1.0], SCORES[:2], 1), "y must hold integers where classes is not given; got dtype float64"),
        (([0], SCORES, 1), r"y must have one entry per row of scores \(5\); got 1"),
        ((Y, SCORES[:, 0], 1), r"scores must have one row per example and one column per class; got shape \(5,\)"),
        ((Y, SCORES.astype(str), 1), "scores must hold real numbers; got dtype <U32"),
        ((Y, SCORES, 0), "k must be a whole number, at least 1; got 0"),
        (([], np.zeros((0, 3)), 1), r"y must be a vector with at least one label; got shape \(0,\)"),
        ((Y, SCORES, 1, True, list("abc")), r"classes must have one label per column of scores \(4\); got 3"),
        ((list("abdcc"), SCORES, 1, True, list("abce")), "y must hold labels that are in classes; got 'd' at row 2"),
        ((list("abccc"), SCORES, 1, True, list("abcb")), "classes must hold every label once; got 'b' twice"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_one_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        top_k_accuracy(*arguments)


@pytest.mark.parametrize("row", [0, 3])
def test_a_score_that_is_nan_is_refused_with_its_row(monkeypatch, row):
    monkeypatch.setattr(classification, "_BLOCK", 8)
    scores = SCORES.copy()
    scores[row, 2] = np.nan
    with pytest.raises(ValueError, match=f"^scores must not be NaN; row {row} has one$"):
        class_accuracies(Y, scores)


@pytest.mark.parametrize(
    ("y", "predicted", "sentence"),
    [
        ([0, 1], [0], r"predicted must have one entry per row of y \(2\); got 1"),
        ([0, 1], ["0", "1"], "predicted must hold labels of the same kind as y, int64; got dtype <U1"),
        ([[0, 1]], [[0, 1]], r"y must be a vector with at least one label; got shape \(1, 2\)"),
        ([0, None], [0, 0], "y must hold numbers or strings; got dtype object"),
        ([0.0, np.nan], [0.0, 1.0], "y must hold finite numbers; row 1 has NaN or infinity"),
    ],
)
@pytest.mark.parametrize("measure", [accuracy, confusions])
def test_labels_that_cannot_be_compared_are_refused_in_one_sentence(measure, y, predicted, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        measure(y, predicted)

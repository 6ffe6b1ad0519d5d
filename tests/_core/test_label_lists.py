"""Lists of classes do what Python's sets of them do, and are read from whatever users have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manyclass._core.label_lists import LabelLists, LabelPairs, holds_lists

SETS = st.lists(st.sets(st.integers(0, 6), max_size=4), min_size=1, max_size=12)


def lists_of(sets):
    pairs = [(row, c) for row, classes in enumerate(sets) for c in sorted(classes)]
    rows, classes = zip(*pairs, strict=True) if pairs else ((), ())
    return LabelLists.of_pairs(rows, classes, len(sets))


def sets_of(lists):
    return [set(lists.classes[a:b].tolist()) for a, b in zip(lists.starts[:-1], lists.starts[1:], strict=True)]


@given(SETS, st.randoms())
def test_pairs_in_any_order_and_twice_make_the_lists_that_they_are_of(sets, random):
    pairs = [(row, c) for row, classes in enumerate(sets) for c in classes] * 2
    random.shuffle(pairs)
    rows, classes = zip(*pairs, strict=True) if pairs else ((), ())
    lists = LabelLists.of_pairs(rows, classes, len(sets))
    assert sets_of(lists) == sets
    assert all(
        (np.diff(lists.classes[a:b]) > 0).all() for a, b in zip(lists.starts[:-1], lists.starts[1:], strict=True)
    )


@given(SETS, st.data())
def test_rows_are_taken_in_any_order_and_more_than_once(sets, data):
    index = np.array(data.draw(st.lists(st.integers(0, len(sets) - 1), max_size=9)), np.intp)
    assert sets_of(lists_of(sets).take(index)) == [sets[i] for i in index]
    assert sets_of(lists_of(sets).take(slice(1, 3))) == sets[1:3]


@given(SETS, st.integers(0, 6), st.integers(1, 7))
def test_a_range_of_classes_counts_from_its_first(sets, first, m):
    expected = [{c - first for c in classes if first <= c < first + m} for classes in sets]
    assert sets_of(lists_of(sets).within(first, m)) == expected


@given(SETS, SETS)
def test_hits_are_what_rows_have_in_both(sets, others):
    n = min(len(sets), len(others))
    found = lists_of(sets[:n]).hits(lists_of(others[:n]))
    assert found.tolist() == [len(a & b) for a, b in zip(sets[:n], others[:n], strict=True)]


@given(SETS)
def test_sizes_indicator_and_some_columns_of_it_agree(sets):
    lists, some = lists_of(sets), np.array([0, 2, 5])
    Y = lists.indicator(7, np.int64)
    assert Y.tolist() == [[int(c in classes) for c in range(7)] for classes in sets]
    assert lists.sizes(7).tolist() == Y.sum(axis=0).tolist()
    np.testing.assert_array_equal(lists.are_of(some), Y[:, some] == 1)
    np.testing.assert_array_equal(lists.with_class(7).indicator(8), np.hstack([Y, np.ones((len(Y), 1))]))


def test_one_class_each_is_a_special_case():
    assert sets_of(LabelLists.single([3, 0, 3])) == [{3}, {0}, {3}]


def test_classes_above_their_thresholds_are_chosen_and_those_at_them_not():
    found = LabelLists.above(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]), np.array([0.5, 0.0, 2.0]))
    assert sets_of(found) == [{0}, set()]
    assert sets_of(LabelLists.join([found, LabelLists.single([4])])) == [{0}, set(), {4}]
    assert len(LabelLists.join([])) == 0


MATRIX = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize("form", [
    MATRIX, MATRIX.astype(bool), MATRIX.astype(np.float32), MATRIX.tolist(), list(MATRIX), tuple(map(tuple, MATRIX)),
    sparse.csr_matrix(MATRIX), sparse.csc_array(MATRIX), sparse.coo_array(MATRIX),
])  # fmt: skip
def test_an_indicator_matrix_is_read_in_whatever_form_it_comes(form):
    assert holds_lists(form)
    pairs = LabelPairs.of(form)
    assert pairs.columns == 3
    assert pairs.form == ("sparse" if sparse.issparse(form) else "indicator")
    assert sorted(zip(pairs.rows.tolist(), pairs.labels.tolist(), strict=True)) == [(0, 0), (0, 2), (2, 1)]


def test_stored_zeros_of_a_sparse_matrix_are_no_labels():
    stored = sparse.csr_matrix((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), (1, 3))
    assert LabelPairs.of(stored).labels.tolist() == [0]


@pytest.mark.parametrize("form", [
    [["b", "a"], [], ["b"]], [("b", "a"), (), ("b",)], [{"a", "b"}, set(), {"b"}],
    np.array([["b", "a"], [], ["b"]], object), [np.array(["b", "a"]), np.array([]), np.array(["b"])],
])  # fmt: skip
def test_lists_of_labels_are_read_from_any_sequences(form):
    assert holds_lists(form)
    pairs = LabelPairs.of(form)
    assert (pairs.n, pairs.form, pairs.columns) == (3, "lists", None)
    assert sorted(zip(pairs.rows.tolist(), pairs.labels.tolist(), strict=True)) == [(0, "a"), (0, "b"), (2, "b")]


def test_lists_of_whole_numbers_that_are_no_matrix_are_labels():
    assert LabelPairs.of([[3, 5], [5, 7]]).form == "lists"
    assert LabelPairs.of([[0], [1]]).form == "lists"
    assert LabelPairs.of([[0, 1], [1]]).form == "lists"


@pytest.mark.parametrize("y", [
    [1, 2, 3], ["cat", "dog"], np.arange(3), np.arange(3)[:, None], np.array(["a", "b"], object), "cat", None, 3,
])  # fmt: skip
def test_labels_of_one_each_hold_no_lists(y):
    assert not holds_lists(y)


@pytest.mark.parametrize("y", [np.array([[0, 2], [1, 0]]), np.array([["a", "b"]]), sparse.csr_matrix([[0.5, 1.0]])])
def test_a_matrix_of_other_values_is_refused_with_the_value(y):
    with pytest.raises(ValueError, match="must hold 0 and 1; got"):
        LabelPairs.of(y)


def test_a_row_without_a_list_is_refused():
    with pytest.raises(ValueError, match="a list of labels for every row; got 'cat'"):
        LabelPairs.of([["dog"], "cat"])

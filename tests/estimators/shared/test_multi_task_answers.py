"""Answers of several tasks as signs, and back."""

import numpy as np
import pytest

from manyclass.estimators.shared.multi_task import decode_tasks, encode_lists, encode_tasks, is_labeled


@pytest.mark.parametrize(
    ("y", "unknown", "signs"),
    [
        ([[1, -1], [-1, 0], [0, 1]], 0, [[1, -1], [-1, 0], [0, 1]]),
        ([[1.0, 2.0], [np.nan, 5.0], [0.0, 2.0]], np.nan, [[1, -1], [0, 1], [-1, -1]]),
        ([["no", "a"], ["yes", "b"], ["?", "a"]], "?", [[-1, -1], [1, 1], [0, -1]]),
        ([[True, False], [False, True], [True, True]], None, [[1, -1], [-1, 1], [1, 1]]),
        ([3, 4, 3], None, [[-1], [1], [-1]]),
    ],
)
def test_answers_become_signs_and_come_back(y, unknown, signs):
    classes, found = encode_tasks(y, 3, unknown)
    np.testing.assert_array_equal(found, signs)
    y = np.asarray(y).reshape(3, -1)
    known = is_labeled(y, unknown)
    np.testing.assert_array_equal(decode_tasks(found, classes)[known], y[known])


def test_tasks_with_rows_of_their_own_are_stacked():
    X, classes, signs = encode_lists([np.zeros((2, 3)), np.ones((3, 3))], [[0, 1], ["b", "a", "b"]])
    np.testing.assert_array_equal(X.sum(axis=1), [0, 0, 3, 3, 3])
    np.testing.assert_array_equal(signs, [[-1, 0], [1, 0], [0, 1], [0, -1], [0, 1]])
    assert [pair.tolist() for pair in classes] == [[0, 1], ["a", "b"]]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y"),
        ([[1], [-1]], r"one row per row of X \(3\); got 2"),
        ([1, 1, 1], "task 0 of y must have 2 classes; got 1 class"),
        ([[1, 1], [-1, 2], [1, 3]], "task 1 of y must have 2 classes; got 3 classes"),
        ([[1, 0], [-1, 0], [1, 0]], "task 1 of y must have 2 classes; got 0 classes"),
        ([0, 1, 1], "got 1 class besides missing_label=0; if that is an answer, pass missing_label=None"),
        (np.zeros((3, 0)), "one answer for each row and task"),
        ([[0.5], [1.0], [2.0]], "continuous"),
    ],
)
def test_answers_that_are_none_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        encode_tasks(y, 3, 0)


def test_lists_of_different_tasks_are_refused():
    with pytest.raises(ValueError, match="one entry per task; got 1 and 2"):
        encode_lists([np.zeros((2, 3))], [[0, 1], [0, 1]])


def test_tasks_of_different_columns_are_refused():
    with pytest.raises(ValueError, match=r"X must be a list of arrays .*; got shape \(2, 4\) for task 1"):
        encode_lists([np.zeros((2, 3)), np.zeros((2, 4))], [[0, 1], [0, 1]])

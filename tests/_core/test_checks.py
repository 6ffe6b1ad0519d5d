"""The checks that every folder shares."""

import numpy as np
import pytest

from manyclass._core.checks import (
    as_2d,
    as_row_index,
    check_count,
    check_finite,
    check_length,
    check_nonnegative,
    check_positive,
)


def test_a_vector_becomes_one_column_even_when_empty():
    column, vector = as_2d(np.zeros(0), "R", 0, np.dtype(np.float32))
    assert vector
    assert column.shape == (0, 1)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (slice(2, 4), slice(2, 4)),
        (slice(4, 2), slice(4, 4)),
        (slice(-2, None), slice(3, 5)),
        (slice(None, None, 2), [0, 2, 4]),
        ([-1, 0], [4, 0]),
        ([], []),
        (np.array([True, False, False, False, True]), [0, 4]),
    ],
)
def test_rows_are_given_as_numpy_takes_them(index, expected):
    found = as_row_index(index, 5)
    if isinstance(expected, slice):
        assert found == expected
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("index", [[5], [-6]])
def test_rows_outside_are_refused(index):
    with pytest.raises(IndexError, match=rf"^rows must lie in \[0, 5\); got {index[0]}$"):
        as_row_index(index, 5)


@pytest.mark.parametrize("index", [[0.5], [[0]], ["a"]])
def test_rows_must_be_a_vector_of_integers(index):
    with pytest.raises(ValueError, match=r"^rows must be given by a vector of integers"):
        as_row_index(index, 5)


@pytest.mark.parametrize("value", [0, 11, 2.0, True, "3", None])
def test_a_count_is_a_whole_number_in_its_range(value):
    with pytest.raises(ValueError, match=r"^bits must be a whole number, from 1 to 10; got"):
        check_count(value, "bits", 1, 10)


def test_the_first_row_that_is_not_finite_is_named():
    X = np.ones((4, 2))
    X[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"^X must hold finite numbers; row 12 has NaN or infinity$"):
        check_finite(X, "X", 10)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"^labels must have one entry per row of X \(3\); got 2$"):
        check_length([1, 2], 3, "labels", "X")


@pytest.mark.parametrize("value", [1, 0.5, np.float32(0.5), np.int64(2)])
@pytest.mark.parametrize("check", [check_nonnegative, check_positive])
def test_numbers_become_floats(check, value):
    assert check(value, "x") == value
    assert type(check(value, "x")) is float


def test_zero_is_not_negative_and_not_positive():
    assert check_nonnegative(0, "x") == 0
    with pytest.raises(ValueError, match="x must be a finite number above 0; got 0"):
        check_positive(0, "x")


@pytest.mark.parametrize("value", [-1, np.inf, np.nan, True, "1", None, 1j, np.ones(1)])
@pytest.mark.parametrize("check", [check_nonnegative, check_positive])
def test_what_is_no_such_number_is_refused(check, value):
    with pytest.raises(ValueError, match="x must be a finite number"):
        check(value, "x")

"""Labels and their places among the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.evaluation.labels import as_labels, as_pair, label_positions

label_sets = st.one_of(
    st.lists(st.integers(-50, 50), min_size=1, max_size=9, unique=True),
    st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=9, unique=True),
)


@given(classes=label_sets, n=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_positions_lead_back_to_the_labels(classes, n, seed):
    classes = np.array(classes)
    y = classes[np.random.default_rng(seed).integers(0, len(classes), n)]
    found = label_positions(y, classes, len(classes))
    assert found.dtype == np.intp
    np.testing.assert_array_equal(classes[found], y)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64])
def test_integers_without_classes_are_positions_already(dtype):
    np.testing.assert_array_equal(label_positions(np.array([2, 0], dtype), None, 3), [2, 0])


@pytest.mark.parametrize("label", ["", "abcdef", "b"])
def test_a_label_before_after_or_between_all_classes_is_refused(label):
    with pytest.raises(ValueError, match=f"^y must hold labels that are in classes; got '{label}' at row 1$"):
        label_positions(["a", label], ["c", "a", "abc"], 3)


def test_labels_of_another_kind_than_the_classes_are_refused():
    with pytest.raises(ValueError, match=r"^classes must hold labels of the same kind as y, <U1; got dtype int64$"):
        label_positions(["a"], [1, 2], 2)


def test_numbers_of_different_types_can_be_compared():
    truth, guess = as_pair(np.array([1, 2], np.int32), np.array([1.0, 2.0]))
    assert (truth == guess).all()


def test_one_label_is_not_a_vector_of_labels():
    with pytest.raises(ValueError, match=r"^y must be a vector with at least one label; got shape \(\)$"):
        as_labels("cat", "y")

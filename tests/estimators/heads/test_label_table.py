import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.estimators.heads.label_table import LabelTable, as_labels


@given(st.lists(st.text(), min_size=1, max_size=30, unique=True))
def test_text_comes_back(labels):
    # NumPy drops zeros at the end of text.
    labels = sorted({label.rstrip("\0") for label in labels})
    table = LabelTable.of(np.array(labels, object))
    again = LabelTable.from_arrays(table.arrays())
    assert again.all().tolist() == labels
    assert len(again) == len(labels)


def test_labels_have_the_shape_of_their_numbers():
    table = LabelTable.of(["a", "bc", "d"])
    assert table[np.array([[2, 0], [1, 1]])].tolist() == [["d", "a"], ["bc", "bc"]]


@pytest.mark.parametrize("labels", [np.arange(3, dtype=np.int16), np.array([0.5, 1.5]), np.array([True, False])])
def test_numbers_keep_their_dtype(labels):
    table = LabelTable.of(labels)
    assert table.all().dtype == labels.dtype
    assert table.all().tolist() == labels.tolist()


def test_none_stands_for_numbers():
    assert as_labels(None, 3).all().tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"labels_": np.zeros((2, 2))}, "labels_ must be"),
        ({"labels_": np.zeros(3, np.uint8), "label_ends_": np.array([1, 4])}, "label_ends_ must be"),
        ({"labels_": np.zeros(3, np.uint8), "label_ends_": np.array([2, 1, 3])}, "label_ends_ must be"),
        ({"labels_": np.zeros(3, np.uint8), "label_ends_": np.array([-1, 3])}, "label_ends_ must be"),
        ({"labels_": np.zeros(3), "label_ends_": np.array([1, 3])}, "label_ends_ must be"),
    ],
)
def test_tables_of_a_file_that_make_no_sense_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        LabelTable.from_arrays(arrays)


def test_several_dimensions_are_refused():
    with pytest.raises(ValueError, match="shape"):
        LabelTable.of([["a", "b"]])

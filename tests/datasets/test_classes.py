"""Labels and the names of classes."""

import numpy as np
import pytest

from manyclass.datasets.label_files import class_mismatch


@pytest.mark.parametrize("y", [[0, 1, 1], ["b", "a"], np.zeros(0, int)], ids=["integers", "strings", "none"])
def test_labels_among_the_classes_fit(y):
    assert class_mismatch(np.asarray(y), ["a", "b"]) is None


@pytest.mark.parametrize(
    ("y", "classes", "problem"),
    [
        ([0, 2], ["a", "b"], "labels must be integers in [0, 2); got 2 at row 1"),
        ([-1, 0], ["a", "b"], "labels must be integers in [0, 2); got -1 at row 0"),
        (["a", "c"], ["a", "b"], "labels must be among the 2 classes; got 'c' at row 1"),
        ([0, 1], ["a", "b", "a"], "classes must be distinct; got 'a' twice"),
    ],
)
def test_what_does_not_fit_is_told(y, classes, problem):
    assert class_mismatch(np.array(y), classes) == problem

"""Accuracies of classes of many, medium and few examples, by the usual bounds or by thirds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.evaluation import accuracy_by_class_size
from manyclass.evaluation.class_sizes import SizeGroup, describe_groups, group_by_size


def test_the_usual_bounds_are_more_than_100_and_fewer_than_20():
    sizes = {0: 101, 1: 100, 2: 20, 3: 19}
    y = [0, 0, 1, 1, 2, 2, 3, 3, 3, 3]
    predicted = [0, 0, 1, 0, 2, 2, 3, 3, 3, 0]
    groups = accuracy_by_class_size(y, predicted, sizes)
    assert groups == [
        SizeGroup("many", 101, 101, 1, 2, 2, 1.0),
        SizeGroup("medium", 20, 100, 2, 4, 3, 0.75),
        SizeGroup("few", 19, 19, 1, 4, 3, 0.75),
    ]
    assert describe_groups(groups) == "more than 100 examples to learn from are many, fewer than 20 few"


def test_the_accuracy_is_the_mean_over_classes_and_not_over_rows():
    (few, *_) = accuracy_by_class_size([0] * 9 + [1, 2], [0] * 9 + [0, 2], {0: 3, 1: 3, 2: 9})[::-1]
    assert (few.name, few.rows, few.right, few.accuracy) == ("few", 10, 9, 0.5)


def test_where_a_group_is_empty_thirds_of_the_classes_take_its_place():
    groups = group_by_size(np.array([30, 25, 10, 9, 4, 2]), np.ones(6, int), np.array([1, 1, 1, 0, 0, 0]))
    assert [(one.name, one.smallest, one.largest, one.accuracy) for one in groups] == [
        ("many", 25, 30, 1.0),
        ("medium", 9, 10, 0.5),
        ("few", 2, 4, 0.0),
    ]
    assert describe_groups(groups).startswith("thirds of the classes")


def test_classes_of_like_size_are_not_divided():
    assert group_by_size(np.array([10, 12, 19]), np.ones(3), np.ones(3)) == []
    assert group_by_size(np.array([10, 12, 20]), np.ones(3), np.ones(3))


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(1, 9)), min_size=1, max_size=30), st.integers(0, 9))
def test_every_class_is_in_one_group_and_equal_sizes_are_together(classes, wrong):
    sizes, rows = np.array(classes).T
    right = np.maximum(rows - wrong, 0)
    groups = group_by_size(sizes, rows, right)
    if not groups:
        assert sizes.max() < 2 * sizes.min()
        return
    assert sum(one.classes for one in groups) == len(sizes)
    assert (sum(one.rows for one in groups), sum(one.right for one in groups)) == (rows.sum(), right.sum())
    for larger, smaller in pairwise(groups):
        assert larger.smallest > smaller.largest


def test_a_class_of_unknown_size_is_refused():
    with pytest.raises(ValueError, match="got none for 1"):
        accuracy_by_class_size([0, 1], [0, 1], {0: 5})

"""Labels that lie on nothing."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.report.figures.scatter import place_labels

SIZE, HEIGHT, GAP = (300.0, 200.0), 12.0, 4.0


@settings(deadline=None, max_examples=40)
@given(n=st.integers(0, 80), seed=st.integers(0, 99), most=st.integers(0, 30))
def test_labels_lie_inside_and_on_no_label_and_no_point(n, seed, most):
    rng = np.random.default_rng(seed)
    points, widths = rng.uniform(0, SIZE, (n, 2)), rng.uniform(5, 90, n)
    labels = place_labels(points, widths, HEIGHT, SIZE, GAP, most)
    assert len(labels) <= most
    assert len({label.point for label in labels}) == len(labels)
    for label in labels:
        assert (label.left >= 0, label.bottom >= 0, label.right <= 300, label.top <= 200) == (True,) * 4
        inside = (points >= [label.left, label.bottom]) & (points <= [label.right, label.top])
        assert not inside.all(axis=1).any()
        assert label.right - label.left == pytest.approx(widths[label.point])
    for a, b in combinations(labels, 2):
        assert a.right <= b.left or b.right <= a.left or a.top <= b.bottom or b.top <= a.bottom


def test_points_that_are_far_from_each_other_all_get_a_label():
    points = np.array([[20.0, 20.0], [150.0, 100.0], [280.0, 180.0]])
    labels = place_labels(points, np.full(3, 60.0), HEIGHT, SIZE, GAP, 10)
    assert {label.point for label in labels} == {0, 1, 2}

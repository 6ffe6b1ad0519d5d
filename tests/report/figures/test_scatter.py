"""Labels that lie on nothing."""

import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.report.figures.scatter import draw_embedding, outlier_names, place_labels, robust_limits

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


def crushed(rng):
    """A hundred points in a heap, and two that are far off."""
    return np.vstack([rng.standard_normal((100, 2)), [[900.0, 0.0], [0.0, -700.0]]])


def test_limits_are_those_of_all_points_but_the_few_that_would_crush_them():
    points = crushed(np.random.default_rng(0))
    low, high = robust_limits(points)
    assert low.tolist() == points[:100].min(axis=0).tolist()
    assert high.tolist() == points[:100].max(axis=0).tolist()


def test_a_point_that_leaves_enough_room_to_all_others_is_no_outlier():
    x = [0.0, 0.0, 0.1, 0.1, 0.2, 0.2, -0.3, 1.0]
    assert outlier_names("abcdefgh", x, x) == []
    assert outlier_names("abcdefgh", [*x[:7], 2.0], x) == ["h"]


@settings(deadline=None)
@given(n=st.integers(1, 50), seed=st.integers(0, 99))
def test_limits_of_points_without_outliers_hold_them_all(n, seed):
    points = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    found = robust_limits(points)
    if not outlier_names(range(n), *points.T):
        assert np.array_equal(found, [points.min(axis=0), points.max(axis=0)])
    middle = np.quantile(points, [0.25, 0.75], axis=0)
    assert (found[0] <= middle[0] + 1e-12).all()
    assert (found[1] >= middle[1] - 1e-12).all()


def test_outliers_are_named_and_drawn_as_arrows_with_their_titles():
    x, y = crushed(np.random.default_rng(0)).T
    names = [f"class {i}" for i in range(102)]
    assert outlier_names(names, x, y) == ["class 100", "class 101"]
    drawing = draw_embedding("e", "classes", names, x.tolist(), y.tolist())
    marks = re.findall(r'<use href="#([^"]+)" x="([^"]+)" y="([^"]+)"[^>]*><title>(class \d+)</title>', drawing)
    assert {mark[3] for mark in marks} == set(names)
    shapes = {mark[3]: mark[0] for mark in marks}
    assert len({shapes["class 0"], shapes["class 100"], shapes["class 101"]}) == 3
    places = np.array([[float(mark[1]), float(mark[2])] for mark in marks])
    assert (places >= 0).all()
    assert (places <= [420, 400]).all()
    inner = places[[mark[3] not in ("class 100", "class 101") for mark in marks]]
    assert (np.ptp(inner, axis=0) > 350).all()

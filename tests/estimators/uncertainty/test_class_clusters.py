"""Clusters of classes: alike ones together, none where too little is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyclass.estimators.uncertainty.class_clusters import cluster_classes, weighted_k_means
from manyclass.estimators.uncertainty.held_out import HeldOut


def held_out(counts, seed=0):
    classes = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    losses = np.random.default_rng(seed).exponential(1.0 + 5.0 * (classes % 2)).astype(np.float32)
    return HeldOut(losses, losses, losses, classes, np.ones(len(losses), np.float32))


def test_classes_with_too_few_rows_are_in_no_cluster():
    of_class = cluster_classes(held_out([40, 3, 40, 0, 40]), 5, 0.9)
    assert (of_class >= 0).tolist() == [True, False, True, False, True]


@pytest.mark.parametrize(("coverage", "least"), [(0.8, 9), (0.9, 9), (0.95, 19)])
def test_a_class_needs_rows_enough_for_the_quantile(coverage, least):
    for rows, told in ((least - 1, False), (least, True)):
        assert (cluster_classes(held_out([rows] * 4), 4, coverage) >= 0).all() == told


def test_without_rows_there_are_no_clusters():
    assert cluster_classes(held_out([0, 0, 5]), 3, 0.9).tolist() == [-1, -1, -1]


@settings(deadline=None, max_examples=30)
@given(m=st.integers(2, 30), n_clusters=st.integers(1, 6), seed=st.integers(0, 99))
def test_no_point_is_nearer_to_another_center(m, n_clusters, seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(m, 3)), rng.uniform(0.5, 2, m)
    of_point = weighted_k_means(points, weights, min(n_clusters, m))
    assert set(of_point) == set(range(of_point.max() + 1))
    centers = [np.average(points[of_point == c], axis=0, weights=weights[of_point == c]) for c in set(of_point)]
    distances = np.array([((points - center) ** 2).sum(axis=1) for center in centers])
    np.testing.assert_allclose(distances[of_point, np.arange(m)], distances.min(axis=0))

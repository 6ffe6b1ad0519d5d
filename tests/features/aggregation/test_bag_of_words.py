"""Histograms count words, region by region."""

import numpy as np

from manyclass.features.aggregation.bag_of_words import BagAggregation, word_counts
from manyclass.features.aggregation.pyramid import Partition, Pyramid
from manyclass.features.aggregation.vocabulary import fit_vocabulary
from tests.features import twins


def test_counts_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    labels, where = rng.integers(5, size=200).astype("i4"), rng.integers(3, size=200)
    expected = np.zeros((3, 5))
    for label, cell in zip(labels, where, strict=True):
        expected[cell, label] += 1
    np.testing.assert_array_equal(word_counts(labels, Partition.from_labels(where, 3), 5), expected)


def test_regions_are_roots_of_frequencies_of_unit_length():
    X = twins.rows_of(twins.mixture_of(4, 3), 300)
    words, positions = fit_vocabulary(X, 7, seed=0), np.random.default_rng(0).random((300, 2)).astype("f4")
    found = BagAggregation(words).regions(X, positions, Pyramid(("1x1", "3x1")))
    labels = twins.nearest(X, words.centers)
    stripe = (positions[:, 1] * 3).astype(int)
    for region, rows in enumerate([np.ones(300, bool), stripe == 0, stripe == 1, stripe == 2]):
        shares = np.bincount(labels[rows], minlength=7) / rows.sum()
        np.testing.assert_allclose(found[region], np.sqrt(shares), atol=1e-6)


def test_no_rows_give_zeros():
    words = fit_vocabulary(np.arange(6, dtype="f4")[:, None], 3, seed=0)
    found = BagAggregation(words).regions(np.zeros((0, 1), "f4"), np.zeros((0, 2), "f4"), Pyramid(("1x1",)))
    assert found.tolist() == [[0, 0, 0]]

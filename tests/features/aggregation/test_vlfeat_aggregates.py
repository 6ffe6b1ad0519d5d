"""Fisher vectors and VLAD beside those that VLFeat 0.9.21 (cyvlfeat 0.7.1) gave for the same random numbers."""

from pathlib import Path

import numpy as np
import pytest

from manyclass.features.aggregation.fisher import FisherAggregation, fisher_vector
from manyclass.features.aggregation.pyramid import Partition, Pyramid
from manyclass.features.aggregation.vocabulary import DiagonalGmm, VisualVocabulary


@pytest.fixture(scope="module")
def kept():
    with np.load(Path(__file__).parents[1].joinpath("vlfeat_aggregates.npz")) as file:
        return dict(file)


def mixture(kept) -> DiagonalGmm:
    return DiagonalGmm(*(kept[key].astype(float) for key in ("weights", "means", "variances")))


def test_fisher_vectors_are_those_of_vlfeat_in_its_order(kept):
    np.testing.assert_allclose(fisher_vector(kept["X"], mixture(kept)), kept["fisher"], atol=1e-6)


def test_improved_fisher_vectors_are_those_of_vlfeat(kept):
    positions = np.zeros((len(kept["X"]), 2), np.float32)
    found = FisherAggregation(mixture(kept)).regions(kept["X"], positions, Pyramid(("1x1",)))
    np.testing.assert_allclose(found[0], kept["improved"], atol=1e-5)


def test_residuals_are_those_of_vlfeat(kept):
    words = VisualVocabulary(kept["means"])
    _, sums = words.residual_sums(kept["X"], words.assign(kept["X"]), Partition.single(len(kept["X"])))
    np.testing.assert_allclose(sums.ravel(), kept["vlad"], atol=1e-5)

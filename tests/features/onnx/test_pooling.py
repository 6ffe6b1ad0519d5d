import numpy as np
import pytest
from numpy.testing import assert_allclose

from manyclass.features.onnx.pooling import POOLINGS, center_weights, pool


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (3, 4, 1, 7), (2, 5, 6, 3)])
def test_vectors_have_unit_length_and_do_not_know_their_neighbors(pooling, shape):
    maps = np.random.default_rng(0).random(shape, np.float32)
    vectors = pool(maps, pooling)
    assert vectors.shape == shape[:2]
    assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert_allclose(vectors[-1:], pool(maps[-1:], pooling), rtol=1e-6)


@pytest.mark.parametrize("pooling", ["spoc", "mean", "max"])
def test_dead_maps_become_zeros_and_not_nan(pooling):
    assert not pool(np.zeros((2, 3, 4, 4), np.float32), pooling).any()


@pytest.mark.parametrize("shape", [(5, 5), (4, 7), (1, 1), (6, 2)])
def test_weights_are_symmetric_about_the_center_and_fall_to_a_ninetieth_at_the_nearest_border(shape):
    weights = center_weights(*shape)
    assert_allclose(weights, weights[::-1, ::-1])
    assert weights.max() == weights[shape[0] // 2, shape[1] // 2]
    odd = center_weights(101, 401)
    assert odd[50, 200] == 1
    assert_allclose(odd[50 - 50, 200], np.exp(-4.5 * (50 / 50.5) ** 2))

"""Rotations: orthogonal, undone by their way back, even over the blocks, and not believed when read from files."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.rotation import ROTATIONS, MixedColumns, Permutation

every_width = pytest.mark.parametrize("d", [1, 5, 63, 64, 100, 130])


def gaussian(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)


def make(name, d):
    X = gaussian(300, d)
    return mc.ProductQuantizer(8, rotation=name, random_state=0).fit(X).rotation_


@pytest.mark.parametrize("name", ROTATIONS)
@every_width
def test_rotations_are_orthogonal_and_undone_by_their_way_back(name, d):
    X, rotation = gaussian(300, d, 1), make(name, d)
    np.testing.assert_allclose(rotation.backward(rotation.forward(X)), X, atol=1e-5)
    Q = rotation.forward(np.eye(d, dtype=np.float32))
    np.testing.assert_allclose(Q @ Q.T, np.eye(d), atol=1e-5)
    np.testing.assert_allclose(rotation.forward(X), X @ Q, atol=1e-5)


@pytest.mark.parametrize("name", ROTATIONS)
@every_width
def test_what_is_stored_gives_the_same_rotation(name, d):
    rotation = make(name, d)
    again = ROTATIONS[name].from_arrays(rotation.arrays(), d)
    X = gaussian(9, d, 2)
    np.testing.assert_array_equal(again.forward(X), rotation.forward(X))
    np.testing.assert_array_equal(again.backward(X), rotation.backward(X))


@pytest.mark.parametrize(("d", "block"), [(12, 4), (13, 4), (3, 8), (64, 8)])
def test_columns_are_dealt_so_that_blocks_vary_alike(d, block):
    variances = np.arange(1.0, d + 1)
    order = Permutation.fitted(variances, block).order
    assert sorted(order) == list(range(d))
    full = variances[order][: d // block * block].reshape(-1, block).sum(axis=1)
    assert full.size < 2 or np.ptp(full) <= block


def test_a_row_has_the_same_bits_alone_and_among_others():
    rotation, X = MixedColumns.random(130, np.random.default_rng(0)), gaussian(50, 130)
    one = np.concatenate([rotation.forward(row[None]) for row in X])
    for n_threads in (1, 3):
        with mc.threads(n_threads):
            assert rotation.forward(X).tobytes() == one.tobytes()


@pytest.mark.parametrize(
    "order",
    [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], [0.0, 1.0, 2.0]],
    ids=["few", "twice", "far", "negative", "float"],
)
def test_an_order_that_is_no_permutation_is_refused(order):
    with pytest.raises(ValueError, match="order must be a permutation of 3 columns"):
        Permutation.from_arrays({"order": np.array(order)}, 3)


@pytest.mark.parametrize("name", ["mixer", "rest"])
@pytest.mark.parametrize(
    "how", [lambda Q: 2 * Q, lambda Q: Q[:-1], lambda Q: Q.astype(np.float64), lambda Q: np.nan * Q]
)
def test_a_matrix_that_is_not_orthogonal_is_refused(name, how):
    arrays = MixedColumns.random(100, np.random.default_rng(0)).arrays()
    with pytest.raises(ValueError, match=f"{name} must be an orthogonal float32 matrix of size"):
        MixedColumns.from_arrays({**arrays, name: how(arrays[name])}, 100)

"""Signatures of pictures and the earth mover's distance between them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from scipy.optimize import linear_sum_assignment
from scipy.stats import wasserstein_distance

from experiments import photographs, signatures
from experiments.signatures import Signatures, distance_kernel, earth_movers, negative_part

pytest.importorskip("ot")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYCLASS_CACHE", str(tmp_path))
    photographs.room.cache_clear()
    yield tmp_path
    photographs.room.cache_clear()


def test_along_a_line_it_is_wassersteins_distance():
    rng = np.random.default_rng(0)
    given = Signatures(rng.normal(size=(3, 5, 1)), rng.dirichlet(np.ones(5), size=3))
    D = earth_movers(given)
    (x, y, _), (v, w, _) = given.centers[:, :, 0], given.weights
    assert D[0, 1] == pytest.approx(wasserstein_distance(x, y, v, w))
    assert_allclose(D, D.T)
    assert_allclose(np.diag(D), 0)


def test_with_equal_weights_it_is_the_best_assignment():
    centers = np.random.default_rng(1).normal(size=(2, 6, 3))
    cost = np.linalg.norm(centers[0][:, None] - centers[1][None], axis=2)
    rows, columns = linear_sum_assignment(cost)
    assert earth_movers(Signatures(centers, np.full((2, 6), 1 / 6)))[0, 1] == pytest.approx(cost[rows, columns].mean())


def test_distances_are_found_once_for_the_same_signatures(monkeypatch):
    given = Signatures(np.random.default_rng(2).normal(size=(2, 4, 2)), np.full((2, 4), 0.25))
    first = earth_movers(given)
    monkeypatch.setattr(signatures, "_earth_movers", lambda _: pytest.fail("it is known"))
    assert_allclose(earth_movers(given), first)


def test_pictures_are_clusters_of_their_patches(tmp_path):
    for i in (0, 1):
        pixels = np.random.default_rng(i).integers(0, 256, (160, 160, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{i}.png")
    Image.open(tmp_path / "0.png").save(tmp_path / "2.png")
    found = signatures.signatures([str(tmp_path / f"{i}.png") for i in (0, 1, 2)])
    assert found.centers.shape == (3, signatures.CLUSTERS, signatures.TEXTURE + 3)
    assert_allclose(found.weights.sum(axis=1), 1)
    D = earth_movers(found)
    assert D[0, 2] < D[0, 1]


def test_the_mean_distance_of_some_is_the_scale_of_the_kernel():
    D = np.array([[0.0, 2.0, 9.0], [2.0, 0.0, 9.0], [9.0, 9.0, 0.0]])
    assert distance_kernel(D, [0, 1])[0, 1] == pytest.approx(np.exp(-2.0))


def test_the_negative_part_of_a_kernel_is_nothing():
    X = np.random.default_rng(0).normal(size=(6, 6))
    assert negative_part(X @ X.T) == pytest.approx(0)
    assert negative_part(np.diag([3.0, -1.0])) == pytest.approx(0.25)

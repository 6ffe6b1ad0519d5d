"""Every way to ask a gallery: the same hits where the same is asked, and rankings that are improved in the same way."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.retrieval import KReciprocal, QueryExpansion

X = np.random.default_rng(0).standard_normal((60, 8)).astype(np.float32)

IMPROVEMENTS = [{"expansion": QueryExpansion(3, alpha=3.0)}, {"reranking": KReciprocal(k1=5, k2=2, n_candidates=30)}]


class Features:
    """Turns rows into themselves."""

    n_features_out_ = 8

    def transform(self, images):
        return np.asarray(images)


@pytest.fixture
def gallery():
    g = mc.Gallery(features=Features())
    g.add(X)
    return g


@pytest.mark.parametrize("better", IMPROVEMENTS)
def test_images_are_ranked_as_their_vectors_are(gallery, better):
    plain, found = gallery.search_images(X[:9], k=20), gallery.search_images(X[:9], k=20, **better)
    np.testing.assert_array_equal(found.ids, gallery.search(X[:9], k=20, **better).ids)
    assert (found.ids != plain.ids).any()


@pytest.mark.parametrize("better", IMPROVEMENTS)
def test_ids_are_ranked_as_their_vectors_are_but_for_themselves(gallery, better):
    found, whole = gallery.search_ids(range(9), k=59, **better), gallery.search(X[:9], k=60, **better)
    for i in range(9):
        assert found.ids[i].tolist() == [key for key in whole.ids[i].tolist() if key != i]

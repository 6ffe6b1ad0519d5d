"""An index of faiss beside the vectors: the same images, also after changes; and what it cannot do."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.encoders import CosineEncoder
from manyclass.retrieval.faiss_index import INDEX_KINDS, FaissIndex, check_index
from manyclass.retrieval.search import FlatIndex
from tests.retrieval import twins

pytest.importorskip("faiss")

X = np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32)


@pytest.mark.parametrize("kind", ["Flat", "HNSW16", "IVF4,Flat"])
def test_an_index_of_faiss_follows_what_is_added_removed_and_filtered(kind):
    rng = np.random.default_rng(2)
    V = rng.standard_normal((400, 16)).astype(np.float32)
    g, exact = mc.Gallery(index=kind), mc.Gallery()
    for change in (
        lambda h: h.add(V[:300]), lambda h: h.add(V[300:]), lambda h: h.remove(range(0, 200, 3)),
        lambda h: h.update([1], V[:1]),
    ):  # fmt: skip
        change(g)
        change(exact)
        found, right = g.search(V[:50], k=5), exact.search(V[:50], k=5)
        if kind == "Flat":
            assert found.ids.tolist() == right.ids.tolist()
        assert np.isin(found.ids, exact.ids).all()
        assert np.mean(found.ids[:, 0] == right.ids[:, 0]) > 0.5
        assert g.search(V[:5], where=[4, 5]).ids.tolist() == exact.search(V[:5], where=[4, 5]).ids.tolist()


def test_what_an_index_gives_up_early_is_searched_exactly():
    V = np.random.default_rng(5).standard_normal((400, 16))
    g, exact = mc.Gallery(index="IVF4,Flat"), mc.Gallery()
    g.add(V)
    exact.add(V)
    assert g.search(V[:9], k=390).ids.tolist() == exact.search(V[:9], k=390).ids.tolist()


def test_with_too_few_images_to_be_trained_on_search_is_exact_and_the_gallery_is_saved(tmp_path):
    g = mc.Gallery(index="IVF16,Flat")
    g.add(X[:5])
    assert g.search(X[:1], k=1).ids.tolist() == [[0]]
    g.save(tmp_path / "g")
    assert mc.Gallery.open(tmp_path / "g").search(X[:1], k=1).ids.tolist() == [[0]]
    g.add(np.random.default_rng(9).standard_normal((700, 5)))
    assert g.search(X[:1], k=1).ids.tolist() == [[0]]


def images(V):
    flat, catalog = FlatIndex(CosineEncoder(V.shape[1])), Catalog()
    flat.embeddings.append(V)
    catalog.add(list(range(len(V))), {})
    return flat, catalog


def test_scores_and_positions_are_those_of_a_full_sort_with_equals_in_their_order():
    V = np.random.default_rng(1).integers(-2, 3, (60, 4)).astype(np.float32)
    flat, catalog = images(V)
    catalog.remove(list(range(0, 60, 7)))
    live = catalog.live()
    scores, places = FaissIndex("Flat").search(V[:9], flat, catalog, len(live))
    expected = twins.best(V[:9] @ V[live].T, len(live), live)
    np.testing.assert_array_equal(places, expected[1])
    np.testing.assert_array_equal(scores, expected[0])


def test_where_there_are_too_few_the_rest_is_nothing():
    flat, catalog = images(X)
    catalog.remove([key for key in range(30) if key not in (4, 9)])
    scores, places = FaissIndex("Flat").search(X[:1], flat, catalog, 3)
    assert set(places[0, :2]) == {4, 9}
    assert (scores[0, 2] < -1e30, places[0, 2]) == (True, -1)


def clustered(n, seed):
    rng = np.random.default_rng(seed)
    V = np.random.default_rng(0).standard_normal((40, 15))[rng.integers(0, 40, n)] + 0.5 * rng.standard_normal((n, 15))
    return (V / np.linalg.norm(V, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module", params=INDEX_KINDS)
def pair(request):
    V, g, exact = clustered(3000, 1), mc.Gallery(index=request.param), mc.Gallery()
    g.add(V)
    exact.add(V)
    g.search(V[:1])
    return g, exact


def test_a_named_kind_finds_most_of_the_nearest_and_says_how_many(pair):
    g, exact = pair
    found, right = g.search(clustered(200, 2)), exact.search(clustered(200, 2))
    recall = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in zip(found.ids, right.ids, strict=True)])
    said = g.state().approximate.about["recall"]
    assert said >= 0.95
    assert recall > said - 0.05


def test_the_scores_of_a_named_kind_are_those_of_exact_search(pair):
    g, exact = pair
    found, right = g.search(clustered(50, 2), k=1), exact.search(clustered(50, 2), k=1)
    same = found.ids == right.ids
    assert same.mean() > 0.8
    np.testing.assert_array_equal(found.scores[same], right.scores[same])


def test_of_few_images_a_named_kind_makes_no_index():
    g = mc.Gallery(index="hnsw")
    g.add(X)
    assert g.search(X[:3], k=1).ids.tolist() == [[0], [1], [2]]
    assert g.state().approximate.arrays()[0] is None


def test_what_came_later_is_found_before_the_index_takes_it_in_and_what_went_is_not():
    g, V = mc.Gallery(index="ivf"), clustered(1500, 1)
    g.add(V)
    g.search(V[:1])
    made = g.state().approximate.arrays()[0]
    g.add(-V[:9])
    g.remove([3])
    assert g.search(-V[:9], k=1).ids.ravel().tolist() == list(range(1500, 1509))
    assert 3 not in g.search(V[3:4], k=5).ids
    assert g.state().approximate.arrays()[0] is made
    assert made.ntotal == 1500


def test_many_that_came_later_are_taken_in_and_many_that_went_make_the_index_anew():
    g, V = mc.Gallery(index="ivf"), clustered(4000, 1)
    g.add(V[:2500])
    g.search(V[:1])
    first = g.state().approximate.arrays()[0]
    g.add(V[2500:])
    g.search(V[:1])
    assert g.state().approximate.arrays()[0] is first
    assert first.ntotal == 4000
    g.remove(range(1000))
    g.search(V[:1])
    assert g.state().approximate.arrays()[0].ntotal == 3000


def test_settings_of_more_effort_are_tried_until_enough_is_found():
    V = np.random.default_rng(3).standard_normal((3000, 32)).astype(np.float32)
    g = mc.Gallery(index="ivf")
    g.add(V)
    g.search(V[:1])
    assert g.state().approximate.about["effort"] > 4
    assert g.state().approximate.about["recall"] >= 0.95


def test_what_comes_later_and_lies_elsewhere_is_found_with_more_effort():
    rng = np.random.default_rng(3)
    clusters = rng.standard_normal((20, 32))[rng.integers(20, size=2600)] + 0.3 * rng.standard_normal((2600, 32))
    g = mc.Gallery(index="ivf")
    g.add(clusters)
    g.search(clusters[:1])
    before = dict(g.state().approximate.about)
    g.add(rng.standard_normal((2500, 32)))
    g.search(clusters[:1])
    after = g.state().approximate.about
    assert after["factory"] == before["factory"]  # images were added to it
    assert after["effort"] > before["effort"]
    assert after["recall"] < before["recall"]


def test_an_index_that_was_filled_in_part_is_made_anew(monkeypatch):
    V = np.random.default_rng(4).standard_normal((4000, 8)).astype(np.float32)
    g = mc.Gallery(index="hnsw")
    g.add(V[:2200])
    g.search(V[:1])
    g.add(V[2200:])
    monkeypatch.setattr("manyclass.retrieval.faiss_index._BLOCK", 500)
    calls = iter(range(3))

    def interrupted(act, *values):
        act(*values)
        if next(calls) == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("manyclass.retrieval.faiss_index._with_threads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            g.search(V[:1])
    assert g.search(V, k=1).ids.ravel().tolist() == list(range(4000))
    index, numbers = g.state().approximate.arrays()
    assert index.ntotal == len(numbers) == 4000


@pytest.mark.parametrize("kind", ["IDMap,Flat", "IVF0,Flat"])
def test_an_index_that_faiss_makes_and_cannot_fill_is_refused(kind):
    g = mc.Gallery(index=kind)
    g.add(np.random.default_rng(5).standard_normal((1100, 8)))
    with pytest.raises(ValueError, match=f"index must be .*; got '{kind}'"):
        g.search(np.ones((1, 8)))


def test_a_string_that_names_no_index_is_refused():
    check_index("Flat")
    with pytest.raises(ValueError, match=r"index must be exact, hnsw, ivf, pq4, or a string that .* got 'Flt'"):
        check_index("Flt")


def test_without_faiss_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(ImportError, match=r"manyclass\[faiss\]"):
        check_index("Flat")

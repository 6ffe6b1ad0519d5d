"""An index of faiss beside the vectors: the same images, also after changes; and what it cannot do."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.retrieval.faiss_index import FaissIndex, check_factory
from manyclass.retrieval.vectors import GrowableArray
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


def test_an_index_with_too_few_images_to_be_trained_says_so_and_works_with_more():
    g = mc.Gallery(index="IVF16,Flat")
    g.add(X[:5])
    with pytest.raises(ValueError, match="index 'IVF16,Flat' needs more images to train on than the 5"):
        g.search(X[:1])
    g.add(np.random.default_rng(9).standard_normal((700, 5)))
    assert g.search(X[:1], k=1).ids.tolist() == [[0]]


def rows_of(V):
    rows = GrowableArray(V.shape[1])
    rows.append(V)
    return rows


def test_scores_and_positions_are_those_of_a_full_sort_with_equals_in_their_order():
    V = np.random.default_rng(1).integers(-2, 3, (60, 4)).astype(np.float32)
    live = np.flatnonzero(np.arange(60) % 7)
    scores, places = FaissIndex("Flat").search(V[:9], rows_of(V), live, len(live))
    expected = twins.best(V[:9] @ V[live].T, len(live), live)
    np.testing.assert_array_equal(places, expected[1])
    np.testing.assert_array_equal(scores, expected[0])


def test_where_there_are_too_few_the_rest_is_nothing():
    scores, places = FaissIndex("Flat").search(X[:1], rows_of(X), np.array([4, 9]), 3)
    assert set(places[0, :2]) == {4, 9}
    assert (scores[0, 2] < -1e30, places[0, 2]) == (True, -1)


def test_a_string_that_names_no_index_is_refused():
    check_factory("Flat")
    with pytest.raises(ValueError, match=r"index must be a string that faiss.index_factory takes; got 'Flt'"):
        check_factory("Flt")


def test_without_faiss_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(ImportError, match=r"manyclass\[faiss\]"):
        check_factory("Flat")

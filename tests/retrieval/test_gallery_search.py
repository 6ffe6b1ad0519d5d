"""From embeddings to hits: searches by vectors in the space of embeddings, and the scores by which they are judged."""

import numpy as np
import pytest

import manyclass as mc
from tests.retrieval import twins

X = np.random.default_rng(0).standard_normal((60, 8)).astype(np.float32)


def cosines():
    g = mc.Gallery(background=np.random.default_rng(1).standard_normal((300, 8)))
    g.add(X, metadata={"year": [2000 + i % 3 for i in range(60)]})
    return g


def exemplars():
    negatives = np.random.default_rng(2).standard_normal((200, 8)) * np.arange(1, 9)
    g = mc.Gallery(mc.SquareLossExemplar(n_background=100, random_state=0).fit(negatives))
    g.add(X, metadata={"year": [2000 + i % 3 for i in range(60)]})
    return g


@pytest.fixture(params=[cosines, exemplars])
def gallery(request):
    return request.param()


def same(a, b):
    for name in ("ids", "scores", "percentiles", "expected_false_matches", "matched", "p_values", "copies"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.caution == b.caution


@pytest.mark.parametrize("where", [None, {"year": 2001}])
def test_embeddings_of_images_find_what_the_images_find(gallery, where):
    same(gallery.search_embeddings(gallery.codes(range(5)), k=7, where=where), gallery.search(X[:5], k=7, where=where))


def test_scores_are_inner_products_of_any_vector(gallery):
    w = np.random.default_rng(3).standard_normal((2, 8)).astype(np.float32) * [[3], [0.1]]
    hits = gallery.search_embeddings(w, k=60)
    scores, places = twins.best(w @ gallery.codes(range(60)).T, 60)
    assert hits.ids.tolist() == places.tolist()
    np.testing.assert_allclose(hits.scores, scores, rtol=1e-5, atol=1e-6)


def test_one_vector_is_one_query(gallery):
    w = gallery.codes([3])[0]
    background = np.linspace(-1, 1, 50)
    one = gallery.search_embeddings(w, k=4, background=background)
    same(one, gallery.search_embeddings(w[None], k=4, background=background[None]))
    assert one.ids.shape == (1, 4)


def test_hits_are_judged_by_the_background_that_is_given_and_by_no_other(gallery):
    w = gallery.codes([3]) + gallery.codes([4])
    scores = gallery.search_embeddings(w, k=60).scores[0]
    low, high = np.linspace(-9, scores[-1] - 1, 100), np.linspace(scores[0] + 1, 99, 100)
    below, above = (gallery.search_embeddings(w, k=60, background=b[None]) for b in (low, high))
    assert (below.percentiles == 100).all()
    assert (above.percentiles == 0).all()
    assert below.matched.tolist() == [True]
    assert above.matched.tolist() == [False]
    assert below.p_values is None
    np.testing.assert_array_equal(below.scores[0], scores)


def test_percentiles_count_the_background_below(gallery):
    w, background = gallery.codes([9]), np.random.default_rng(4).uniform(-1, 1, (1, 77)).astype(np.float32)
    hits = gallery.search_embeddings(w, k=10, background=background)
    np.testing.assert_allclose(hits.percentiles[0], [100 * (background[0] < s).mean() for s in hits.scores[0]])


def test_a_gallery_without_a_background_set_is_judged_by_one_that_is_given():
    g = mc.Gallery()
    g.add(X)
    hits = g.search_embeddings(g.codes([0, 1]), k=3, background=np.zeros((2, 50)))
    assert hits.percentiles.shape == (2, 3)


def test_an_empty_gallery_has_no_hits():
    assert mc.Gallery().search_embeddings(X[:2], background=np.zeros((2, 3))).ids.shape == (2, 0)


def test_no_queries_give_no_hits(gallery):
    assert gallery.search_embeddings(X[:0], k=4).ids.shape == (0, 4)


@pytest.mark.parametrize("role", ["encoder", "reranker"])
def test_what_is_no_inner_product_is_refused(role):
    g = mc.Gallery(**{role: twins.Distances(8)})
    g.add(X)
    with pytest.raises(ValueError, match=r"needs a gallery of one encoder, whose .*; got Distances"):
        g.search_embeddings(X[:1])


@pytest.mark.parametrize(
    ("C", "background", "sentence"),
    [
        (X[:, :3], None, r"C must have 8 columns, as the embeddings of this gallery; got shape \(60, 3\)"),
        (X[None], None, r"C must have 8 columns, .* got shape \(1, 60, 8\)"),
        (3.0, None, r"C must have 8 columns, .* got shape \(1, 1\)"),
        (np.full(8, np.nan), None, "C must hold finite numbers"),
        (X[:2], np.zeros((3, 5)), r"background must have one row of scores per row of C \(2\); got shape \(3, 5\)"),
        (X[:2], np.zeros(5), r"background must have one row of scores per row of C \(2\); got shape \(1, 5\)"),
        (X[:2], np.zeros((2, 0)), r"background must have one row of scores per row of C \(2\); got shape \(2, 0\)"),
        (X[:1], [[np.inf]], "background must hold finite numbers"),
    ],
)
def test_a_mistake_is_one_sentence(gallery, C, background, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        gallery.search_embeddings(C, background=background)
    assert "\n" not in str(caught.value)


def test_of_a_gallery_that_is_its_own_background_only_the_bulk_of_it_is_believed():
    rng = np.random.default_rng(5)
    centers = rng.standard_normal((30, 128))
    rows = np.repeat(centers, 20, axis=0) + 0.5 * rng.standard_normal((600, 128))
    queries = centers + 0.5 * rng.standard_normal((30, 128))
    things = np.repeat(np.arange(30), 20).tolist()
    found = {}
    for own in (False, True):
        g = mc.Gallery(background=rows[::2], things="thing", own_background=own)
        g.add(rows, metadata={"thing": things})
        found[own] = g.search(queries, k=3)
    np.testing.assert_array_equal(found[True].percentiles, found[False].percentiles)
    assert found[True].matched.mean() > 0.9
    assert found[False].matched.mean() < 0.1
    strangers = g.search(rng.standard_normal((200, 128)), k=3)
    assert strangers.matched.mean() < 0.08


def test_a_large_gallery_that_is_searched_by_an_index_calls_nothing_matched_and_says_why(monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.setattr("manyclass.retrieval.neighbors.MOST", 50)
    g = mc.Gallery(background=np.random.default_rng(1).standard_normal((300, 8)), index="Flat")
    g.add(X)
    hits = g.search(X[:3] + 0.01)
    assert "went by an index" in hits.caution
    assert not hits.matched.any()
    g.set_index(None)
    assert g.search(X[:3] + 0.01).p_values is not None

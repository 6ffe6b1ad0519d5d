"""Query expansion and k-reciprocal re-ranking, against their definitions."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.retrieval import KReciprocal, QueryExpansion
from tests.retrieval import twins


@pytest.fixture
def vectors():
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((6, 8))
    X = np.repeat(centers, 10, axis=0) + 0.7 * rng.standard_normal((60, 8))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 3.0])
def test_expansion_adds_what_was_found(vectors, alpha):
    X, q = vectors[1:], vectors[0]
    g = mc.Gallery()
    g.add(X)
    s = X @ q
    near = np.argsort(-s)[:4]
    new = q + sum(max(s[i], 0) ** alpha * X[i] for i in near)
    expected = X @ (new / np.linalg.norm(new))
    hits = g.search(q, k=59, expansion=QueryExpansion(4, alpha))
    assert hits.ids[0].tolist() == np.argsort(-expected).tolist()
    np.testing.assert_allclose(hits.scores[0], np.sort(expected)[::-1], atol=1e-6)


def test_what_an_expanded_query_finds_is_judged_by_the_query_itself():
    rng = np.random.default_rng(0)
    g = mc.Gallery(background=rng.standard_normal((500, 64)))
    g.add(rng.standard_normal((500, 64)))
    Q = rng.standard_normal((50, 64))
    plain, wide = (g.search(Q, k=500, expansion=e) for e in (None, QueryExpansion(5)))
    for q in range(50):
        place = dict(zip(plain.ids[q], plain.expected_false_matches[q], strict=True))
        np.testing.assert_allclose(wide.expected_false_matches[q], [place[i] for i in wide.ids[q]], rtol=1e-3)
    assert plain.matched.tolist() == wide.matched.tolist()


def test_expansion_of_a_query_that_finds_only_opposites_is_the_query():
    g = mc.Gallery()
    g.add([[-1.0, 0.0]])
    assert g.search([[1.0, 0.0]], expansion=QueryExpansion(3, alpha=2.0)).scores[0, 0] == -1


def test_expansion_is_refused_where_codes_cannot_be_added_up():
    g = mc.Gallery(twins.Distances(2))
    g.add(np.eye(2))
    with pytest.raises(ValueError, match="expansion must be None for an encoder whose similarity is not"):
        g.search(np.eye(2), expansion=QueryExpansion())


@pytest.mark.parametrize(("k1", "k2"), [(3, 1), (5, 3), (20, 6), (100, 2)])
@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_k_reciprocal_scores_are_those_of_the_article(vectors, k1, k2, weight):
    S = vectors[:40] @ vectors[:40].T
    ours = KReciprocal(k1, k2, weight).scores(S)
    np.testing.assert_allclose(ours, twins.kreciprocal(S, k1, k2, weight), atol=1e-12)


def test_re_ranking_sorts_the_shortlist_and_keeps_the_similarity_for_chance(vectors):
    g = mc.Gallery(background=np.random.default_rng(1).standard_normal((200, 8)))
    g.add(vectors)
    plain, ranked = (g.search(vectors[:5], k=12, reranking=r) for r in (None, KReciprocal(5, 2, n_candidates=12)))
    for q in range(5):
        assert set(plain.ids[q]) == set(ranked.ids[q])
        place = dict(zip(plain.ids[q], plain.percentiles[q], strict=True))
        assert [place[i] for i in ranked.ids[q]] == ranked.percentiles[q].tolist()
    assert (np.diff(ranked.scores, axis=1) <= 0).all()
    assert ranked.ids.tolist() != plain.ids.tolist()


def test_re_ranking_helps_images_of_one_kind_find_each_other(vectors):
    g = mc.Gallery()
    g.add(vectors)
    kinds = np.arange(60) // 10
    right = [
        np.mean(kinds[g.search(vectors, k=10, reranking=r).ids] == kinds[:, None]) for r in (None, KReciprocal(10, 4))
    ]
    assert right[1] > right[0]


@pytest.mark.parametrize("settings", [{"k1": 0}, {"k2": 0}, {"weight": 1.5}, {"n_candidates": 0}])
def test_wrong_settings_of_re_ranking_are_refused(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must be"):
        KReciprocal(**settings)


def test_re_ranked_equals_stand_in_the_order_of_the_gallery():
    g = mc.Gallery()
    g.add(np.ones((9, 3)))
    assert g.search(np.ones(3), k=9, reranking=KReciprocal(99, 1, 0.5)).ids.tolist() == [list(range(9))]

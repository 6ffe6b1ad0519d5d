"""What a user of a gallery meets: ids, filters, stages, edges and mistakes."""

import contextlib

import numpy as np
import pytest

import manyclass as mc
from tests.retrieval import twins

X = np.random.default_rng(0).standard_normal((30, 5)).astype(np.float32)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture
def gallery():
    g = mc.Gallery()
    g.add(X, ids=[f"im{i}" for i in range(30)], metadata={"year": [2000 + i % 3 for i in range(30)]})
    return g


def test_search_gives_cosines_best_first(gallery):
    hits = gallery.search(X[:4], k=3)
    scores, places = twins.best(unit(X[:4]) @ unit(X).T, 3)
    assert hits.ids.tolist() == [[f"im{i}" for i in row] for row in places]
    np.testing.assert_allclose(hits.scores, scores, rtol=1e-5)
    assert len(hits) == 4
    assert next(iter(hits))[0] == ("im0", float(hits.scores[0, 0]))


def test_one_vector_is_one_query(gallery):
    assert gallery.search(X[0], k=2).ids.shape == (1, 2)


def test_ids_count_on_where_none_are_given():
    g = mc.Gallery()
    g.add(X[:2])
    g.add(X[2:3], ids=[10])
    g.remove([1, 10])
    g.add(X[3:5])
    assert g.ids.tolist() == [0, 11, 12]


def test_k_beyond_the_gallery_gives_what_there_is(gallery):
    assert gallery.search(X[:2], k=1000).ids.shape == (2, 30)


def test_an_empty_gallery_has_no_hits_and_takes_any_query():
    hits = mc.Gallery().search(X[:3])
    assert hits.ids.shape == hits.scores.shape == (3, 0)
    assert hits.matched is None
    assert not mc.Gallery(background=X).search(X[:3]).matched.any()


@pytest.mark.parametrize("before", [lambda g: g.search([[1.0, 2.0]]), lambda g: g.add([[1.0, np.nan]])])
def test_only_what_is_added_fixes_the_width_of_vectors(before):
    g = mc.Gallery()
    with contextlib.suppress(ValueError):
        before(g)
    g.add(X)
    assert g.search(X[:1], k=1).ids.tolist() == [[0]]


def test_an_id_may_be_an_array_of_no_dimension(gallery):
    gallery.remove(np.array("im3"))
    assert "im3" not in gallery


def test_images_of_the_gallery_find_their_neighbors_and_not_themselves(gallery):
    gallery.remove("im2")
    hits, plain = gallery.search_ids(["im5", "im1"], k=4), gallery.search(X[[5, 1]], k=5)
    assert hits.ids.tolist() == plain.ids[:, 1:].tolist()
    assert hits.scores.tobytes() == plain.scores[:, 1:].tobytes()
    assert gallery.search_ids("im5", k=99).ids.shape == (1, 28)
    assert gallery.search_ids("im5", k=99, where=["im5"]).ids.shape == (1, 0)
    assert gallery.search_ids(["im5", "im1"], k=99, where=["im5", "im7"]).ids[:, 0].tolist()[0] == "im7"


def test_a_copy_is_found_by_its_id_and_an_image_is_no_match_of_itself():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((100, 32))
    g = mc.Gallery(mc.SquareLossExemplar(n_background=200, random_state=0).fit(rng.standard_normal((500, 32))))
    g.add(np.vstack([Z, Z[:1]]))
    hits = g.search_ids([0, 100, 7], k=1)
    assert hits.ids[:2].tolist() == [[100], [0]]
    assert hits.matched.tolist() == [True, True, False]


def test_a_copy_is_matched_however_few_things_there_are_and_however_alike():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((6, 16))
    g = mc.Gallery(mc.SquareLossExemplar(n_background=200, random_state=0).fit(rng.standard_normal((400, 16))))
    g.add(np.vstack([Z, Z + 0.01 * rng.standard_normal(Z.shape)]))
    hits = g.search(np.vstack([Z[:2], Z[:1] + 0.1]), k=1)
    assert hits.copies.tolist() == hits.matched.tolist() == [True, True, False]
    assert hits.caution is not None


def test_no_queries_give_no_hits(gallery):
    assert gallery.search(X[:0], k=4).ids.shape == (0, 4)


def test_an_image_is_in_the_gallery_by_its_id(gallery):
    assert "im3" in gallery
    assert "im99" not in gallery
    assert 3 not in gallery
    assert [1] not in gallery
    assert len(gallery) == 30


@pytest.mark.parametrize(
    "where",
    [
        {"year": 2001},
        {"year": [2001]},
        {"year": {2001}},
        {"year": range(2001, 2002)},
        {"year": np.array([2001, 1900])},
        {"year": (y for y in [2001])},
        lambda image: image["year"] == 2001,
        np.arange(30) % 3 == 1,
        (np.arange(30) % 3 == 1).tolist(),
        tuple(np.arange(30) % 3 == 1),
        {f"im{i}" for i in range(1, 30, 3)},
        [*(f"im{i}" for i in range(1, 30, 3)), "im77"],
    ],
    ids=[
        *("value", "values", "set", "range", "array", "generator", "function", "mask", "list of bools"),
        *("tuple of bools", "ids", "ids that are not all there"),
    ],
)
def test_a_filter_leaves_exactly_the_images_that_it_names(gallery, where):
    hits = gallery.search(X[:4], k=50, where=where)
    kept = np.arange(1, 30, 3)
    _, places = twins.best(unit(X[:4]) @ unit(X[kept]).T, 50, kept)
    assert hits.ids.tolist() == [[f"im{i}" for i in row] for row in places]


def test_a_mask_goes_by_the_order_of_the_gallery_after_removals(gallery):
    gallery.remove([f"im{i}" for i in range(10)])
    assert gallery.search(X[0], k=99, where=gallery.ids == "im12").ids.tolist() == [["im12"]]


@pytest.mark.parametrize("where", [{"year": 1900}, np.zeros(30, bool), set(), lambda image: False])
def test_everything_filtered_out_gives_no_hits(gallery, where):
    assert gallery.search(X[:2], where=where).ids.shape == (2, 0)


def test_metadata_is_kept_by_image_and_missing_values_are_none(gallery):
    gallery.add(X[:1], ids=["new"], metadata=[{"place": "Nice"}])
    assert gallery.metadata(["new", "im1"]) == [{"year": None, "place": "Nice"}, {"year": 2001, "place": None}]
    assert gallery.search(X[0], where={"place": "Nice"}).ids.tolist() == [["new"]]


def test_update_replaces_the_vector_keeps_metadata_and_moves_the_image_to_the_end(gallery):
    gallery.update("im4", X[7])
    assert gallery.metadata("im4") == [{"year": 2001}]
    assert gallery.ids[-1] == "im4"
    assert gallery.search(X[7], k=2).ids.tolist() == [["im7", "im4"]]
    gallery.update(["im4"], X[7:8], metadata={"year": [1]})
    assert gallery.metadata("im4") == [{"year": 1}]


def test_a_removed_id_may_come_back_with_another_image(gallery):
    gallery.remove("im4")
    gallery.add(X[9:10], ids=["im4"])
    np.testing.assert_array_equal(gallery.codes("im4"), gallery.codes("im9"))


def test_equals_stand_in_the_order_of_the_gallery():
    g = mc.Gallery()
    g.add(np.ones((9, 3)), ids=list("abcdefghi"))
    g.remove(["b"])
    g.update("a", np.ones((1, 3)))
    assert g.search(np.ones(3), k=9).ids.tolist() == [list("cdefghia")]


def test_a_vector_of_zeros_is_like_nothing():
    g = mc.Gallery()
    g.add([[0.0, 0.0], [1.0, 0.0]])
    assert g.search([[0.0, 0.0], [-1.0, 0.0]], k=2).scores.tolist() == [[0, 0], [0, -1]]


def test_huge_and_tiny_vectors_have_directions_too():
    g = mc.Gallery()
    g.add(np.array([[1e300, 0], [0, 1e-300]]))
    np.testing.assert_array_equal(g.codes([0, 1]), np.eye(2))


MISTAKES = {
    "a vector too long": (lambda g: g.add(np.ones((1, 6)), ids=["a"]), "X must have 5 columns, .*; got 6"),
    "a query too long": (lambda g: g.search(np.ones((1, 6))), "X must have 5 columns, as the gallery has; got 6"),
    "NaN in a row": (
        lambda g: g.add(X * np.where(np.arange(30) == 7, np.nan, 1)[:, None], ids=[f"n{i}" for i in range(30)]),
        "X must hold finite numbers; row 7 has NaN or infinity",
    ),
    "NaN in a query": (lambda g: g.search(np.full(5, np.nan)), "X must hold finite numbers; row 0 has NaN or infinity"),
    "an id twice": (lambda g: g.add(X[:2], ids=["a", "a"]), "ids must be distinct; got 'a' twice"),
    "an id again": (lambda g: g.add(X[:1], ids=["im3"]), "ids must be new; 'im3' is in the gallery already"),
    "another kind of id": (lambda g: g.add(X[:1], ids=[3]), "ids must all be strings in this gallery; got 3"),
    "an id that is no id": (lambda g: g.add(X[:1], ids=[3.5]), "64-bit integers or strings; got 3.5 at row 0"),
    "bytes as ids": (lambda g: g.add(X[:2], ids=b"ab"), "ids must be integers or strings, one per image; got b'ab'"),
    "an id that NumPy would cut": (lambda g: g.add(X[:1], ids=["a\0"]), "ids must be text that does not end in NUL"),
    "an id that no file can hold": (lambda g: g.add(X[:1], ids=["\ud800"]), "has no lone surrogates; got .* at row 0"),
    "neighbors of what is not there": (lambda g: g.search_ids("no"), "ids must be in the gallery; 'no' is not"),
    "too few ids": (lambda g: g.add(X[:2], ids=["a"]), r"ids must have one entry per row of X \(2\); got 1"),
    "no ids": (lambda g: g.add(X[:2]), "ids must be given, because those in this gallery are strings"),
    "removal of what is not there": (lambda g: g.remove(["im1", "no"]), "ids must be in the gallery; 'no' is not"),
    "removal twice": (lambda g: g.remove(["im1", "im1"]), "ids must be distinct; got 'im1' twice"),
    "update of what is not there": (lambda g: g.update("no", X[0]), "ids must be in the gallery; 'no' is not"),
    "update of other length": (lambda g: g.update(["im1"], X[:2]), r"one entry per row of X \(2\); got 1"),
    "a mask too short": (lambda g: g.search(X[0], where=np.ones(3, bool)), r"one entry per image of .* \(30\)"),
    "unknown metadata": (lambda g: g.search(X[0], where={"yaer": 1}), r"that images have \(year\); got 'yaer'"),
    "k of zero": (lambda g: g.search(X[0], k=0), "k must be a whole number, at least 1; got 0"),
    "metadata too short": (
        lambda g: g.add(X[:2], ids=["a", "b"], metadata={"y": [1]}),
        r"metadata must have one value per image \(2\); 'y' has 1",
    ),
    "metadata that cannot be stored as a list": (
        lambda g: g.add(X[:2], ids=["a", "b"], metadata={"y": 1}),
        "metadata must have a list of values per name; 'y' has 1",
    ),
    "metadata beyond JSON": (
        lambda g: g.add(X[:1], ids=["a"], metadata=[{"y": float("nan")}]),
        "metadata must be representable in JSON; 'y' is not",
    ),
    "examples without a machine": (lambda g: g.search_examples(X[:2]), "search_examples needs a gallery"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_sentence_and_changes_nothing(gallery, mistake):
    before = gallery.search(X[:3], k=40)
    wrong, sentence = MISTAKES[mistake]
    with pytest.raises(ValueError, match=sentence) as caught:
        wrong(gallery)
    assert "\n" not in str(caught.value)
    after = gallery.search(X[:3], k=40)
    assert before.ids.tolist() == after.ids.tolist()
    assert before.scores.tobytes() == after.scores.tobytes()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"false_match": 1.0}, "false_match must lie between 0 and 1"),
        ({"encoder": mc.SquareLossExemplar()}, "encoder must be a fitted encoder .*; got a SquareLossExemplar without"),
        ({"encoder": mc.SquareLossExemplar}, "encoder must be a fitted encoder .*; got a class"),
        ({"reranker": "kernel"}, "reranker must be a fitted encoder .*; got a str without transform"),
        ({"n_candidates": 0}, "n_candidates must be a whole number, at least 1"),
        (
            {"index": "nonsense"},
            "index must be exact, hnsw, ivf, pq4, or a string that faiss.index_factory takes; got 'nonsense'",
        ),
        ({"encoder": twins.Distances(2), "index": "Flat"}, "index must be None for an encoder whose similarity"),
        ({"encoder": twins.Distances(2), "background": X}, "background must be None with an encoder"),
    ],
)
def test_wrong_settings_are_refused(settings, sentence):
    if "index" in settings:
        pytest.importorskip("faiss")
    with pytest.raises(ValueError, match=sentence):
        mc.Gallery(**settings)


def test_any_similarity_may_be_searched_by():
    g = mc.Gallery(twins.Distances(5, background=X))
    g.add(X)
    g.remove([3])
    kept = np.delete(np.arange(30), 3)
    scores, places = twins.best(twins.Distances(5).similarity(X[:4], X[kept]), 6, kept)
    hits = g.search(X[:4], k=6)
    assert hits.ids.tolist() == places.tolist()
    np.testing.assert_allclose(hits.scores, scores)
    assert hits.percentiles.shape == (4, 6)


def test_similarities_that_are_no_numbers_are_refused():
    broken = twins.Distances(5)
    broken.similarity = lambda C, D: np.full((len(C), len(D)), np.nan)
    g = mc.Gallery(broken)
    g.add(X)
    with pytest.raises(ValueError, match="similarities must be finite numbers; those of Distances are not"):
        g.search(X[0])


@pytest.mark.parametrize("n_candidates", [7, 1000])
def test_a_second_stage_sorts_the_shortlist_of_the_first_anew(n_candidates):
    g = mc.Gallery(reranker=twins.Distances(5), n_candidates=n_candidates)
    g.add(X)
    g.remove(2)
    kept = np.delete(np.arange(30), 2)
    _, near = twins.best(unit(X[:4]) @ unit(X[kept]).T, n_candidates, kept)
    hits = g.search(X[:4], k=5)
    for q in range(4):
        places = np.sort(near[q])
        scores, best = twins.best(twins.Distances(5).similarity(X[q : q + 1], X[places]), 5, places)
        assert hits.ids[q].tolist() == best[0].tolist()
        np.testing.assert_allclose(hits.scores[q], scores[0])


def test_the_pool_of_the_last_stage_judges():
    g = mc.Gallery(reranker=twins.Distances(5, background=X[:20]))
    g.add(X)
    hits = g.search(X[25], k=1)
    assert hits.percentiles.tolist() == [[100.0]]


def test_every_encoder_may_be_searched_by_and_finds_the_image_itself():
    rng = np.random.default_rng(1)
    negatives, images = rng.standard_normal((300, 20)), rng.standard_normal((40, 20))
    for encoder in (mc.SquareLossExemplar(), mc.ExemplarLDA(), mc.WhitenedPCA()):
        g = mc.Gallery(encoder.fit(negatives))
        g.add(images)
        hits = g.search(images, k=2)
        assert hits.ids[:, 0].tolist() == list(range(40))
        np.testing.assert_allclose(hits.scores[:, 0], 1, atol=1e-5)
        assert hits.percentiles[:, 0].min() == 100


def test_a_kernel_machine_may_sort_the_shortlist_of_a_linear_one():
    rng = np.random.default_rng(3)
    negatives, images = rng.standard_normal((120, 8)), rng.standard_normal((50, 8))
    linear = mc.SquareLossExemplar(0.1).fit(negatives)
    kernel = mc.KernelSquareLossExemplar(kernel="rbf", gamma=0.1, regularization=0.1).fit(negatives)
    g, alone = mc.Gallery(linear, reranker=kernel, n_candidates=50), mc.Gallery(kernel)
    g.add(images)
    alone.add(images)
    right = twins.best(kernel.similarity(kernel.transform(images[:6]), kernel.transform(images)), 9)
    for hits in (g.search(images[:6], k=9), alone.search(images[:6], k=9)):
        np.testing.assert_allclose(hits.scores, right[0], atol=1e-5)
        assert np.mean(hits.ids == right[1]) > 0.95
        assert hits.percentiles.shape == (6, 9)


def test_hits_do_not_depend_on_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(4)
    g = mc.Gallery(background=rng.standard_normal((1000, 100)))
    g.add(rng.standard_normal((9000, 100)))
    Q = rng.standard_normal((70, 100))
    found = []
    for n_threads in (1, 2):
        with mc.threads(n_threads), threadpool_limits(n_threads):
            hits = g.search(Q, k=20)
            found.append([hits.ids.tobytes(), hits.scores.tobytes(), hits.expected_false_matches.tobytes()])
    assert found[0] == found[1]


def test_what_is_nearly_alike_or_empty_is_no_copy():
    X = np.random.default_rng(0).standard_normal((30, 16)).astype(np.float32)
    X[0] = 0
    gallery = mc.Gallery()
    gallery.add(X)
    near = X[1] + np.float32(1e-3) * X[2]
    assert gallery.search(np.stack([X[0], near, X[1]]), k=1).copies.tolist() == [False, False, True]

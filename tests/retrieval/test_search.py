"""The best k: against a full sort, for every instruction set, cut of the rows, batch and number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass import _native
from manyclass.retrieval.encoders import CosineEncoder
from manyclass.retrieval.search import FlatIndex, search_products, search_similarities
from manyclass.retrieval.vectors import GrowableArray
from tests.retrieval import twins


def pieces(X, *cuts):
    rows = GrowableArray(X.shape[1])
    for part in np.split(X, cuts):
        rows.attach(np.ascontiguousarray(part))
    return rows


def small_integers(rng, *shape):
    """Few values, so that products are exact and many are equal."""
    return rng.integers(-2, 3, shape).astype(np.float32)


@pytest.mark.parametrize("level", _native.levels())
@given(
    n=st.integers(1, 90), d=st.integers(1, 600), q=st.integers(1, 70), seed=st.integers(0, 99), part=st.booleans(),
)  # fmt: skip
def test_every_level_finds_what_a_full_sort_finds(any_level, level, n, d, q, seed, part):
    _native.set_level(level)
    rng = np.random.default_rng(seed)
    X, Q = small_integers(rng, n, d), small_integers(rng, q, d)
    places = np.flatnonzero(rng.random(n) < 0.5) if part and n > 1 else None
    if places is not None and not len(places):
        places = np.array([n - 1])
    kept = np.arange(n) if places is None else places
    k = int(rng.integers(1, len(kept) + 1))
    scores, found = search_products(Q, pieces(X, n // 3, n // 2), places, k)
    expected = twins.best(Q @ X[kept].T, k, kept)
    np.testing.assert_array_equal(found, expected[1])
    np.testing.assert_array_equal(scores, expected[0])


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_and_batches_and_cuts_do_not_change_a_bit(n_threads):
    rng = np.random.default_rng(0)
    X, Q = (rng.standard_normal((n, 40), dtype=np.float32) for n in (20_000, 37))
    X[15_000:15_050] = X[7]  # equals, far apart
    Q[3] = X[7]
    one = search_products(Q, pieces(X), None, 60)
    with mc.threads(n_threads):
        again = search_products(Q, pieces(X, 1, 9000, 9001), None, 60)
        alone = [search_products(Q[i : i + 1], pieces(X), np.arange(20_000), 60) for i in range(len(Q))]
    for a, b, c in zip(one, again, map(np.concatenate, zip(*alone, strict=True)), strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()
    assert one[1][3, :4].tolist() == [7, 15_000, 15_001, 15_002]


@pytest.mark.parametrize("level", _native.levels())
def test_a_score_is_the_product_but_for_rounding_also_of_long_rows(any_level, level):
    _native.set_level(level)
    rng = np.random.default_rng(1)
    X, Q = rng.random((50, 20_000), np.float32), rng.random((3, 20_000), np.float32)
    scores, found = search_products(Q, pieces(X), None, 50)
    exact = Q.astype(np.float64) @ X.T.astype(np.float64)
    np.testing.assert_allclose(scores, np.take_along_axis(exact, found, 1), rtol=2e-6)


@given(n=st.integers(1, 60), q=st.integers(1, 9), seed=st.integers(0, 99))
def test_any_similarity_finds_what_a_full_sort_finds(n, q, seed):
    rng = np.random.default_rng(seed)
    X, Q = small_integers(rng, n, 3), small_integers(rng, q, 3)
    places = np.sort(rng.choice(n, rng.integers(1, n + 1), replace=False))
    k = int(rng.integers(1, len(places) + 1))
    similarity = twins.Distances(3).similarity
    scores, found = search_similarities(similarity, Q, pieces(X, n // 2), places, k)
    expected = twins.best(similarity(Q, X[places]), k, places)
    np.testing.assert_array_equal(found, expected[1])
    np.testing.assert_array_equal(scores, expected[0])


def test_many_queries_and_a_large_k_are_searched_in_batches(monkeypatch):
    monkeypatch.setattr("manyclass.retrieval.search._ENTRIES", 40)
    rng = np.random.default_rng(2)
    X, Q = small_integers(rng, 30, 4), small_integers(rng, 23, 4)
    _, found = search_products(Q, pieces(X), None, 8)
    np.testing.assert_array_equal(found, twins.best(Q @ X.T, 8)[1])


@pytest.mark.parametrize(
    ("X", "index", "Q", "scores"),
    [((3, 2), [3], (1, 2), (1, 1)), ((3, 2), [-1], (1, 2), (1, 1)), ((3, 2), [], (1, 3), (1, 1)),
     ((3, 2), [], (1, 2), (2, 1)), ((3, 2), [], (1, 2), (1, 0))],
)  # fmt: skip
def test_the_loop_refuses_shapes_that_do_not_fit(X, index, Q, scores):
    places = np.zeros(scores, np.int64)
    with pytest.raises(ValueError, match="must"):
        _native.best_rows(
            np.zeros(X, np.float32), np.array(index, np.int64), np.zeros(Q, np.float32), 0,
            np.zeros(scores, np.float32), places, 1,
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_rows_whose_products_differ_by_less_than_float32_can_tell_rank_right(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(300, dtype=np.float32) + rng.standard_normal((80, 300), dtype=np.float32) * np.float32(3e-7)
    Q = rng.standard_normal((4, 300), dtype=np.float32)
    exact = Q.astype(np.float64) @ X.astype(np.float64).T
    _, found = search_products(Q, pieces(X), None, len(X))
    np.testing.assert_array_equal(found, np.argsort(-exact, axis=1, kind="stable"))


def search(X, index, q=2):
    scores, places = np.full((q, 2), -np.inf, np.float32), np.full((q, 2), -1, np.int64)
    _native.best_rows(X, index, np.ones((q, X.shape[1]), np.float32), 10, scores, places, 2)
    return scores.tolist(), places.tolist()


def test_an_empty_index_is_no_row_and_none_is_every_row():
    X = np.arange(3, dtype=np.float32)[:, None]
    assert search(X, np.zeros(0, np.int64)) == ([[-np.inf, -np.inf]] * 2, [[-1, -1]] * 2)
    assert search(X, None) == ([[2, 1]] * 2, [[12, 11]] * 2)
    assert search(X, np.array([0, 1])) == ([[1, 0]] * 2, [[11, 10]] * 2)


def test_rows_without_columns_rank_by_position_and_no_rows_are_not_found():
    assert search(np.empty((3, 0), np.float32), None) == ([[0, 0]] * 2, [[10, 11]] * 2)
    assert search(np.empty((0, 4), np.float32), None) == ([[-np.inf, -np.inf]] * 2, [[-1, -1]] * 2)
    assert search(np.empty((3, 4), np.float32), None, 0) == ([], [])
    scores, places = np.full((1, 2), -np.inf, np.float32), np.full((1, 2), -1, np.int64)
    _native.best_scores(np.empty((1, 0), np.float32), np.zeros(0, np.int64), scores, places, 2)
    assert places.tolist() == [[-1, -1]]


def test_pieces_give_no_array_where_nothing_is_selected():
    rows = pieces(small_integers(np.random.default_rng(0), 6, 2), 3)
    assert list(rows.blocks(np.zeros(0, np.int64))) == []
    assert [index for _, _, index in rows.blocks(None)] == [None, None]


def test_embeddings_of_another_width_are_refused():
    index = FlatIndex(CosineEncoder(3))
    index.encoder.transform = lambda X: np.zeros((2, 4))
    with pytest.raises(ValueError, match=r"an encoder must give rows of 3 numbers; got shape \(2, 4\)"):
        index.encode(np.zeros((2, 3)))


def test_embeddings_are_float32_in_c_order():
    index = FlatIndex(CosineEncoder(3))
    index.encoder.transform = lambda X: np.asfortranarray(X)
    rows = index.encode(np.eye(3))
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous

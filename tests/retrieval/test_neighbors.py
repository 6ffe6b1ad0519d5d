"""Strangers by the gallery itself: against loops that leave every thing out in turn, and after any history."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.retrieval import neighbors
from manyclass.retrieval.neighbors import background_check, fewest_things


def images(n_things=25, m=3, d=6, seed=0):
    """Images (n, d) of unit length, and the thing that each shows."""
    rng, y = np.random.default_rng(seed), np.repeat(np.arange(n_things), m)
    X = rng.normal(size=(n_things, d))[y] + 0.5 * rng.normal(size=(len(y), d))
    order = rng.permutation(len(y))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)[order], y[order]


def gallery(X, y, labeled=True, **settings):
    g = mc.Gallery(things="thing" if labeled else None, **settings)
    g.add(X, metadata={"thing": y.tolist()})
    return g


def table(g):
    state = g.state()
    return state.neighbors, state.indexes[0], state.catalog


def scores(Q, X):
    """As a search has them: sums in float64, rounded to float32."""
    return (Q.astype(np.float64) @ X.astype(np.float64).T).astype(np.float32)


def twin_margin(s, X, y):
    """a of a query with scores s (n,): best less the mean of what the next thing has for it and for its best."""
    g = int(np.argmax(s))
    others = y != y[g]
    back = scores(X[g : g + 1], X[others])[0]
    return float(s[g]) - (float(s[others].max()) + float(back.max())) / 2


def twin_null(X, y):
    """Every image as a query, its thing left out of the gallery."""
    return np.sort(
        [twin_margin(scores(X[i : i + 1], X[y != y[i]])[0], X[y != y[i]], y[y != y[i]]) for i in range(len(y))]
    )


def twin_p_values(Q, X, y):
    null = twin_null(X, y)
    a = [twin_margin(s, X, y) for s in scores(Q, X)]
    return np.array([(1 + np.count_nonzero(null >= one)) / (len(null) + 1) for one in a])


@pytest.mark.parametrize("labeled", [True, False])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_p_values_are_those_of_the_loops(labeled, k):
    X, y = images()
    things = y if labeled else np.arange(len(y))
    Q = np.concatenate([images(seed=1)[0][:30], X[:10]])
    g = gallery(X, y, labeled)
    codes = g.codes(g.ids)
    null = table(g)[0].null(*table(g)[1:])
    np.testing.assert_array_equal(null, twin_null(codes, things))
    unit = mc.Gallery()
    unit.add(Q)
    np.testing.assert_array_equal(g.search(Q, k=k).p_values, twin_p_values(unit.codes(unit.ids), codes, things))


def test_matched_are_those_whose_p_value_is_at_most_the_rate():
    X, y = images()
    hits = gallery(X, y, false_match=0.2).search(images(seed=1)[0])
    np.testing.assert_array_equal(hits.matched, hits.p_values <= 0.2)
    assert 0 < hits.matched.sum() < len(hits)


def test_the_background_set_has_a_say_too():
    X, y = images(d=30)
    near = mc.Gallery(background=X, things="thing")  # a background of the very images: nothing is above it
    near.add(X, metadata={"thing": y.tolist()})
    alone = gallery(X, y).search(X + 0.01)
    assert alone.matched.any()
    assert not near.search(X + 0.01).matched.any()
    np.testing.assert_array_equal(near.search(X + 0.01).p_values, alone.p_values)


def test_an_image_of_the_gallery_is_not_its_own_rival():
    X, y = images(m=2)
    g = gallery(X, y)
    hits = g.search_ids(g.ids, k=3)
    codes, null = g.codes(g.ids), twin_null(g.codes(g.ids), y)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        s = scores(codes[i : i + 1], codes[rest])[0]
        best = int(np.argmax(s))
        others = y[rest] != y[rest][best]
        back = scores(codes[rest][best : best + 1], codes)[0][(y != y[rest][best]) & (y != y[i])].max()
        a = float(s[best]) - (float(s[others].max()) + float(back)) / 2
        assert hits.p_values[i] == (1 + np.count_nonzero(null >= a)) / (len(null) + 1)


@pytest.mark.parametrize(("rate", "fewest"), [(0.05, 19), (0.1, 9), (0.01, 99), (0.03, 33)])
def test_of_too_few_things_nothing_is_matched_and_this_is_said(rate, fewest):
    assert fewest_things(rate) == fewest
    X, y = images(fewest, m=2)
    enough = mc.Gallery(background=X, things="thing", false_match=rate)
    enough.add(X, metadata={"thing": y.tolist()})
    assert enough.search(X).caution is None
    enough.remove(np.flatnonzero(y == 0))
    hits = enough.search(X)
    assert hits.caution.startswith(f"{fewest - 1:,} things are too few")
    assert (hits.p_values, hits.matched[~hits.copies].any()) == (None, False)  # and copies are told by themselves


def test_a_filtered_search_is_judged_by_the_background_alone():
    X, y = images()
    assert gallery(X, y).search(X, where={"thing": [1, 2]}).p_values is None


def test_images_without_a_word_are_things_of_their_own():
    X, _ = images(25, m=1)
    plain, named = mc.Gallery(), mc.Gallery(things="thing")
    plain.add(X)
    named.add(X, metadata={"thing": [None] * 25})
    np.testing.assert_array_equal(named.search(X).p_values, plain.search(X).p_values)


operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 9)),
        st.tuples(st.just("remove"), st.integers(0, 2**31)),
        st.tuples(st.just("search"), st.just(0)),
        st.tuples(st.just("update"), st.integers(0, 2**31)),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(history=operations, labeled=st.booleans(), duplicates=st.booleans())
def test_any_history_gives_the_bits_of_a_gallery_made_afresh(history, labeled, duplicates):
    X, y = images(40, m=3, d=4)
    if duplicates:
        X = np.round(X, 1)
    g, used = gallery(X[:60], y[:60], labeled), 60
    for name, number in history:
        if name == "add" and used + number <= len(X):
            g.add(X[used : used + number], metadata={"thing": y[used : used + number].tolist()})
            used += number
        elif name == "remove" and len(g) > 45:
            some = np.random.default_rng(number).choice(g.ids, 3, replace=False)
            g.remove(some)
        elif name == "update":
            some = np.random.default_rng(number).choice(g.ids, 2, replace=False)
            g.update(some, X[number % 50 : number % 50 + 2])
        elif name == "search":
            g.search(X[:2])
    fresh = mc.Gallery(things="thing" if labeled else None)
    fresh.add(g.codes(g.ids), metadata=g.metadata(g.ids))
    found, expected = (one.search(X).p_values for one in (g, fresh))
    if found is None or expected is None:  # fewer things than the rate takes
        assert found is expected is None
        return
    np.testing.assert_array_equal(found, expected)
    kept, index, catalog = table(g)
    live = catalog.live()
    s, places = kept.rows(index, catalog, live)
    t, others = table(fresh)[0].rows(*table(fresh)[1:], np.arange(len(live)))
    assert s.tobytes() == t.tobytes()
    np.testing.assert_array_equal(np.searchsorted(live, places), others)


def test_closed_gaps_leave_the_neighbors_as_they_are():
    X, y = images(80, m=40)
    g = gallery(X, y)
    g.search(X[:1])
    before = table(g)[2]
    g.remove(np.flatnonzero(y >= 20))
    assert table(g)[2] is not before  # the catalog was closed up
    fresh = gallery(X[y < 20], y[y < 20])
    np.testing.assert_array_equal(g.search(X).p_values, fresh.search(X).p_values)


@pytest.mark.parametrize("labeled", [True, False])
def test_threads_give_the_same_bits(labeled):
    X, y = images(60, m=8, d=40)
    found = []
    for n in (1, 2, 3):
        with mc.threads(n):
            g = gallery(X, y, labeled)
            found.append((g.search(X).p_values.tobytes(), table(g)[0].scores.tobytes()))
    assert found[0] == found[1] == found[2]


def test_few_rows_are_worked_out_again_after_a_change(monkeypatch):
    X, y = images(100, m=2, d=8)
    g, worked = gallery(X[:190], y[:190]), []
    g.search(X[:1])
    plain = neighbors.NeighborTable._work_out
    monkeypatch.setattr(
        neighbors.NeighborTable,
        "_work_out",
        lambda self, i, c, asked: (worked.append(len(asked)), plain(self, i, c, asked)),
    )
    g.add(X[190:191], metadata={"thing": y[190:191].tolist()})
    g.remove(3)
    g.search(X[:1])
    assert 1 <= sum(worked) < 60


def test_a_large_gallery_asks_a_sample_that_its_history_does_not_change(monkeypatch):
    monkeypatch.setattr(neighbors, "MOST", 100)
    monkeypatch.setattr(neighbors, "SAMPLE", 40)
    X, y = images(60, m=3)
    names = [f"{i}.jpg" for i in range(len(y))]
    forth, back = (mc.Gallery(background=X[:5], things="thing") for _ in range(2))
    forth.add(X, ids=names, metadata={"thing": y.tolist()})
    forth.search(X[:1])
    for i in range(len(y))[::-1]:
        back.add(X[i : i + 1], ids=names[i], metadata={"thing": [int(y[i])]})
    assert len(table(forth)[0].null(*table(forth)[1:])) == 40
    np.testing.assert_array_equal(forth.search(X).p_values, back.search(X).p_values)
    plain = mc.Gallery()
    plain.add(X)
    assert plain.search(X[:2]).p_values is None  # without a background it would cost as much as the search


def test_machines_of_a_kernel_are_judged_too():
    X, y = images()
    enc = mc.KernelSquareLossExemplar(n_background=8, random_state=0).fit(images(seed=3)[0])
    g = mc.Gallery(enc, things="thing")
    g.add(X, metadata={"thing": y.tolist()})
    S = enc.similarity(g.codes(g.ids), g.codes(g.ids)).astype(np.float64)
    a = []
    for i in range(len(y)):
        rest = y != y[i]
        best = np.flatnonzero(rest)[np.argmax(S[i, rest])]
        third = rest & (y != y[best])
        a.append(S[i, best] - (S[i, third].max() + S[best, third].max()) / 2)
    np.testing.assert_allclose(table(g)[0].null(*table(g)[1:]), np.sort(a), atol=1e-5)


def test_a_reranker_leaves_the_judgement_to_the_first_encoder():
    X, y = images()
    second = mc.SquareLossExemplar(n_background=8, random_state=0).fit(images(seed=3)[0])
    g = mc.Gallery(reranker=second, things="thing")
    g.add(X, metadata={"thing": y.tolist()})
    np.testing.assert_array_equal(g.search(X, k=4).p_values, gallery(X, y).search(X, k=4).p_values)


def test_a_background_of_another_kind_is_found_out():
    X, y = images(40, m=1, d=30, seed=1)
    X = np.abs(X)  # all alike, and unlike a background of both signs
    for background, alike in (
        (np.abs(images(100, m=1, d=30, seed=2)[0]), True),
        (images(100, m=1, d=30, seed=2)[0], False),
    ):
        g = mc.Gallery(background=background)
        g.add(X)
        share, bound = background_check(*table(g), 0.05)
        assert bound == pytest.approx(0.05 + 2 * np.sqrt(0.05 * 0.95 / 40))
        assert (share <= bound) is alike
    assert background_check(*table(gallery(X, y)), 0.05) is None

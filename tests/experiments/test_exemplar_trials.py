"""How methods of search are chosen and compared, and the pages on them, on a search that machines are made for."""

import re

import numpy as np
import pytest

import manyclass as mc
from experiments import exemplar_compact, exemplar_negatives, exemplar_rank, exemplar_table, exemplar_trials
from experiments.exemplar_trials import Tried, compared, features, kernel_slem, slem, svm, tried, whitened
from experiments.paper_searches import ASKED, KNOWN, some_of_each
from experiments.sources import unit


def noisy_search(seed=0, d=12, n_classes=12):
    """Classes differ in the last half of the columns; the first half varies far more, without meaning."""
    rng = np.random.default_rng(seed)
    spread = np.repeat([9.0, 1.0], d // 2)
    y = np.repeat(np.arange(n_classes), ASKED + KNOWN + 1)
    means = rng.normal(size=(n_classes, d)) * (spread == 1)
    X = means[y] + 0.3 * spread * rng.normal(size=(len(y), d))
    negatives = rng.normal(size=(300, d)) * (spread == 1) + 0.3 * spread * rng.normal(size=(300, d))
    return some_of_each(unit(X), y, np.ones(len(y), bool), unit(negatives))


@pytest.fixture(scope="module")
def search():
    return noisy_search()


def test_a_query_is_judged_by_what_the_other_half_chose():
    rng = np.random.default_rng(0)
    P = rng.random((5, 21))
    judged = Tried(P).judged()
    first, second = P[:, :10].mean(axis=1).argmax(), P[:, 10:].mean(axis=1).argmax()
    np.testing.assert_array_equal(judged, [*P[second, :10], *P[first, 10:]])
    # What a query gives itself plays no part in what is chosen for it.
    P[:, :10] = P[::-1, :10]
    np.testing.assert_array_equal(Tried(P).judged()[:10], P[second, :10])


def test_queries_that_ask_for_the_same_are_one_draw():
    one = np.random.default_rng(0).random(40)
    five = Tried(np.repeat(one, 5)[None])
    zero = Tried(np.zeros((1, 200)))
    half = (compared(five, zero).high - compared(five, zero).low) / 2
    assert half == pytest.approx(1.96 * one.std() / np.sqrt(40), rel=0.1)


def test_groups_without_positives_are_left_out():
    P = np.full((1, 12), 0.5)
    P[0, :5] = np.nan
    assert compared(Tried(P), Tried(np.zeros((1, 12)))).mean == 0.5


def test_classes_ask_for_others_of_their_own():
    y = np.repeat([3, 5, 9], 20)
    X = np.eye(10, dtype=np.float32)[y]
    found = some_of_each(X, y, y != 5, X[y == 5])
    assert (len(found.queries), len(found.database), len(found.negatives)) == (2 * ASKED, 2 * KNOWN, 20)
    assert mc.evaluation.mean_average_precision(found.queries @ found.database.T, found.truth, found.protocol) == 1
    assert not (found.queries @ found.negatives.T).any()


def test_every_method_has_as_many_settings(search):
    wide = search._replace(
        **{name: np.pad(getattr(search, name), ((0, 0), (0, 60))) + 0.1 * noise(len(getattr(search, name)), 72)
           for name in ("negatives", "queries", "database")}
    )  # fmt: skip
    few = (kernel_slem("rbf", "nystrom", 4), kernel_slem("poly"), slem, whitened)
    assert [len(tried(wide, method).precisions) for method in few] == [exemplar_trials.SETTINGS] * 4


def noise(n, d):
    return np.random.default_rng(n).normal(size=(n, d)).astype(np.float32)


def test_whitening_by_fewer_components_is_that_of_the_library(search):
    scores = list(whitened(search))
    Q, D = (mc.WhitenedPCA(n_components=12).fit(search.negatives).transform(X) for X in search[2:0:-1])
    np.testing.assert_allclose(scores[-1], Q @ D.T, atol=1e-5)


@pytest.mark.parametrize("method", [slem, svm, kernel_slem("rbf"), kernel_slem("poly", "nystrom", 12)])
def test_machines_gain_where_what_varies_most_means_nothing(search, monkeypatch, method):
    monkeypatch.setattr(exemplar_trials, "STEPS", 500)
    gain = compared(tried(search, method), tried(search, features))
    assert gain.low > 0.05


@pytest.fixture
def small(monkeypatch, search):
    """Pages of this search alone, with small numbers of everything."""
    for page in (exemplar_table, exemplar_negatives, exemplar_rank, exemplar_compact):
        monkeypatch.setattr(page, "searches", lambda folder: {("glyphs", "gradients"): lambda: search})
    monkeypatch.setattr(exemplar_negatives, "many_drawings", lambda n: search)
    monkeypatch.setattr(exemplar_negatives, "COUNTS", (50, 300))
    monkeypatch.setattr(exemplar_negatives, "MANY", (50, 300))
    monkeypatch.setattr(exemplar_negatives, "REPEATS", 2)
    monkeypatch.setattr(exemplar_rank, "RANKS", (2, 8))
    monkeypatch.setattr(exemplar_compact, "DIMENSIONS", (6, 9))
    monkeypatch.setattr(
        exemplar_compact, "PRINTED", {(p, m): ("",) * 4 for p in (6, 9) for m in exemplar_compact.METHODS}
    )
    monkeypatch.setattr(exemplar_trials, "STEPS", 300)
    return {
        "exemplar_table": {"Table 1"},
        "exemplar_compact": {"Table 2"},
        "exemplar_negatives": {"Figure 1", "Figure 3"},
        "exemplar_rank": {"Figure 2"},
    }


@pytest.mark.parametrize("page", [exemplar_table, exemplar_compact, exemplar_negatives, exemplar_rank])
def test_a_page_judges_the_items_of_the_paper(small, page):
    results = page.run(None)
    found = re.findall(r"^\*\*(.+?)\.\*\* .* \*[A-Z].*?\*: ", "\n".join(results.parts), re.MULTILINE)
    assert set(found) == small[results.name]


def test_what_the_data_was_made_for_is_found(small):
    text = "\n".join(exemplar_table.run(None).parts)
    assert "The linear machine gains over features. *Reproduced*" in text

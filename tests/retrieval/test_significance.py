"""What chance says: percentiles, tails, and how often unrelated queries are called matched."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.retrieval.significance import (
    bulk_p_values,
    expected_false_matches,
    judge_scores,
    max_expected_matches,
    p_values,
    percentiles,
)


def test_percentiles_count_the_pool_below():
    background = np.array([[4.0, 1.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(
        percentiles(np.array([[4.5, 4.0, 0.5], [1.0, 0.0, -1.0]]), background), [[100, 75, 0], [100, 0, 0]]
    )


@pytest.mark.parametrize("m", [1, 7, 39])
def test_a_small_pool_is_only_counted(m):
    background = np.arange(m, dtype=float)[None]
    assert p_values(np.array([[m + 1.0]]), background)[0, 0] == 1 / (m + 1)
    assert p_values(np.array([[-1.0]]), background)[0, 0] == 1


def test_the_tail_of_an_exponential_is_found():
    rng = np.random.default_rng(0)
    background = rng.exponential(size=(200, 1000))
    s = np.array([3.5, 6.0, 12.0])
    found = np.exp(np.log(p_values(np.tile(s, (200, 1)), background)).mean(axis=0))
    np.testing.assert_allclose(np.log(found), -s, atol=0.9)


def test_chances_fall_with_the_score_and_are_those_counted_within_the_pool():
    rng = np.random.default_rng(1)
    background = rng.standard_normal((1, 1000))
    s = np.linspace(-4, 9, 300)[None]
    p = p_values(s, background)[0]
    assert (np.diff(p) <= 1e-12).all() or np.diff(p).max() < 2e-3
    assert p_values(np.array([[0.0]]), background)[0, 0] == pytest.approx((background > 0).mean(), abs=2e-3)
    assert p[-1] < 1e-6


def test_a_pool_of_equal_scores_can_only_be_counted():
    assert p_values(np.array([[1.0, 2.0]]), np.ones((1, 99))).tolist() == [[1.0, 0.01]]


def test_what_some_of_the_pool_exceed_is_not_impossible_where_most_scores_are_equal():
    background = np.append(np.zeros(980), np.linspace(0.1, 0.5, 20))[None]
    found = p_values(np.array([[0.01, 0.3, 3.0]]), background)[0]
    np.testing.assert_allclose(found, [0.02 * 2 ** (-0.01 / 0.3), 0.01, 0.02 * 2**-10])


def test_one_related_image_in_the_pool_changes_little():
    rng = np.random.default_rng(2)
    background = rng.standard_normal((1, 1000)) * 0.05
    spoilt = np.append(background[:, :-1], [[1.0]], axis=1)
    a, b = (np.log(p_values(np.array([[0.4]]), p)[0, 0]) for p in (background, spoilt))
    assert abs(a - b) < 4  # a mean excess would have changed by twice that


@pytest.mark.parametrize("n", [300, 10_000])
def test_unrelated_queries_are_seldom_matched_and_copies_always_whatever_the_size_of_the_gallery(n):
    rng = np.random.default_rng(3)
    background, X, Q = (rng.standard_normal((m, 64), dtype=np.float32) for m in (1000, n, 400))
    g = mc.Gallery(background=background, false_match=0.05)
    g.add(X)
    assert g.search(Q, k=1).matched.mean() <= 0.05
    assert g.search(X[:100] + 0.3 * rng.standard_normal((100, 64), dtype=np.float32), k=1).matched.mean() > 0.95
    assert g.search(Q, k=1).percentiles.mean() > 99  # so a percentile alone would have matched them


def test_the_limit_is_that_of_the_best_of_many():
    assert 1 - np.exp(-max_expected_matches(0.05)) == pytest.approx(0.05)


def test_of_unrelated_images_the_expected_number_scores_as_high():
    rng = np.random.default_rng(0)
    background, scores = rng.normal(size=(1, 2000)), rng.normal(size=(1, 50_000))
    expected = expected_false_matches(np.array([[1.0, 2.0]]), background, 50_000)
    np.testing.assert_allclose(expected[0], [(scores >= 1).sum(), (scores >= 2).sum()], rtol=0.2)
    np.testing.assert_array_equal(expected, 50_000 * p_values(np.array([[1.0, 2.0]]), background))


def test_nothing_is_said_of_scores_without_a_background():
    assert judge_scores(np.ones((1, 2)), None, 10, 0.05) == {}


@pytest.mark.parametrize("related", [0, 20, 60])
def test_the_bulk_of_a_background_tells_chance_although_some_of_it_is_related(related):
    rng = np.random.default_rng(related)
    unrelated = rng.exponential(size=(200, 1000))
    background = unrelated.copy()
    background[:, :related] += 12  # as much alike as what is looked for
    hits = np.full((200, 1), 12.0)
    p = bulk_p_values(hits, background)
    assert np.median(p) < 1e-3
    if related == 60:
        assert np.median(p_values(hits, background)) > 0.01
    # of unrelated scores p is what it says, or more: related ones make the bulk look a little wider
    asked = rng.exponential(size=(200, 50))
    assert np.mean(bulk_p_values(asked, background) <= 0.01) <= 0.013


def test_a_bulk_of_equal_scores_is_counted():
    scores, background = np.array([[1.0, -1.0]]), np.zeros((1, 100))
    np.testing.assert_array_equal(bulk_p_values(scores, background), p_values(scores, background))

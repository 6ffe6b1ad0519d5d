"""Mean average precision against the official programs' arithmetic, with ties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.evaluation import (
    Query,
    Truth,
    average_precision,
    average_precisions,
    mean_average_precision,
    mean_precision_at,
)
from tests.evaluation import official_programs as official

# Three queries, of which the last has no hard positive; five images.
TRUTH = Truth(
    tuple("abcde"),
    (
        Query("p", np.array([0]), np.array([1]), np.array([4])),
        Query("q", np.array([2, 3]), np.array([4])),
        Query("r", np.array([1])),
    ),
)
SCORES = np.array([[5, 1, 4, 3, 9], [2, 1, 4, 3, 5], [1, 2, 2, 0, 0]])
ONE_OFF = (1 + (1 / 2 + 2 / 3) / 2) / 2  # positives first and third


def random_truth(rng, n_queries, n, inside):
    """Queries with random kinds of images; those in the database count themselves."""
    queries = []
    for i in range(n_queries):
        kinds = rng.integers(0, 5, n)
        row = int(rng.integers(n)) if inside else None
        if row is not None:
            kinds[row] = 1
        queries.append(Query(str(i), *(np.flatnonzero(kinds == kind) for kind in (1, 2, 3)), row=row))
    return Truth(tuple(str(i) for i in range(n)), tuple(queries))


@pytest.mark.parametrize(
    ("difficulty", "expected"),
    [
        ("easy", [1, 1, 1]),
        ("medium", [(1 + (1 / 3 + 2 / 4) / 2) / 2, 1, 1]),
        ("hard", [(0 + 1 / 3) / 2, 1, np.nan]),
    ],
)
def test_average_precisions_by_hand(difficulty, expected):
    np.testing.assert_allclose(average_precisions(SCORES, TRUTH, "revisited", difficulty), expected)
    assert mean_average_precision(SCORES, TRUTH, "revisited", difficulty) == pytest.approx(np.nanmean(expected))


def test_holidays_ignores_the_query_and_oxford_counts_it():
    scores = [[1.0, 0.9, 0.8, 0.7]]
    ignored = Truth(tuple("abcd"), (Query("a", np.array([2]), row=0),))
    counted = Truth(tuple("abcd"), (Query("a", np.array([0, 2]), row=0),))
    assert mean_average_precision(scores, ignored, "holidays") == pytest.approx((0 + 1 / 2) / 2)
    assert mean_average_precision(scores, counted, "oxford") == pytest.approx(ONE_OFF)
    assert mean_average_precision(scores, counted, "holidays") == pytest.approx((0 + 1 / 2) / 2)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8, np.int64, bool])
def test_ties_rank_in_the_order_of_the_database(dtype):
    truth = Truth(tuple("abcd"), (Query("first", np.array([0])), Query("last", np.array([3]))))
    found = average_precisions(np.ones((2, 4), dtype), truth, "revisited")
    np.testing.assert_allclose(found, [1, (0 + 1 / 4) / 2])


def test_rectangles_are_passed_on():
    truth = TRUTH.take([0])
    assert mean_average_precision(SCORES[:1], truth, "revisited", area="rectangle") == pytest.approx((1 + 2 / 4) / 2)


@given(n_queries=st.integers(1, 6), n=st.integers(1, 40), levels=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
def test_with_ties_the_numbers_are_those_of_the_official_programs(n_queries, n, levels, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (n_queries, n)) / levels
    truth = random_truth(rng, n_queries, n, inside=True)
    lists = [official.ranked_by(row) for row in scores]
    oxford, holidays = (average_precisions(scores, truth, protocol) for protocol in ("oxford", "holidays"))
    for query, ranked, with_it, without in zip(truth.queries, lists, oxford, holidays, strict=True):
        walked = official.walk_the_list(set(query.positives), set(query.junk), ranked)
        assert with_it == pytest.approx(walked, abs=1e-6)
        positives = set(query.positives) - {query.row}
        kept = [image for image in ranked if image not in query.junk]
        if positives:
            assert without == pytest.approx(official.holidays(query.row, positives, kept))
        else:
            assert np.isnan(without)


@given(n_queries=st.integers(1, 6), n=st.integers(1, 40), levels=st.integers(1, 30), seed=st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_the_revisited_numbers_are_those_of_the_official_program(difficulty, n_queries, n, levels, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (n_queries, n))
    truth = random_truth(rng, n_queries, n, inside=False)
    right = {"easy": ("easy",), "medium": ("easy", "hard"), "hard": ("hard",)}[difficulty]
    ignored = {"easy", "hard", "junk"} - set(right)
    official_numbers = [
        official.revisited(
            np.concatenate([getattr(query, kind) for kind in right]),
            np.concatenate([getattr(query, kind) for kind in sorted(ignored)]),
            official.ranked_by(row),
            [1, 5, 10],
        )
        for query, row in zip(truth.queries, scores, strict=True)
    ]
    expected = [np.nan if numbers is None else numbers[0] for numbers in official_numbers]
    np.testing.assert_allclose(average_precisions(scores, truth, "revisited", difficulty), expected, atol=1e-12)
    if known := [numbers[1] for numbers in official_numbers if numbers]:
        at = [mean_precision_at(scores, truth, k, "revisited", difficulty) for k in (1, 5, 10)]
        np.testing.assert_allclose(at, np.mean(known, axis=0))


def test_scores_and_the_order_they_make_give_the_same():
    scores = np.random.default_rng(0).random(30)
    truth = Truth(tuple(str(i) for i in range(30)), (Query("q", np.array([3, 8]), junk=np.array([1])),))
    alone = average_precision(np.argsort(-scores), [3, 8], [1])
    assert average_precisions(scores[None], truth, "revisited")[0] == alone


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (SCORES[:, :4], r"a column for every image of the database, \(3, 5\); got \(3, 4\)"),
        (SCORES[:2], r"scores must have a row per query .* \(3, 5\); got \(2, 5\)"),
        (np.where(SCORES > 4, np.nan, SCORES), "scores must hold finite numbers; row 0 has NaN"),
        (
            np.where(np.arange(3)[:, None] == 2, -np.inf, SCORES),
            "scores must hold finite numbers; row 2 has NaN",
        ),
        (SCORES.astype(str), "scores must hold real numbers"),
    ],
)
def test_scores_of_a_part_of_the_database_are_refused(scores, sentence):
    with pytest.raises(ValueError, match=sentence):
        mean_average_precision(scores, TRUTH, "revisited")


def test_no_positives_at_all_are_refused():
    with pytest.raises(ValueError, match="truth must have a query with positives under this protocol; got none"):
        mean_average_precision(SCORES[2:], TRUTH.take([2]), "revisited", "hard")


def test_an_unknown_area_is_refused():
    with pytest.raises(ValueError, match="area must be"):
        mean_average_precision(SCORES, TRUTH, "revisited", area="circle")

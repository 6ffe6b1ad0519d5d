"""Average precision by hand, against slow walks down the list, and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from manyclass.evaluation import average_precision, precision_at
from tests.evaluation.official_programs import step_by_positives, walk_the_list

HAND_WORKED = [
    # order, positives, junk, trapezoid, rectangle
    ("abcd", "a", "", 1, 1),
    ("abcd", "b", "", 1 / 4, 1 / 2),
    ("abcd", "d", "", 1 / 8, 1 / 4),
    ("abcd", "ab", "", 1, 1),
    ("abcd", "ac", "", (1 + (1 / 2 + 2 / 3) / 2) / 2, (1 + 2 / 3) / 2),
    ("abcd", "bd", "", ((0 + 1 / 2) / 2 + (1 / 3 + 2 / 4) / 2) / 2, (1 / 2 + 2 / 4) / 2),
    ("abcd", "bd", "a", (1 + (1 / 2 + 2 / 3) / 2) / 2, (1 + 2 / 3) / 2),
    ("abcd", "bd", "ac", 1, 1),
    ("abcd", "bc", "d", ((0 + 1 / 2) / 2 + (1 / 2 + 2 / 3) / 2) / 2, (1 / 2 + 2 / 3) / 2),
]


@st.composite
def rankings(draw):
    """(order, positives, junk): at least one positive."""
    n = draw(st.integers(1, 40))
    order = draw(st.permutations(range(n)))
    kinds = draw(st.lists(st.sampled_from("pnj"), min_size=n, max_size=n))
    kinds[draw(st.integers(0, n - 1))] = "p"
    return order, *([i for i in range(n) if kinds[i] == kind] for kind in "pj")


@pytest.mark.parametrize(("order", "positives", "junk", "trapezoid", "rectangle"), HAND_WORKED)
def test_rankings_worked_by_hand(order, positives, junk, trapezoid, rectangle):
    order, positives, junk = list(order), list(positives), list(junk)
    assert average_precision(order, positives, junk) == pytest.approx(trapezoid)
    assert average_precision(order, positives, junk, area="rectangle") == pytest.approx(rectangle)


@given(ranking=rankings())
def test_trapezoids_are_those_of_oxfords_walk_down_the_list(ranking):
    order, positives, junk = ranking
    expected = walk_the_list(set(positives), set(junk), order)
    assert average_precision(order, positives, junk) == pytest.approx(expected, abs=1e-6)


@given(ranking=rankings())
def test_trapezoids_are_those_of_holidays_steps(ranking):
    order, positives, junk = ranking
    kept = [image for image in order if image not in junk]
    places = [place for place, image in enumerate(kept) if image in positives]
    assert average_precision(order, positives, junk) == pytest.approx(step_by_positives(places, len(positives)))


@given(ranking=rankings())
def test_rectangles_are_those_of_scikit_learn(ranking):
    order, positives, junk = ranking
    kept = [image for image in order if image not in junk]
    theirs = average_precision_score([image in positives for image in kept], -np.arange(len(kept)))
    assert average_precision(order, positives, junk, area="rectangle") == pytest.approx(theirs)


@given(ranking=rankings(), seed=st.integers(0, 2**32 - 1))
def test_names_and_the_order_of_positives_and_junk_do_not_matter(ranking, seed):
    order, positives, junk = ranking
    rng = np.random.default_rng(seed)
    named = [[f"image {i}" for i in images] for images in (order, rng.permutation(positives), rng.permutation(junk))]
    assert average_precision(*named) == average_precision(order, positives, junk)


def test_a_part_of_the_ranking_will_do_if_it_has_every_positive():
    order = list(range(100))
    assert average_precision(order[:9], [3, 8], [1, 50]) == average_precision(order, [3, 8], [1, 50])


def test_a_positive_that_is_named_twice_counts_once():
    assert average_precision([3, 1, 2], [1, 1, 2]) == average_precision([3, 1, 2], [1, 2])


def test_without_positives_there_is_no_average_precision():
    assert math.isnan(average_precision([1, 2], []))
    assert math.isnan(precision_at([1, 2], [], k=1))


@pytest.mark.parametrize(
    ("k", "expected"), [(1, 1), (2, 1 / 2), (3, 2 / 3), (4, 2 / 4), (5, 3 / 5), (6, 3 / 5), (1000, 3 / 5)]
)
def test_precision_at_k_looks_no_further_than_the_last_positive(k, expected):
    assert precision_at(list("xabcdef"), ["a", "c", "e"], k, junk=["x"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1, 2], [2, 3, 4]), "order must hold all 3 positives, as a whole ranking does; it lacks 2"),
        (([1, 2], [3, 3]), "order must hold all 1 positives, as a whole ranking does; it lacks 1"),
        (([1, 2, 1], [2]), "order must hold every image once; got 1 twice"),
        (([1, 2], [2], [2]), "positives and junk must be different images; got 2 in both"),
        (([[1, 2]], [2]), "order must be a vector"),
        ((["a", "b"], [1]), "positives must hold labels of the same kind as order"),
        (([1.0, np.nan], [1.0]), "order must hold finite numbers; row 1"),
        (([1, 2], [1], (), "circle"), "area must be 'trapezoid' or 'rectangle'; got 'circle'"),
    ],
)
def test_what_has_no_average_precision_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        average_precision(*arguments)


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_precision_at_k_takes_whole_numbers(k):
    with pytest.raises(ValueError, match="k must be a whole number, at least 1"):
        precision_at([1, 2], [1], k)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.evaluation import hierarchical_scores

# 0 is the root, 1 and 2 are below it, 3 and 4 below 1, 5 below 2.
WAYS = {0: [0, -1, -1], 1: [0, 1, -1], 2: [0, 2, -1], 3: [0, 1, 3], 4: [0, 1, 4], 5: [0, 2, 5]}


def scores(truth, found):
    return hierarchical_scores([WAYS[node] for node in truth], [WAYS[node] for node in found])


def test_a_case_by_hand():
    found = scores([3, 3, 3, 5], [3, 1, 4, 1])
    assert found["right"] == 2 / 4
    assert found["mean_depth"] == (2 + 1 + 2 + 1) / 4
    # Nodes in common: 1 and 3; 1; 1; none. Told: 2, 1, 2, 1. True: 2 each.
    assert found["precision"] == 4 / 6
    assert found["recall"] == 4 / 8
    assert found["f1"] == pytest.approx(2 * (4 / 6) * (4 / 8) / (4 / 6 + 4 / 8))
    assert found["accuracy_at_depth"] == [1.0, 3 / 4, 1 / 4]


def test_the_root_is_right_and_says_nothing():
    found = scores([3, 5], [0, 0])
    assert (found["right"], found["mean_depth"], found["recall"], found["precision"]) == (1.0, 0.0, 0.0, 1.0)
    assert found["f1"] == 0


@given(st.lists(st.tuples(st.sampled_from(sorted(WAYS)), st.sampled_from(sorted(WAYS))), min_size=1, max_size=20))
def test_counts_are_those_of_sets(pairs):
    sets = [tuple({node for node in WAYS[one] if node > 0} for one in pair) for pair in pairs]
    found = scores(*zip(*pairs, strict=True))
    common = sum(len(a & b) for a, b in sets)
    assert found["right"] == np.mean([b <= a for a, b in sets])
    assert found["precision"] == common / max(1, sum(len(b) for _, b in sets)) or not any(b for _, b in sets)
    assert found["recall"] == common / max(1, sum(len(a) for a, _ in sets)) or not any(a for a, _ in sets)


def test_levels_may_differ_in_number():
    assert hierarchical_scores([[0, 1, 3]], [[0, 1]])["accuracy_at_depth"] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ([[0, -1, 1]], "-1 after the last node alone"),
        ([[-1, 0]], "must have the root first"),
        ([0, 1], "must be an array of node numbers"),
        ([[0.5]], "must be an array of node numbers"),
        ([[0], [0]], "as many rows"),
    ],
)
def test_what_is_no_way_from_the_root_is_refused(truth, message):
    with pytest.raises(ValueError, match=message):
        hierarchical_scores(truth, [[0]])

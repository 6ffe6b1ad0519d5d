"""When a descent stops, and which machines are kept."""

import pytest

from manyclass.solvers.sgd.descent import EarlyStopping


@pytest.mark.parametrize(("best", "good"), [(0.7, True), (0.8, True), (0.8199, True), (0.8201, False)])
def test_half_a_standard_error_below_the_best_is_as_good(best, good):
    # sqrt(0.8 * 0.2 / 100) / 2 = 0.02
    assert EarlyStopping(judged=100).as_good(0.8, best) is good


@pytest.mark.parametrize(("score", "good"), [(0.8, True), (0.7999, False)])
def test_a_score_that_owes_nothing_to_chance_is_as_good_as_it_is(score, good):
    assert EarlyStopping(judged=0).as_good(score, 0.8) is good

"""The search for beta."""

from types import SimpleNamespace

import pytest

from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.tuning import find_beta


@pytest.mark.parametrize("k", [5, 17, 100])
@pytest.mark.parametrize("start", [None, 1.0, 16.0])
def test_the_end_of_the_search_for_beta_is_the_unweighted_machine(start, k):
    seen = []

    def score(algorithm, schedule):
        seen.append(algorithm.beta)
        return k if algorithm.beta is None else algorithm.beta

    trial = SimpleNamespace(train=SimpleNamespace(k=k), score=score, margin=lambda score: 0.0)
    assert find_beta(trial, OneVsRest(MARGIN_LOSSES["hinge"], start), None) is None
    assert None in seen
    assert all(beta < k - 1 for beta in seen if beta is not None)

"""The registry of stochastic objectives: names, algorithms, and where their searches begin."""

import pytest

from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.sgd.minibatch import MiniBatch
from manyclass.solvers.sgd.objectives import OBJECTIVES
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.pairwise import PairwiseRanking

HINGE = MARGIN_LOSSES["hinge"]


def test_every_objective_has_the_name_of_its_entry_and_an_algorithm():
    for name, objective in OBJECTIVES.items():
        made = objective.make("hinge", 2.0, 100)
        assert objective.name == name
        assert isinstance(made, OneVsRest) == objective.samples_negatives
        assert made.cost(100) >= 2


def test_joint_objectives_are_those_of_the_rivals_of_their_papers():
    made = {name: objective.make("hinge", None, 10) for name, objective in OBJECTIVES.items()}
    assert {name: one.violator for name, one in made.items() if isinstance(one, PairwiseRanking)} == {
        "multiclass": "max",
        "ranking": "random",
        "warp": "sampled",
    }
    assert made["softmax"] == MiniBatch()


@pytest.mark.parametrize(
    ("beta", "k", "found"),
    [
        (3, 100, 3.0),
        (None, 100, None),
        (float("inf"), 100, None),
        ("auto", 100, 40.0),
        ("auto", 10_000, 200.0),
        ("auto", 41, None),  # 40 negatives are all there are
        ("auto", 42, 40.0),
    ],
)
def test_beta_of_one_vs_rest_as_users_give_it(beta, k, found):
    assert OBJECTIVES["ovr"].make("hinge", beta, k) == OneVsRest(HINGE, found)


@pytest.mark.parametrize("loss", MARGIN_LOSSES)
def test_the_first_step_is_that_of_the_margin_loss_where_there_is_one(loss):
    assert OBJECTIVES["ovr"].first_step(loss) == MARGIN_LOSSES[loss].step
    assert OBJECTIVES["warp"].first_step(loss) == OBJECTIVES["warp"].step


def test_epochs_of_one_rival_each_count_less_the_more_classes_there_are():
    assert [OBJECTIVES["ranking"].epochs_per_round(k) for k in (2, 100, 1000)] == [1, 10, 32]
    assert {OBJECTIVES[name].epochs_per_round(1000) for name in OBJECTIVES if name != "ranking"} == {1}

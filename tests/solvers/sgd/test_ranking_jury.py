"""Machines are judged by how they rank rows for every class, whoever has the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from manyclass._core.label_lists import LabelLists
from manyclass.data.dense import DenseMatrix
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.judging import jury_of, mean_class_accuracy
from manyclass.solvers.sgd.linear_weights import PANEL, LinearWeights
from manyclass.solvers.sgd.ranking_jury import RankingJury, precisions
from manyclass.solvers.sgd.tuning import StepTrial


def drawn(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < 0.2
    lists = LabelLists.of_pairs(*np.nonzero(Y), n)
    problem = Problem.of_lists(DenseMatrix(rng.standard_normal((n, d), np.float32)), lists, k)
    machines = LinearWeights.of(rng.standard_normal((k, d)), rng.standard_normal(k))
    machines.scales[:] = rng.uniform(0.5, 2, k)
    return problem, machines, Y


@given(st.integers(2, 30), st.integers(0, 100))
def test_the_mean_of_the_precisions_is_the_average_precision(n, seed):
    rng = np.random.default_rng(seed)
    scores, own = rng.integers(0, 6, n).astype(np.float32), rng.random(n) < 0.4
    own[0] = True
    found = precisions(scores, np.flatnonzero(own)).mean()
    assert found == pytest.approx(average_precision_score(own, scores))


class Here:
    """Weights in this process, as a descent has them."""

    def __init__(self, machines):
        self.machines = machines

    def right(self, jury):
        return jury.right(self.machines)


def test_the_score_of_machines_is_the_mean_average_precision_of_classes_that_occur():
    problem, machines, Y = drawn(80, 5, 7)
    Y[:, 3] = False
    problem = Problem.of_lists(problem.X, LabelLists.of_pairs(*np.nonzero(Y), 80), 7)
    S = problem.X.rows(slice(None)) @ (machines.W * machines.scales[:, None]).T + machines.biases
    expected = np.mean([average_precision_score(Y[:, c], S[:, c]) for c in range(7) if Y[:, c].any()])
    assert mean_class_accuracy(problem)(Here(machines)) == pytest.approx(expected, rel=1e-6)


def test_ranges_of_the_classes_give_the_credits_of_all():
    problem, machines, _ = drawn(60, 4, PANEL + 5)
    jury = jury_of(problem.part(np.arange(10, 50)))
    parts = [machines.part(range(PANEL)), machines.part(range(PANEL, PANEL + 5))]
    np.testing.assert_array_equal(jury.gather(lambda _: [jury.right(part) for part in parts]), jury.right(machines))
    assert len(jury.y) == len(jury.right(machines)) == jury.problem.sizes.sum()


def test_rows_of_one_class_have_their_own_jury():
    problem, _, _ = drawn(10, 2, 3)
    assert isinstance(jury_of(problem), RankingJury)
    assert not isinstance(jury_of(Problem.whole(problem.X, np.zeros(10), 3)), RankingJury)


def test_a_trial_gains_by_credits_of_the_same_pairs():
    problem, machines, _ = drawn(400, 5, 4)
    trial = StepTrial.on(problem, np.random.default_rng(0))
    worse, jury = machines.copy(), jury_of(trial.held)
    worse.W *= -1
    new, old = jury.right(machines), jury.right(worse)
    y = jury.y
    gains = (new - old) / np.bincount(y)[y]
    assert trial.gain(new, old) == pytest.approx(gains.sum() / np.sqrt(gains @ gains))
    assert trial.gain(new, new) == 0

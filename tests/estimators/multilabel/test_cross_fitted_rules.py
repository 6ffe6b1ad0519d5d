"""Rules by all rows: none is scored by machines that have seen it."""

import numpy as np

from manyclass._core.label_lists import LabelLists
from manyclass.data.dense import DenseMatrix
from manyclass.estimators.multilabel.cross_fitted_rules import FOLDS, _folds, cross_fitted_rules, need_more_rows
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.sampling import Schedule
from manyclass.solvers.sgd.tuning import SgdPlan


def made(n=200, d=400, k=3, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, k)) < 0.3
    lists = LabelLists.of_pairs(*np.nonzero(Y), n)
    return Problem.of_lists(DenseMatrix(rng.standard_normal((n, d), np.float32)), lists, k)


PLAN = SgdPlan(OneVsRest(MARGIN_LOSSES["hinge"]), Schedule(0.01), "ovr", "hinge")


def test_folds_share_every_row_out_once_and_classes_evenly():
    y = np.random.default_rng(0).integers(0, 5, 203)
    folds = _folds(y)
    counts = [np.bincount(folds[y == c], minlength=FOLDS) for c in range(5)]
    assert all(np.ptp(count) <= 1 for count in counts)


def test_of_noise_machines_learn_that_they_know_nothing():
    """Machines of more columns than rows have all of their own rows right, and others by chance."""
    for n_epochs, n_iter in ((5, 0), (0, 3)):
        rules = cross_fitted_rules(PLAN, made(), n_epochs, n_iter)
        assert np.abs(rules.slopes).max() < 1.0  # by rows that they have seen, it is far above


def test_they_are_for_few_held_out_rows_and_machines_that_are_not_large():
    few = made(200)
    assert need_more_rows(few, 400)
    assert not need_more_rows(few, 10_000_000)
    assert not need_more_rows(made(2000, 2), 400)

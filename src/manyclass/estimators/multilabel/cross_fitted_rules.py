"""Thresholds of machines of stochastic gradient descent by all rows: each is scored by machines that have not seen it.

Of a few thousand rows those held out for early stopping have some dozens of labels of a class at best, and rules by
them cost more than the machines do. So some rows at a time are left out of as many descents of the same plan.
"""

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Singles
from manyclass.estimators.multilabel.thresholds import ScoreRules
from manyclass.solvers.conjugate_gradient import LeastSquaresStart
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.descent import EarlyStopping, SgdRun, run_sgd
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.ranking_jury import RankingJury
from manyclass.solvers.sgd.tuning import SgdPlan

FOLDS = 4

# Rows of a class that are held out, on average, from which on they are enough; and bytes of the machines of a fold.
_ENOUGH, _MOST_BYTES = 64, 32 << 20


def need_more_rows(judged: Problem, d: int) -> bool:
    """Whether rows held out are too few for rules, and machines few enough to be trained some times more."""
    few = float(judged.sizes.mean()) < _ENOUGH
    return few and 4 * judged.k * d <= _MOST_BYTES


def cross_fitted_rules(plan: SgdPlan, problem: Problem, n_epochs: int, n_iter: int) -> ScoreRules:
    """The rules by all rows, of so many epochs after so many steps of least squares."""
    folds = _folds(problem.y[problem.index])
    order = np.concatenate([np.flatnonzero(folds == fold) for fold in range(FOLDS)])
    machines = []
    for fold in range(FOLDS):
        train, held = (problem.part(problem.index[which]) for which in (folds != fold, folds == fold))
        nothing = LinearWeights.zeros(problem.k, problem.d)
        descent = SgdRun.start(LeastSquaresStart(train, held).machines(n_iter) if n_iter else nothing)
        run_sgd(descent, plan.algorithm, train, plan.schedule, EarlyStopping(max_epochs=n_epochs))
        machines.append((RankingJury(held), descent.weights.result()))

    def scores(classes: NDArray[np.intp]) -> Singles:
        return np.concatenate([jury.scores(found, classes) for jury, found in machines], axis=1)

    index = problem.index[order]
    return ScoreRules.learn(scores, problem.label_lists(index), problem.k, problem.weights[index])


def _folds(y: NDArray[np.int32]) -> NDArray[np.intp]:
    """The fold of every row: as many of each class as of any, but for one."""
    folds = np.empty(len(y), np.intp)
    folds[np.argsort(y, kind="stable")] = np.arange(len(y)) % FOLDS
    return folds

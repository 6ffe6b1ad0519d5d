"""New classes for one-vs-rest machines, which leave the old ones alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.estimators.labels import check_labels, new_labels, refuse_other_kind
from manyclass.estimators.weights import example_weights
from manyclass.solvers.machines import Machines
from manyclass.solvers.problem import Problem


def growth_problem(X: Matrix, y: Any, classes: NDArray[Any], sample_weight: Any) -> tuple[NDArray[Any], Problem]:
    """(the labels that are not among the classes, their one-vs-rest problem).

    One class more, the last, stands for all old ones; its machine is of no use afterwards.
    """
    y = check_labels(y, len(X))
    refuse_other_kind(y, classes)
    new, codes = new_labels(y, classes)
    if len(new) == 1 and not (codes == 1).any():
        raise ValueError(
            f"add_classes needs negatives; all rows are of the class {new.tolist()[0]!r}, so add rows of others"
        )
    weights = example_weights(codes, np.arange(len(new) + 1), None, sample_weight)
    return new, Problem.whole(X, codes, len(new) + 1, weights).part(np.flatnonzero(weights > 0))


def joined(
    classes: NDArray[Any], coef: NDArray[Any], intercept: NDArray[Any], new: NDArray[Any], machines: Machines
) -> tuple[NDArray[Any], NDArray[np.float32], NDArray[np.float32]]:
    """(classes, coef, intercept) with those of the new classes in their sorted places; old rows keep their bits."""
    together = np.concatenate([classes, new])
    order = np.argsort(together, kind="stable")
    W = np.concatenate([coef, machines.W[: len(new)]])[order]
    return together[order], W, np.concatenate([intercept, machines.biases[: len(new)]])[order]

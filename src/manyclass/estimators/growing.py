"""New classes for one-vs-rest machines, which leave the old ones alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.data.matrix import Matrix
from manyclass.estimators.labels import check_labels, new_labels
from manyclass.estimators.weights import example_weights
from manyclass.solvers.machines import Machines
from manyclass.solvers.problem import Problem


def growth_problem(X: Matrix, y: Any, classes: NDArray[Any], sample_weight: Any) -> tuple[NDArray[Any], Problem]:
    """(the labels that are not among the classes, their one-vs-rest problem).

    One class more, the last, stands for all old ones; its machine is of no use afterwards.
    """
    new, codes = new_labels(check_labels(y, len(X)), classes)
    weights = example_weights(codes, np.arange(len(new) + 1), None, sample_weight)
    problem = Problem.whole(X, codes, len(new) + 1, weights).part(np.flatnonzero(weights > 0))
    _refuse_missing(problem.sizes, new)
    return new, problem


def _refuse_missing(sizes: NDArray[Any], new: NDArray[Any]) -> None:
    """Every new class needs positives and negatives; `sizes` counts rows of the new classes, then of all others."""
    for missing in np.flatnonzero(sizes[:-1] == 0)[:1]:
        raise ValueError(
            "add_classes needs a row of every new class whose sample_weight is not zero; "
            f"got none of the class {new.tolist()[missing]!r}"
        )
    if len(new) == 1 and not sizes[1]:
        raise ValueError(
            f"add_classes needs negatives; all rows are of the class {new.tolist()[0]!r}, so add rows of others"
        )


def joined(
    classes: NDArray[Any], old: Machines, new: NDArray[Any], machines: Machines
) -> tuple[NDArray[Any], Machines]:
    """(classes, machines) with the new ones in their sorted places; old rows keep their bits."""
    together = np.concatenate([classes, new])
    order = np.argsort(together, kind="stable")

    def both(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([a, b[: len(new)]])[order]

    W, biases = both(old.W, machines.W), both(old.biases, machines.biases)
    return together[order], Machines.around(W, biases, both(old.steps, machines.steps))

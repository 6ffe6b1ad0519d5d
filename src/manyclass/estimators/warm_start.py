"""Where a warm start begins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.solvers.machines import Machines


def last_machines(estimator: Any, before: NDArray[Any]) -> Machines:
    """A copy of the machines of the last fit, which had the classes `before`; those of now must be the same."""
    now, columns = estimator.classes_, estimator.coef_.shape[1]
    if columns != estimator.n_features_in_:
        raise ValueError(f"warm_start needs the {columns} columns of the last fit; got {estimator.n_features_in_}")
    if not np.array_equal(now, before):
        raise ValueError(f"warm_start needs the {len(before)} classes of the last fit; got {_difference(now, before)}")
    return Machines.of(estimator.coef_, estimator.intercept_)


def _difference(now: NDArray[Any], before: NDArray[Any]) -> str:
    """One label that makes the difference, in words."""
    new, old = set(now.tolist()), set(before.tolist())
    added, missing = ([label for label in a.tolist() if label not in b] for a, b in ((now, old), (before, new)))
    return f"another one, {added[0]!r}" if added else f"none of the class {missing[0]!r}"

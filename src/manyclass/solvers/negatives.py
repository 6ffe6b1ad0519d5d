"""How many of the other examples are negatives of each class: its share of them."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shares(sizes: NDArray[np.intp], beta: float | None) -> Floats:
    """(k,) with which probability each class meets an example of another, for classes of these sizes.

    min(1, beta * n_c / (n - n_c)), so that `beta` negatives go with every positive of every class; 1 for beta None. A
    class without examples counts as one example, or as n / k where examples are fewer than classes, as in small batches
    in which most classes are absent: it is pushed down, a little.

    >>> shares(np.array([10, 20, 70]), 1).round(3).tolist()
    [0.111, 0.25, 1.0]
    """
    if beta is None:
        return np.ones(len(sizes))
    n = max(1, int(sizes.sum()))
    return np.minimum(1.0, beta * np.maximum(sizes, min(1.0, n / len(sizes))) / np.maximum(1, n - sizes))


def cumulated(p: Floats) -> Floats:
    """(k + 1,) where the shares p begin if laid end to end, and where the last one ends.

    An example with offset u in [0, 1) is a negative of the classes whose interval holds one of u, u + 1, u + 2, ...,
    which each class does with probability p_c. All are rounded to one unit, so that no sum is: a share of 1 stays 1.
    """
    unit = np.spacing(2 * max(1.0, p.sum()))
    return np.concatenate([[0.0], np.cumsum(np.rint(p / unit) * unit)])

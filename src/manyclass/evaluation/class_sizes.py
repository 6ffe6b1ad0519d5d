"""Rare and frequent classes: accuracy by how many examples of a class there were to learn from."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass.evaluation.labels import as_pair

# Of the long-tail benchmarks (Liu et al., "Large-scale long-tailed recognition in an open world", CVPR 2019).
FEW, MANY = 20, 100

UNEVEN = 2.0  # times the examples of the smallest class that the largest has, or sizes are no matter


class SizeGroup(NamedTuple):
    """Accuracy on classes of similar size.

    Parameters
    ----------
    name : str
        "many", "medium" or "few".
    smallest : int
        Examples to learn from of its smallest class.
    largest : int
        Examples to learn from of its largest class.
    classes : int
        Number of its classes that the test has.
    rows : int
        Rows of these in the test.
    right : int
        How many of them are right.
    accuracy : float
        Mean of the accuracies of the classes.
    """

    name: str
    smallest: int
    largest: int
    classes: int
    rows: int
    right: int
    accuracy: float


def accuracy_by_class_size(y: ArrayLike, predicted: ArrayLike, sizes: Mapping[Any, int]) -> list[SizeGroup]:
    """Compute the accuracy on classes of many, of medium and of few examples to learn from.

    Many are more than 100 and few are fewer than 20, as usual for long tails, if the test has classes of all three
    kinds; otherwise a third of its classes are called so, those of equal size alike.

    Parameters
    ----------
    y : array-like of shape (n_examples,)
        True labels.
    predicted : array-like of shape (n_examples,)
        Predicted labels.
    sizes : mapping of label to int
        Examples of each class that there were to learn from.

    Returns
    -------
    list of SizeGroup
        Groups that have classes, the largest first; none if the largest class has less than twice the examples of the
        smallest.

    Examples
    --------
    >>> for group in accuracy_by_class_size([0, 0, 1, 1, 2], [0, 0, 1, 0, 0], {0: 500, 1: 50, 2: 5}):
    ...     group.name, group.classes, group.accuracy
    ('many', 1, 1.0)
    ('medium', 1, 0.5)
    ('few', 1, 0.0)
    """
    truth, guess = as_pair(y, predicted)
    labels, where = np.unique(truth, return_inverse=True)
    for label in labels.tolist():
        if label not in sizes:
            raise ValueError(f"sizes must have the number of examples of every class in y; got none for {label!r}")
    right = np.bincount(where, truth == guess, len(labels)).astype(np.int64)
    return group_by_size(np.array([sizes[label] for label in labels.tolist()]), np.bincount(where), right)


def group_by_size(sizes: NDArray[Any], rows: NDArray[Any], right: NDArray[Any]) -> list[SizeGroup]:
    """The same from numbers of classes: examples to learn from, rows of the test, and how many are right.

    >>> [(one.name, one.smallest, one.largest) for one in group_by_size(np.arange(1, 7), np.ones(6), np.ones(6))]
    [('many', 5, 6), ('medium', 3, 4), ('few', 1, 2)]
    """
    if not len(sizes) or sizes.max() < UNEVEN * sizes.min():
        return []
    found = []
    for name, chosen in _members(sizes).items():
        if chosen.any():
            some, n, hits = sizes[chosen], rows[chosen], right[chosen]
            ends, sums = (int(some.min()), int(some.max())), (len(some), int(n.sum()), int(hits.sum()))
            found.append(SizeGroup(name, *ends, *sums, float(np.mean(hits / n))))
    return found


def _members(sizes: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
    """Which classes are of which group: by the usual bounds if all have some, or else by thirds."""
    usual = {"many": sizes > MANY, "medium": (sizes >= FEW) & (sizes <= MANY), "few": sizes < FEW}
    if all(chosen.any() for chosen in usual.values()):
        return usual
    ordered, k = np.sort(sizes), len(sizes)
    low, high = ordered[max(0, k // 3 - 1)], ordered[max(0, 2 * k // 3 - 1)]
    return {"many": sizes > high, "medium": (sizes > low) & (sizes <= high), "few": sizes <= low}


def describe_groups(groups: list[SizeGroup]) -> str:
    """What many and few are: the usual bounds, or thirds.

    >>> describe_groups([SizeGroup("many", 30, 40, 1, 9, 9, 1.0), SizeGroup("few", 2, 19, 1, 9, 9, 1.0)])
    'thirds of the classes by how many examples there are to learn from'
    """
    bounds = {"many": (MANY + 1, np.inf), "medium": (FEW, MANY), "few": (0, FEW - 1)}
    usual = all(bounds[one.name][0] <= one.smallest and one.largest <= bounds[one.name][1] for one in groups)
    if usual and len(groups) == len(bounds):
        return f"more than {MANY} examples to learn from are many, fewer than {FEW} few"
    return "thirds of the classes by how many examples there are to learn from"

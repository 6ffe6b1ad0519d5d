"""Splits drawn by chance, for data that comes without one: by rows of every class, or by whole classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_count


def draw_splits(y: ArrayLike, fraction: float = 0.2, random_state: int = 0) -> NDArray[np.str_]:
    """Draw a stratified split into "train" and "test".

    Of each class the same fraction is for testing, rounded: at least one example of a class that has two or more, and
    never all of them. The same labels and seed give the same split.

    Parameters
    ----------
    y : array-like of shape (n_examples,)
        Labels.
    fraction : float, default=0.2
        Fraction of test examples, between 0 and 1.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_examples,), str
        "train" or "test" for every example.

    Examples
    --------
    >>> draw_splits(["cat"] * 5 + ["dog"] * 2 + ["owl"]).tolist().count("test")
    2
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have shape (n,); got {labels.shape}")
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must be between 0 and 1; got {fraction}")
    rng = np.random.default_rng(check_count(random_state, "random_state", least=0))
    return np.where(stratified_split(labels, fraction, rng), "test", "train")


def stratified_split(y: NDArray[Any], fraction: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which rows (n,) are drawn, a fraction of every class: at least one of a class of two or more, and never all.

    >>> int(stratified_split(np.array([0, 0, 0, 0, 1]), 0.5, np.random.default_rng(0)).sum())
    2
    """
    drawn = np.zeros(len(y), np.bool_)
    numbers = _class_numbers(y)
    order = np.argsort(numbers, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(numbers))[:-1]) if len(y) else []:
        n = min(len(rows) - 1, max(1, round(fraction * len(rows))))
        drawn[rng.permutation(rows)[:n]] = True
    return drawn


def _class_numbers(y: NDArray[Any]) -> NDArray[Any]:
    """The position of each label among those that there are, sorted; numbers of classes need no sorting of all rows."""
    if y.dtype.kind not in "iu" or not len(y) or y.min() < 0 or y.max() >= len(y):
        return np.asarray(np.unique(y, return_inverse=True)[1])
    places: NDArray[np.int32] = (np.cumsum(np.bincount(y) > 0) - 1).astype(np.int32)
    numbers: NDArray[np.int32] = places[y]
    return numbers


def split_classes(y: NDArray[Any], random_state: int = 0) -> NDArray[np.bool_]:
    """Which rows (n,) are of one half of the classes, so that the two halves have no class in common.

    Classes of a single row belong to the other half: nothing can be found for them.

    >>> y = np.array(["cat", "cat", "dog", "dog", "owl"])
    >>> split_classes(y).tolist() in ([True, True, False, False, False], [False, False, True, True, False])
    True
    """
    classes, counts = np.unique(y, return_counts=True)
    classes = classes[counts > 1]
    order = np.random.default_rng(random_state).permutation(len(classes))
    first: NDArray[np.bool_] = np.isin(y, classes[order[::2]])
    return first

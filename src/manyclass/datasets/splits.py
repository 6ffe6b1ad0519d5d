"""A part for testing, drawn by chance, for data that comes without one."""

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
    >>> drawn_parts(["cat"] * 5 + ["dog"] * 2 + ["owl"]).tolist().count("test")
    2
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have shape (n,); got {labels.shape}")
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must be between 0 and 1; got {fraction}")
    rng = np.random.default_rng(check_count(random_state, "random_state", least=0))
    parts = np.full(len(labels), "train")
    for rows in _by_class(labels):
        n = min(len(rows) - 1, max(1, round(fraction * len(rows))))
        parts[rng.permutation(rows)[:n]] = "test"
    return parts


def _by_class(labels: NDArray[Any]) -> list[NDArray[np.intp]]:
    numbers = np.unique(labels, return_inverse=True)[1]
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers))[:-1]) if len(labels) else []

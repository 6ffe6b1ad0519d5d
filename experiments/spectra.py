"""How fast singular values fall, and what is lost without the last of them."""

from typing import Any

import numpy as np

from experiments.sources import Labels, Rows

Values = np.ndarray[Any, np.dtype[np.float64]]


def spectrum(W: Any) -> Values:
    """Singular values, the largest first."""
    found: Values = np.linalg.svd(np.asarray(W, np.float64), compute_uv=False)
    return found


def count(s: Values, part: float) -> int:
    """How many a part of the singular values is, at least one."""
    return max(1, round(part * len(s)))


def energy(s: Values, part: float) -> float:
    """What the first part of the singular values holds of the sum of their squares.

    >>> energy(np.array([2.0, 1.0, 1.0, 1.0, 1.0, 0.0]), 1 / 6)
    0.5
    """
    return float((s[: count(s, part)] ** 2).sum() / (s**2).sum())


def fallen(s: Values, part: float) -> float:
    """The first singular value after this part of them, in units of the first of all.

    >>> fallen(np.array([4.0, 2.0, 1.0, 1.0]), 0.25)
    0.5
    """
    return float(s[min(count(s, part), len(s) - 1)] / s[0])


def truncated(W: Any, part: float) -> Any:
    """W with the first part of its singular values alone."""
    U, s, V = np.linalg.svd(np.asarray(W, np.float64), full_matrices=False)
    r = count(s, part)
    return (U[:, :r] * s[:r]) @ V[:r]


def class_means(X: Rows, y: Labels) -> Any:
    """Means of the classes (k, d), less their mean."""
    means = np.stack([X[y == c].mean(axis=0, dtype=np.float64) for c in np.unique(y)])
    return means - means.mean(axis=0)

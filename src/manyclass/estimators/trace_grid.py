"""The strengths of a path."""

from collections.abc import Callable
from typing import Any

import numpy as np

from manyclass import _checks

# Shares of the largest useful strength that a path goes through, from the first to the last.
TRACES = (0.5, 2e-3)
RIDGES = (1.0, 1e-3)


def grid(given: Any, name: str, shares: tuple[float, float], largest: Callable[[], float]) -> list[float]:
    """So many strengths in geometric steps down from the largest, or those that are given; the strongest first.

    >>> grid(3, "traces", (1.0, 0.01), lambda: 2.0)
    [2.0, 0.2, 0.02]
    """
    if np.ndim(given) == 0:
        count = _checks.count(given, name)
        most = largest()
        # Where W = 0 is best whatever the strength, as for constant features, any will do.
        most = most if most > 0 else 1.0
        return [round_to_digits(most * share) for share in np.geomspace(*shares, count)]
    strengths = sorted({_checks.nonnegative(value, f"each of {name}") for value in given}, reverse=True)
    if not strengths:
        raise ValueError(f"{name} must hold at least one strength; got none")
    return strengths


def round_to_digits(value: float) -> float:
    """With four digits: what a table shows is what was used."""
    return float(f"{value:.3e}")

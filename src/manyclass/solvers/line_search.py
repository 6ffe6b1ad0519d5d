"""Armijo's rule along one atom."""

from collections.abc import Callable

_ENOUGH = 0.1  # of the decrease that the slope promises


def armijo(value: Callable[[float], float], start: float, slope: float, first: float) -> float:
    """A step t > 0 with value(t) <= start + t slope / 10, as long as doubling still pays; 0 where there is none.

    >>> armijo(lambda t: (t - 3) ** 2, start=9.0, slope=-6.0, first=1.0)
    2.0
    """
    t, found = first, value(first)
    if found <= start + _ENOUGH * t * slope:
        while (further := value(2 * t)) < found:
            t, found = 2 * t, further
        return t
    for _ in range(60):
        t /= 2
        if value(t) <= start + _ENOUGH * t * slope:
            return t
    return 0.0

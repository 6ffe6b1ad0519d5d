"""L-BFGS for any smooth function of a vector, one step at a time."""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from manyclass._core.typing import Doubles, Floats

Pairs = deque[tuple[Floats, Floats]]  # steps and the changes of the gradient along them

Function = Callable[[Doubles], tuple[float, Doubles]]

_ARMIJO = 1e-4  # of the decrease that the derivative promises, the usual constant of the first condition of Wolfe

_WOLFE = 0.9  # of the first derivative, the usual constant of the second condition

_MAX_TRIALS = 30


class LbfgsStep(NamedTuple):
    """A point, its value and its gradient."""

    x: Doubles
    value: float
    gradient: Doubles


# (where it stands, a direction, the rounding error of the function): a lower point along the direction, if there is one
LineSearch = Callable[[LbfgsStep, Doubles, float], LbfgsStep | None]


def lbfgs(
    function: Function,
    x: Doubles,
    length: float | None,
    memory: int = 10,
    slack: float = 0.0,
    search: LineSearch | None = None,
    dtype: Any = np.float64,
    first: tuple[float, Doubles] | None = None,
) -> Iterator[LbfgsStep]:
    """The start, and then ever better points; ends where no step along the gradient decreases the function any more.

    `length` is that of the first step that is tried, or None for that of the gradient, and `slack` the rounding error
    of the function, relative to it. Steps are remembered in `dtype`. A `search` of one's own need not call the
    function, which is not called for the `first` value and gradient either, where they are known.
    """
    here = LbfgsStep(x, *(function(x) if first is None else first))
    pairs = Pairs(maxlen=memory)
    search = search or partial(_search, function)
    yield here
    while True:
        direction = -inverse_hessian_times(pairs, here.gradient)
        if not pairs and length is not None:
            direction *= length / max(float(np.linalg.norm(direction)), 1e-300)
        new = search(here, direction, slack * abs(here.value))
        if new is None and not pairs:
            return
        if new is None:
            pairs.clear()
            continue
        s, g = (new.x - here.x).astype(dtype, copy=False), (new.gradient - here.gradient).astype(dtype, copy=False)
        if s @ g > 1e-12 * np.linalg.norm(s) * np.linalg.norm(g):
            pairs.append((s, g))
        here = new
        yield here


def inverse_hessian_times(pairs: Pairs, gradient: Doubles) -> Any:
    """The inverse Hessian that the pairs of steps and changes of gradient tell of, times the gradient."""
    q, factors = gradient.astype(pairs[0][0].dtype if pairs else gradient.dtype), []
    for s, g in reversed(pairs):
        factor = (s @ q) / (s @ g)
        q -= factor * g
        factors.append(factor)
    if pairs:
        s, g = pairs[-1]
        q *= (s @ g) / (g @ g)
    for (s, g), factor in zip(pairs, reversed(factors), strict=True):
        q += (factor - (g @ q) / (s @ g)) * s
    return q


def _search(function: Function, here: LbfgsStep, direction: Doubles, slack: float) -> LbfgsStep | None:
    """A point along the direction that keeps both conditions of Wolfe, or None where rounding hides any decrease."""
    derivative = float(here.gradient @ direction)
    if not derivative < 0:
        return None
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(_MAX_TRIALS):
        x = here.x + t * direction
        new = LbfgsStep(x, *function(x))
        derivative_there = float(new.gradient @ direction)
        if not new.value <= here.value + _ARMIJO * t * derivative + slack:
            # To where a parabola through what is known is lowest, well inside of what is left.
            curvature = new.value - here.value - derivative * t
            lowest = -derivative * t * t / (2 * curvature) if np.isfinite(curvature) and curvature > 0 else 0.0
            high, width = t, t - low
            t = min(max(lowest, low + 0.1 * width), high - 0.1 * width)
        elif derivative_there < _WOLFE * derivative:
            low = t
            t = 2 * t if high == np.inf else (low + high) / 2
        else:
            return new
    return None

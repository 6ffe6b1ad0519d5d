"""Ridge, the square of the distance from zero or from a center, and its sum with a gauge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from manyclass._core.checks import check_finite, check_nonnegative
from manyclass._core.typing import Floats
from manyclass.penalties.penalty import Gauge, Penalty, as_weights, dot, squares


@dataclass(frozen=True, repr=False, eq=False)
class Ridge(Penalty):
    """The squared Frobenius norm, ``strength * |W - center|_F^2``, without a factor of one half.

    Parameters
    ----------
    strength : float
        Factor of the square, at least 0.
    center : array-like of shape (d, k), default=None
        Weights that are known before, such as `old.coef_.T` of an older model; None for zero.

    Examples
    --------
    >>> Ridge(0.5).value([[3.0, 4.0]]), Ridge(0.5, center=[[3.0, 3.0]]).value([[3.0, 4.0]])
    (12.5, 0.5)
    """

    strength: float
    center: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", check_nonnegative(self.strength, "strength"))
        if self.center is not None:
            center = as_weights(self.center)
            check_finite(center, "center")
            # At zero, or of no strength, it is a plain ridge.
            object.__setattr__(self, "center", center if self.strength > 0 and center.any() else None)

    def __repr__(self) -> str:
        return f"Ridge({self.strength})" if self.center is None else f"Ridge({self.strength}, center={self._shape()})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ridge) or type(other) is not type(self) or self.strength != other.strength:
            return False
        mine, theirs = self.center, other.center
        return mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs))

    def __hash__(self) -> int:
        return hash((type(self), self.strength, self._shape()))

    def _shape(self) -> tuple[int, ...] | None:
        return None if self.center is None else self.center.shape

    def check_shape(self, d: int, k: int) -> None:
        """Refuse weights of another shape than the center.

        Parameters
        ----------
        d : int
            Columns of X.
        k : int
            Classes.
        """
        if self.center is not None and self.center.shape != (d, k):
            raise ValueError(
                f"center must have a row for each of {d} columns of X and a column for each of {k} classes, as "
                f"`coef_.T` has; got shape {self.center.shape}"
            )

    def from_center(self, W: ArrayLike) -> Floats:
        """Compute ``W - center``.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        ndarray of shape (d, k)
            The difference, W itself without a center.
        """
        W = as_weights(W)
        return W if self.center is None else W - self.center.astype(W.dtype, copy=False)

    @property
    def curvature(self) -> float:
        """The eigenvalue ``2 * strength`` of the Hessian, as a float."""
        return 2 * self.strength

    def value(self, W: ArrayLike) -> float:
        return self.strength * float(squares(self.from_center(W)).sum())

    def gradient(self, W: ArrayLike) -> Floats:
        """Evaluate the gradient, ``2 * strength * (W - center)``.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        ndarray of shape (d, k)
            The gradient.
        """
        return self.curvature * self.from_center(W)

    def prox(self, W: ArrayLike, step: float) -> Floats:
        W = as_weights(W)
        if self.center is None:
            return W * self.shrinkage(step)
        return W + (1 - self.shrinkage(step)) * (self.center.astype(W.dtype, copy=False) - W)

    def shrinkage(self, step: float) -> float:
        """Compute the factor ``1 / (1 + 2 * strength * step)`` by which a proximal step multiplies W - center.

        Parameters
        ----------
        step : float
            The size of the step.

        Returns
        -------
        float
            The factor.
        """
        return 1 / (1 + self.curvature * float(step))

    def conjugate(self, G: ArrayLike) -> float:
        G = as_weights(G)
        total = float(squares(G).sum())
        if self.strength == 0:
            return 0.0 if total == 0 else np.inf
        at_center = 0.0 if self.center is None else dot(G, self.center)
        return at_center + total / (4 * self.strength)

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return None, self


def add_penalties(a: Penalty, b: Penalty) -> Penalty:
    """a + b: ridges merge, a gauge and a ridge stand side by side, and two gauges are refused."""
    (gauge, ridge), (other_gauge, other_ridge) = a.parts(), b.parts()
    if gauge is not None and other_gauge is not None:
        raise ValueError(f"a penalty may have only one gauge besides a ridge; got {gauge} + {other_gauge}")
    gauge, ridge = gauge or other_gauge, _add_ridges(ridge, other_ridge)
    return ridge if gauge is None else PenaltySum(gauge, ridge)


def _add_ridges(a: Ridge, b: Ridge) -> Ridge:
    if a.center is None and b.center is None:
        return Ridge(a.strength + b.strength)
    if a.strength and b.strength:
        raise ValueError(f"a ridge with a center must be the only ridge; got {a} + {b}")
    return a if a.strength else b


@dataclass(frozen=True, repr=False)
class PenaltySum(Penalty):
    """gauge(W) + ridge(W).

    >>> from manyclass.penalties.norms import TraceNorm
    >>> TraceNorm(0.001) + Ridge(1e-05)
    TraceNorm(0.001) + Ridge(1e-05)
    """

    gauge: Gauge
    ridge: Ridge

    def __repr__(self) -> str:
        return f"{self.gauge} + {self.ridge}"

    def value(self, W: ArrayLike) -> float:
        return self.gauge.value(W) + self.ridge.value(W)

    def prox(self, W: ArrayLike, step: float) -> Floats:
        return self.gauge.prox(*self._shrunk(W, step))

    def prox_and_value(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        V, value = self.gauge.prox_and_value(*self._shrunk(W, step))
        return V, value + self.ridge.value(V)

    def _shrunk(self, W: ArrayLike, step: float) -> tuple[Floats, float]:
        # Both squares in V complete to one: the gauge sees a shorter W, and a step as much shorter.
        return self.ridge.prox(W, step), float(step) * self.ridge.shrinkage(step)

    def conjugate(self, G: ArrayLike) -> float:
        return self.gauge.conjugate(G) if self.ridge.strength == 0 else self.conjugate_along(G)(1.0)

    def conjugate_along(self, G: ArrayLike) -> Callable[[float], float]:
        if self.ridge.strength == 0:
            return self.gauge.conjugate_along(G)
        if self.ridge.center is not None:
            return self._conjugate_around_center(as_weights(G), self.ridge.center)
        # The maximum is at W = prox(G, 1) / (2 ridge), and there <G, W> = gauge(W) + 2 ridge(W).
        squared_distance = self.gauge.squared_distance_to_polar_ball(G)
        return lambda t: squared_distance(t) / (4 * self.ridge.strength)

    def _conjugate_around_center(self, G: Floats, center: Floats) -> Callable[[float], float]:
        # A center is a linear term, which moves G, and a constant.
        ridge, pull = self.ridge.strength, self.ridge.curvature * center
        constant = ridge * float(squares(center).sum())

        def value(t: float) -> float:
            distance = self.gauge.squared_distance_to_polar_ball(t * G.astype(np.float64) + pull)
            return distance(1.0) / (4 * ridge) - constant

        return value

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return self.gauge, self.ridge

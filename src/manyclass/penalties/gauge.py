"""Gauge: a penalty made of atoms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass import _checks
from manyclass.penalties.arguments import Floats, as_weights, squares
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge


@dataclass(frozen=True, repr=False)
class Gauge(Penalty):
    """strength * norm(W), where norm(W) is the least sum of weights >= 0 with which atoms u v' add up to W.

    Atoms have u (d,) and v (k,) of length 1. Every gauge has the dual pair <G, W> <= polar(G) * norm(W).
    """

    strength: float

    # Whether it is the sum of the singular values, so that factors of W can stand for W.
    spectral: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", _checks.nonnegative(self.strength, "strength"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.strength})"

    @abstractmethod
    def norm(self, W: ArrayLike) -> float:
        """The gauge of W, without the strength."""

    @abstractmethod
    def polar(self, G: ArrayLike) -> float:
        """The largest <G, A> over atoms A, without the strength."""

    @abstractmethod
    def atom(self, G: ArrayLike) -> tuple[Floats, Floats]:
        """(u, v), of the dtype of G, such that A = u v' has <G, A> = polar(G); some atom where G is zero."""

    @abstractmethod
    def atoms(self, W: ArrayLike) -> tuple[Floats, Floats, NDArray[np.float64]]:
        """U (d, m), V (k, m) and weights (m,) above 0 with W = U diag(weights) V', whose sum is norm(W)."""

    def beyond(self, G: ArrayLike) -> Callable[[float], float]:
        """t -> |prox(t G, 1)|_F^2: how far t G is from the ball in which the conjugate is zero, squared."""
        G = as_weights(G)
        return lambda t: float(squares(self.prox(G * G.dtype.type(t), 1.0)).sum())

    def value(self, W: ArrayLike) -> float:
        return self.strength * self.norm(W)

    def conjugate(self, G: ArrayLike) -> float:
        G = as_weights(G)
        slack = 1 + 100 * float(np.finfo(G.dtype).eps)
        return 0.0 if self.polar(G) <= slack * self.strength else np.inf

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return self, Ridge(0.0)

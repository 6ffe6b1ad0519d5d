"""ScoreLoss: what solvers ask of a loss of all scores of a row."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Labels = NDArray[np.integer[Any]]
Weights = NDArray[np.floating[Any]]


class ScoreLoss(ABC):
    """A smooth convex function L(s, y) of the scores s (k,) of one row and its class y; rows stand side by side.

    A weight of a class or of an example multiplies what a loss returns, and is the business of the caller.
    """

    name: str
    curvature: float  # no eigenvalue of the Hessian by s is larger, anywhere

    @abstractmethod
    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        """L of each row of S (n, k), in float64 (n,), and R = dL/dS (n, k) of the dtype of S.

        Besides R no more than one array of the size of S is held at a time; S stays as it is.
        """

    def in_place(self, S: Floats, y: Labels, weights: Weights | None = None) -> NDArray[np.float64]:
        """L of each row, without its weight; S becomes R, each row times its weight (n,)."""
        values, R = self.value_and_gradient(S, y)
        np.multiply(R, 1 if weights is None else weights[:, None].astype(R.dtype), out=S)
        return values

    @abstractmethod
    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        """L*(r, y) = sup over s of r's - L(s, y), for each row of R (n, k), in float64 (n,); inf outside the domain.

        Where R is the gradient at S, L*(r, y) = r's - L(s, y) up to rounding, and c R is in the domain for 0 <= c <= 1:
        what is outside by no more than the rounding of R's own dtype counts as inside.
        """


def rounding(R: Floats) -> float:
    """How far outside a domain of size 1 the entries of R, and sums of its rows, may come to lie by rounding alone."""
    return 100 * float(np.finfo(R.dtype).eps)

"""Ridge: the squared Frobenius norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from manyclass._core.checks import check_nonnegative
from manyclass._core.typing import Floats
from manyclass.penalties.penalty import Penalty, as_weights, squares

if TYPE_CHECKING:
    from manyclass.penalties.norms import Gauge


@dataclass(frozen=True, repr=False)
class Ridge(Penalty):
    """The squared Frobenius norm, ``strength * |W|_F^2``, without a factor of one half.

    Parameters
    ----------
    strength : float
        Factor of the square, at least 0.

    Examples
    --------
    >>> Ridge(0.5).value([[3.0, 4.0]])
    12.5
    """

    strength: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "strength", check_nonnegative(self.strength, "strength"))

    def __repr__(self) -> str:
        return f"Ridge({self.strength})"

    @property
    def curvature(self) -> float:
        """The eigenvalue ``2 * strength`` of the Hessian, as a float."""
        return 2 * self.strength

    def value(self, W: ArrayLike) -> float:
        return self.strength * float(squares(as_weights(W)).sum())

    def gradient(self, W: ArrayLike) -> Floats:
        """Evaluate the gradient, ``2 * strength * W``.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        ndarray of shape (d, k)
            The gradient.
        """
        return self.curvature * as_weights(W)

    def prox(self, W: ArrayLike, step: float) -> Floats:
        return as_weights(W) * self.shrinkage(step)

    def shrinkage(self, step: float) -> float:
        """Compute the factor ``1 / (1 + 2 * strength * step)`` by which a proximal step multiplies W.

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
        total = float(squares(as_weights(G)).sum())
        if self.strength == 0:
            return 0.0 if total == 0 else np.inf
        return total / (4 * self.strength)

    def parts(self) -> tuple[Gauge | None, Ridge]:
        return None, self

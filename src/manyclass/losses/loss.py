"""ScoreLoss: what solvers ask of a loss of all scores of a row."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Floats, Labels


class ScoreLoss(ABC):
    """A smooth convex loss L(s, y) of the scores s (k,) of one row and its class y.

    Methods take many rows at once. Weights of classes or examples multiply what a loss returns, and are applied by the
    caller. Derive from it for a loss of your own.

    Attributes
    ----------
    name : str
        The name by which estimators know the loss.
    curvature : float
        An upper bound on the eigenvalues of the Hessian of L with respect to s.
    """

    name: str
    curvature: float  # no eigenvalue of the Hessian by s is larger, anywhere

    @abstractmethod
    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        """Evaluate the loss and its gradient for every row.

        An implementation holds at most one array of the size of S besides the gradient.

        Parameters
        ----------
        S : ndarray of shape (n, k)
            Scores, which are not changed.
        y : ndarray of shape (n,)
            Classes, as integers from 0 to k - 1.

        Returns
        -------
        values : ndarray of float64 of shape (n,)
            The loss of each row.
        R : ndarray of shape (n, k)
            The gradient with respect to S, of the dtype of S.
        """

    def in_place(self, S: Floats, y: Labels, weights: Floats | None = None) -> NDArray[np.float64]:
        """Evaluate the loss, and overwrite the scores by its weighted gradient.

        Parameters
        ----------
        S : ndarray of shape (n, k)
            Scores; afterwards the gradient, each row multiplied by its weight.
        y : ndarray of shape (n,)
            Classes, as integers from 0 to k - 1.
        weights : ndarray of shape (n,), default=None
            Weights of the rows; 1 by default.

        Returns
        -------
        ndarray of float64 of shape (n,)
            The loss of each row, not weighted.
        """
        values, R = self.value_and_gradient(S, y)
        np.multiply(R, 1 if weights is None else weights[:, None].astype(R.dtype), out=S)
        return values

    @abstractmethod
    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        """Evaluate the convex conjugate ``L*(r, y) = sup_s r's - L(s, y)`` for every row.

        Where R is the gradient at S, ``L*(r, y) = r's - L(s, y)`` up to rounding, and c R is in the domain for c in [0,
        1]. A row outside the domain by no more than the rounding of its dtype counts as inside.

        Parameters
        ----------
        R : ndarray of shape (n, k)
            Gradients.
        y : ndarray of shape (n,)
            Classes, as integers from 0 to k - 1.

        Returns
        -------
        ndarray of float64 of shape (n,)
            The conjugate of each row; inf outside the domain.
        """


def rounding(R: Floats) -> float:
    """Bound how far outside a domain of size 1 the entries of R, and sums of its rows, may lie by rounding alone.

    Parameters
    ----------
    R : ndarray
        Gradients.

    Returns
    -------
    float
        The slack that a conjugate should allow.
    """
    return 100 * float(np.finfo(R.dtype).eps)

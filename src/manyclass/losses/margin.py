"""Losses of a binary margin z = y s, with y = +1 or -1 and s the score."""

from abc import ABC, abstractmethod

import numpy as np

from manyclass import _native
from manyclass._core.typing import Floats


class MarginLoss(ABC):
    """A convex function of the margin z = y s of a binary machine, with y = +1 or -1 and s the score.

    One-vs-rest machines add it up over the classes. Another loss is a class here and in `MARGIN_LOSSES`, a name of
    the enum `Loss` and a formula in native/margins.h, and a line in native/python/bind_stochastic.cpp.

    Attributes
    ----------
    name : str
        The name by which `StochasticClassifier` knows the loss.
    step : float
        Where the search for a step begins, for rows of length 1.
    code : _native.Loss
        What the compiled loops call it; they need its formula too.
    """

    name: str
    # Measured on scikit-learn's digits and on 200 Gaussian classes of 128 columns, 8 epochs without a ridge: of the
    # step of each loss times 1/16, 1/4, 1, 4 and 16, the best is 1/4, 1 or 4.
    step: float
    code: _native.Loss

    @abstractmethod
    def value(self, z: Floats) -> Floats:
        """Evaluate the loss.

        Parameters
        ----------
        z : ndarray
            Margins, of any shape.

        Returns
        -------
        ndarray
            The loss of each margin.
        """

    @abstractmethod
    def derivative(self, z: Floats) -> Floats:
        """Evaluate the derivative of the loss with respect to the margin.

        Parameters
        ----------
        z : ndarray
            Margins, of any shape.

        Returns
        -------
        ndarray
            The derivative at each margin; at a kink, one of its subgradients.
        """


class Hinge(MarginLoss):
    """The hinge, ``max(0, 1 - z)``.

    Examples
    --------
    >>> Hinge().value(np.array([2.0, 0.5, -1.0]))
    array([0. , 0.5, 2. ])
    """

    name, step, code = "hinge", 0.125, _native.Loss.hinge

    def value(self, z: Floats) -> Floats:
        return np.maximum(0, 1 - z)

    def derivative(self, z: Floats) -> Floats:
        return -(z < 1).astype(z.dtype)


class SquaredHinge(MarginLoss):
    """The squared hinge, ``max(0, 1 - z)^2``.

    Examples
    --------
    >>> SquaredHinge().value(np.array([2.0, 0.5, -1.0]))
    array([0.  , 0.25, 4.  ])
    """

    name, step, code = "squared_hinge", 0.0625, _native.Loss.squared_hinge

    def value(self, z: Floats) -> Floats:
        return np.maximum(0, 1 - z) ** 2

    def derivative(self, z: Floats) -> Floats:
        return -2 * np.maximum(0, 1 - z)


class Logistic(MarginLoss):
    """The logistic loss, ``log(1 + exp(-z))``.

    Examples
    --------
    >>> Logistic().derivative(np.array([0.0]))
    array([-0.5])
    """

    name, step, code = "logistic", 4.0, _native.Loss.logistic

    def value(self, z: Floats) -> Floats:
        return np.logaddexp(0, -z)

    def derivative(self, z: Floats) -> Floats:
        # exp of what is not positive never overflows.
        e: Floats = np.exp(-np.abs(z))
        return np.asarray(-np.where(z > 0, e, 1) / (1 + e))


class Squared(MarginLoss):
    """The squared loss, ``(1 - z)^2 / 2``.

    Examples
    --------
    >>> Squared().value(np.array([2.0, 0.5, -1.0]))
    array([0.5  , 0.125, 2.   ])
    """

    name, step, code = "squared", 0.125, _native.Loss.squared

    def value(self, z: Floats) -> Floats:
        return (1 - z) ** 2 / 2

    def derivative(self, z: Floats) -> Floats:
        return z - 1


MARGIN_LOSSES: dict[str, MarginLoss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "squared": Squared(),
}

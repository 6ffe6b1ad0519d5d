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
    """A norm made of atoms, times a strength.

    The norm of W is the least sum of weights, none below zero, with which atoms ``u v'`` add up to W. Atoms have u (d,)
    and v (k,) of length 1. The norm and its polar satisfy ``<G, W> <= polar(G) * norm(W)``. Derive from it for a norm
    of your own.

    Parameters
    ----------
    strength : float
        Factor of the norm, at least 0.

    Attributes
    ----------
    spectral : bool
        Whether the norm is the sum of the singular values, so that factors of W can stand for W.
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
        """Evaluate the norm, without the strength.

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        float
            The norm of W.
        """

    @abstractmethod
    def polar(self, G: ArrayLike) -> float:
        """Evaluate the polar: the largest <G, A> over all atoms A, without the strength.

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient.

        Returns
        -------
        float
            The polar of G.
        """

    @abstractmethod
    def atom(self, G: ArrayLike) -> tuple[Floats, Floats]:
        """Find an atom A = u v' with <G, A> = polar(G).

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient; where it is zero, any atom will do.

        Returns
        -------
        u : ndarray of shape (d,)
            The left side, of the dtype of G.
        v : ndarray of shape (k,)
            The right side, of the dtype of G.
        """

    @abstractmethod
    def atoms(self, W: ArrayLike) -> tuple[Floats, Floats, NDArray[np.float64]]:
        """Decompose W into atoms, such that W = U diag(weights) V' and the weights add up to norm(W).

        Parameters
        ----------
        W : array-like of shape (d, k)
            Weights.

        Returns
        -------
        U : ndarray of shape (d, m)
            The left sides of the atoms.
        V : ndarray of shape (k, m)
            Their right sides.
        weights : ndarray of float64 of shape (m,)
            Their weights, above 0.
        """

    def beyond(self, G: ArrayLike) -> Callable[[float], float]:
        """Make a function that measures how far t G is from the ball in which the conjugate is zero.

        Parameters
        ----------
        G : array-like of shape (d, k)
            A gradient.

        Returns
        -------
        callable
            The function ``t -> |prox(t G, 1)|_F^2``, the squared distance.
        """
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

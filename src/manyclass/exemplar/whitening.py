"""WhitenedPCA: the principal components of the negatives, brought to equal variance."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyclass import _checks
from manyclass.data.matrix import Matrix
from manyclass.exemplar.encoder import Codes, Doubles
from manyclass.exemplar.linear import LinearEncoder
from manyclass.exemplar.statistics import Moments, Spectrum

MOST = 1 - 1e-9  # a leverage of 1 leaves nothing of a negative to the others


class WhitenedPCA(LinearEncoder):
    """Codes diag(s)^-power V'(x - mu) of unit length, with s and V the largest eigenvalues of the covariance.

    No exemplar machine, but the baseline that each of them has to beat. With all components and power 1/2, products of
    codes are the cosines of S^-1/2 (x - mu).

    Parameters
    ----------
    n_components : how many principal components are kept; None for all in which the negatives differ.
    power : 1/2 makes all components equally strong among the negatives; 0 is PCA without whitening.
    pool, random_state : how many negatives are kept as codes, and the seed by which they are drawn.

    Attributes
    ----------
    mean_ (d,) and projection_ (d, p); variances_ : s (p,), the largest first; pool_; n_features_in_, n_features_out_.

    Examples
    --------
    >>> WhitenedPCA().fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]]).transform([[1.0, 3.0]]).round(3)
    array([[0.707, 0.707]], dtype=float32)
    """

    variances_: Doubles
    pool_leverage_: Doubles

    def __init__(self, n_components: int | None = None, power: float = 0.5, pool: int = 1024, random_state: Any = None):
        self.n_components = n_components
        self.power = power
        self.pool = pool
        self.random_state = random_state

    def _check_settings(self) -> None:
        _checks.nonnegative(self.power, "power")
        if self.n_components is not None:
            _checks.count(self.n_components, "n_components")

    def _fit(self, matrix: Matrix) -> None:
        moments = Moments.of(matrix)
        spectrum = Spectrum.of(moments.covariance).refuse_none(moments.n)
        p = len(spectrum.s) if self.n_components is None else self.n_components
        if p > len(spectrum.s):
            raise ValueError(
                f"n_components must be at most the {len(spectrum.s)} directions in which the negatives differ; got {p}"
            )
        self.mean_, self.variances_ = moments.mean, spectrum.s[:p]
        self.projection_ = spectrum.V[:, :p] * self.variances_**-self.power

    def default_grid(self, negatives: Matrix) -> dict[str, list[Any]]:
        """Powers of two, from 16, of components, below all in which the negatives differ; and all of these."""
        most = len(Spectrum.of(Moments.of(negatives).covariance).s)
        return {"n_components": [*(2**i for i in range(4, 13) if 2**i < most), None]}

    def pool_similarity(self, C: ArrayLike) -> Codes:
        """How alike codes C (n, p) and those of the pool are, (n, m), with each of the pool left out.

        Without a negative of leverage g a cosine c is c / sqrt(1 - g + g c^2), if components have equal variance.
        """
        c = self.similarity(C, self.pool_).astype(np.float64)
        cosines: Codes = (c / np.sqrt(1 - self.pool_leverage_ * (1 - c * c))).astype(np.float32)
        return cosines

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shapes that arrays of a saved encoder must have."""
        own = {"variances_": (fitted["n_features_out_"],), "pool_leverage_": (len(fitted["pool_"]),)}
        return {**super().fitted_shapes(fitted), **own}

    def _leave_out(self, rows: Doubles, n: int) -> None:
        squares = np.square((rows - self.mean_) @ self.projection_).sum(axis=1)
        leverages = np.minimum(squares / max(1, n - 1), MOST)
        self.pool_leverage_ = leverages if self.power == 0.5 else np.zeros(len(rows))

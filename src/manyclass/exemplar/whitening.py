"""WhitenedPCA: the principal components of the negatives, brought to equal variance."""

from typing import Any

from manyclass import _checks
from manyclass.data.matrix import Matrix
from manyclass.exemplar.encoder import Doubles
from manyclass.exemplar.linear import LinearEncoder
from manyclass.exemplar.statistics import Moments, Spectrum


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

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shapes that arrays of a saved encoder must have."""
        return {**super().fitted_shapes(fitted), "variances_": (fitted["n_features_out_"],)}

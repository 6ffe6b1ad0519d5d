"""WhitenedPCA: the principal components of the negatives, brought to equal variance."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyclass._core.checks import check_count, check_nonnegative
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.matrix import Matrix
from manyclass.data.moments import Moments, Spectrum
from manyclass.exemplar.linear_encoder import LinearEncoder

LEAST = 1 / 30  # of the largest variance; with all, VLAD of Caltech-101 lost 13 to 16 points of mAP to cosines

MOST = 1 - 1e-9  # a leverage of 1 leaves nothing of a negative to the others


class WhitenedPCA(LinearEncoder):
    """Whitened principal components of the negatives: the baseline that exemplar machines have to beat.

    The embedding of x is diag(s)^-power V'(x - mu), scaled to unit length, where s and V are the largest eigenvalues
    and the eigenvectors of the covariance of the negatives. With all components and power 1/2, inner products of
    embeddings are the cosines of S^-1/2 (x - mu).

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of principal components. "auto" takes those whose variance is at least a thirtieth of the largest, for
        others hold more noise than they tell; None takes all in which the negatives vary.
    power : float, default=0.5
        Exponent of the whitening. 1/2 gives all components equal variance; 0 is PCA without whitening.
    n_background : int, default=1024
        Number of negatives whose embeddings are kept as the background set.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the background set.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean mu of the negatives.
    projection_ : ndarray of shape (n_features, n_features_out)
        V diag(s)^-power.
    variances_ : ndarray of shape (n_features_out,)
        Eigenvalues s, the largest first.
    background_ : ndarray of shape (n_background, n_features_out), float32
        Embeddings of the background set.
    background_leverage_ : ndarray of shape (n_background,)
        Leverage of each of the background set among the negatives, for the leave-one-out correction.
    n_features_in_ : int
        Number of features of an image.
    n_features_out_ : int
        Number of features of an embedding.

    Examples
    --------
    >>> WhitenedPCA().fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]]).transform([[1.0, 3.0]]).round(3)
    array([[0.707, 0.707]], dtype=float32)
    """

    variances_: Doubles
    background_leverage_: Doubles

    def __init__(
        self,
        n_components: int | str | None = "auto",
        power: float = 0.5,
        n_background: int = 1024,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.power = power
        self.n_background = n_background
        self.random_state = random_state

    def _check_settings(self) -> None:
        check_nonnegative(self.power, "power")
        if self.n_components not in (None, "auto"):
            check_count(self.n_components, "n_components")

    def _fit(self, matrix: Matrix) -> None:
        moments = Moments.of(matrix)
        spectrum = Spectrum.of(moments.covariance).check_varies(moments.n)
        p = self._count(spectrum.s)
        self.mean_, self.variances_ = moments.mean, spectrum.s[:p]
        self.projection_ = spectrum.V[:, :p] * self.variances_**-self.power

    def _count(self, s: Doubles) -> int:
        if isinstance(self.n_components, str):
            return int(np.count_nonzero(s >= LEAST * s[0]))
        p = len(s) if self.n_components is None else self.n_components
        if p > len(s):
            raise ValueError(
                f"n_components must be at most the {len(s)} directions in which the negatives vary; got {p}"
            )
        return p

    def default_grid(self, negatives: Matrix) -> dict[str, list[Any]]:
        """Propose numbers of components.

        Parameters
        ----------
        negatives : Matrix of shape (n_negatives, n_features)
            Vectors of unrelated images.

        Returns
        -------
        dict of str to list
            `n_components`: "auto", powers of two from 16 on below the number of directions in which the negatives vary,
            and None.
        """
        most = len(Spectrum.of(Moments.of(negatives).covariance).s)
        return {"n_components": ["auto", *(2**i for i in range(4, 13) if 2**i < most), None]}

    def background_similarity(self, C: ArrayLike) -> Embeddings:
        """Compute the similarity of embeddings and the background set, each of which is left out of the fit in turn.

        Without a negative of leverage g a cosine c becomes c / sqrt(1 - g + g c^2), if components have equal variance.

        Parameters
        ----------
        C : array-like of shape (n, n_features_out)
            Embeddings.

        Returns
        -------
        ndarray of shape (n, n_background), float32
            Leave-one-out similarities.
        """
        c = self.similarity(C, self.background_).astype(np.float64)
        cosines: Embeddings = (c / np.sqrt(1 - self.background_leverage_ * (1 - c * c))).astype(np.float32)
        return cosines

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the arrays of a saved encoder must have.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict of str to tuple
            Shapes by attribute.
        """
        own = {"variances_": (fitted["n_features_out_"],), "background_leverage_": (len(fitted["background_"]),)}
        return {**super().fitted_shapes(fitted), **own}

    def _prepare_leave_one_out(self, rows: Doubles, n: int) -> None:
        squares = np.square((rows - self.mean_) @ self.projection_).sum(axis=1)
        leverages = np.minimum(squares / max(1, n - 1), MOST)
        self.background_leverage_ = leverages if self.power == 0.5 else np.zeros(len(rows))

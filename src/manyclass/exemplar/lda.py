"""ExemplarLDA: linear discriminant analysis of one image against all negatives."""

from typing import Any

import numpy as np

from manyclass._core.checks import check_number
from manyclass._core.typing import Doubles
from manyclass.data.matrix import Matrix
from manyclass.data.moments import Moments, Spectrum
from manyclass.exemplar.linear_encoder import DiscriminativeEncoder


class ExemplarLDA(DiscriminativeEncoder):
    """Linear discriminant analysis of one image against all negatives.

    One class is the image x and the other the negatives. The classifier is

        w = S^-1 (x - mu)        bias = -(x + mu)'w / 2

    where mu and S are the mean and the covariance of the negatives, S shrunk toward a multiple of the identity. The
    embedding of x is w, scaled to unit length; it is that of `SquareLossExemplar` of the same strength.

    Parameters
    ----------
    shrinkage : float or "auto", default="auto"
        Fraction a in [0, 1] of S that is replaced: (1 - a) S + a m I, where m is the mean eigenvalue of S, as in
        scikit-learn. "auto" adds as much as what is left of the largest eigenvalue. 0 is the machine as published,
        which ignores directions in which the negatives do not vary, such as constant columns: S^-1 is then the
        pseudoinverse. It needs many times more negatives than features.
    n_background : int, default=1024
        Number of negatives whose embeddings are kept as the background set.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the background set.

    Attributes
    ----------
    shrinkage_ : float
        Fraction a of the fit.
    mean_ : ndarray of shape (n_features,)
        Mean mu of the negatives.
    projection_ : ndarray of shape (n_features, n_features)
        (Pseudo)inverse of the shrunk covariance.
    rank_ : int
        Rank of S.
    background_ : ndarray of shape (n_background, n_features_out), float32
        Embeddings of the background set.
    background_pull_ : ndarray of shape (n_background, n_features), float32
        Leave-one-out correction of each of the background set.
    n_features_in_ : int
        Number of features of an image.
    n_features_out_ : int
        Number of features of an embedding.

    Examples
    --------
    >>> enc = ExemplarLDA(shrinkage=0).fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> enc.projection_
    array([[2. , 0. ],
           [0. , 0.5]])
    """

    shrinkage_: float
    rank_: int

    def __init__(self, shrinkage: float | str = "auto", n_background: int = 1024, random_state: Any = None):
        self.shrinkage = shrinkage
        self.n_background = n_background
        self.random_state = random_state

    def _check_settings(self) -> None:
        check_number(self.shrinkage, "shrinkage", "a number from 0 to 1, or 'auto'", least=0, most=1, besides=("auto",))

    def _fit(self, matrix: Matrix) -> None:
        moments = Moments.of(matrix)
        spectrum = Spectrum.of(moments.covariance).check_varies(moments.n)
        s, V = spectrum.s, spectrum.V
        self.rank_, middle = len(s), float(s.sum()) / matrix.shape[1]
        given = self.shrinkage
        self.shrinkage_ = a = float(s[0] / (s[0] + middle)) if isinstance(given, str) else float(given)
        inverse = (V / ((1 - a) * s + a * middle)) @ V.T
        # Directions in which negatives do not vary are known by what is added to them, if anything is.
        rest = np.eye(len(V)) - V @ V.T if a > 0 and self.rank_ < len(V) else 0.0
        self.mean_, self.projection_ = moments.mean, inverse + (rest / (a * middle) if a > 0 else 0.0)

    def default_grid(self, negatives: Matrix) -> dict[str, list[Any]]:
        """Propose values of shrinkage.

        Parameters
        ----------
        negatives : Matrix of shape (n_negatives, n_features)
            Vectors of unrelated images.

        Returns
        -------
        dict of str to list
            `shrinkage`: "auto", and fractions from 1e-3 to all.
        """
        return {"shrinkage": ["auto", 1e-3, 1e-2, 0.1, 0.3, 0.6, 0.9, 0.97, 0.99, 1.0]}

    def _classifiers(self, rows: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        return directions, -np.einsum("ij,ij->i", (rows + self.mean_) / 2, directions)

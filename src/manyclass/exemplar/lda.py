"""ExemplarLDA: linear discriminant analysis of one image against all negatives."""

from typing import Any

import numpy as np

from manyclass._core.typing import Doubles
from manyclass.data.matrix import Matrix
from manyclass.data.moments import Moments, Spectrum
from manyclass.exemplar.linear_encoder import DiscriminativeEncoder


class ExemplarLDA(DiscriminativeEncoder):
    """Linear discriminant analysis of one image against all negatives.

    One class is the image x and the other the negatives. The classifier is

        w = S^-1 (x - mu)        bias = -(x + mu)'w / 2

    where mu and S are the mean and the covariance of the negatives, without regularization. Directions in which the
    negatives do not vary, such as constant columns, are ignored; S^-1 is then the pseudoinverse. The embedding of x is
    w, scaled to unit length. `SquareLossExemplar` converges to it as its regularization tends to 0.

    Parameters
    ----------
    n_background : int, default=1024
        Number of negatives whose embeddings are kept as the background set.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the background set.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean mu of the negatives.
    projection_ : ndarray of shape (n_features, n_features)
        (Pseudo)inverse S^-1 of the covariance.
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
    >>> enc = ExemplarLDA().fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> enc.projection_
    array([[2. , 0. ],
           [0. , 0.5]])
    """

    rank_: int

    def __init__(self, n_background: int = 1024, random_state: Any = None):
        self.n_background = n_background
        self.random_state = random_state

    def _fit(self, matrix: Matrix) -> None:
        moments = Moments.of(matrix)
        spectrum = Spectrum.of(moments.covariance).check_varies(moments.n)
        self.rank_ = len(spectrum.s)
        self.mean_, self.projection_ = moments.mean, (spectrum.V / spectrum.s) @ spectrum.V.T

    def _classifiers(self, rows: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        return directions, -np.einsum("ij,ij->i", (rows + self.mean_) / 2, directions)

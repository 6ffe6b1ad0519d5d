"""ExemplarLDA: linear discriminant analysis of one image against all negatives."""

from typing import Any

import numpy as np

from manyclass.data.matrix import Matrix
from manyclass.exemplar.encoder import Doubles
from manyclass.exemplar.linear import DiscriminativeEncoder
from manyclass.exemplar.statistics import Moments, Spectrum


class ExemplarLDA(DiscriminativeEncoder):
    """Linear discriminant analysis whose one class is an image x and whose other class are the negatives.

    The classifier is w = S^-1 (x - mu) with bias -(x + mu)'w / 2, where S is the covariance of the negatives and of
    nothing else: there is no regularization. Directions in which the negatives do not differ at all, such as constant
    columns, have no say; then S^-1 is the pseudoinverse. `SquareLossExemplar` tends to it as its lambda falls.

    Parameters
    ----------
    pool, random_state : how many negatives are kept as codes, and the seed by which they are drawn.

    Attributes
    ----------
    mean_ (d,) and projection_ (d, d), mu and S^-1; rank_ : that of S; pool_; n_features_in_, n_features_out_.

    Examples
    --------
    >>> enc = ExemplarLDA().fit([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> enc.projection_
    array([[2. , 0. ],
           [0. , 0.5]])
    """

    rank_: int

    def __init__(self, pool: int = 1024, random_state: Any = None):
        self.pool = pool
        self.random_state = random_state

    def _fit(self, matrix: Matrix) -> None:
        moments = Moments.of(matrix)
        spectrum = Spectrum.of(moments.covariance).refuse_none(moments.n)
        self.rank_ = len(spectrum.s)
        self.mean_, self.projection_ = moments.mean, (spectrum.V / spectrum.s) @ spectrum.V.T

    def _classifiers(self, rows: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        return directions, -np.einsum("ij,ij->i", (rows + self.mean_) / 2, directions)

"""SquareLossExemplar: ridge regression of one image against all negatives, in closed form."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from manyclass import _checks
from manyclass._blas import one_thread
from manyclass.data.inputs import open_examples
from manyclass.data.matrix import Matrix
from manyclass.exemplar.encoder import Doubles
from manyclass.exemplar.linear import DiscriminativeEncoder, one_or_many
from manyclass.exemplar.statistics import Moments


class SquareLossExemplar(DiscriminativeEncoder):
    """Square-loss exemplar machine: ridge regression of one image against all negatives, in closed form.

    The classifier of an image x against negatives x_1 ... x_n minimizes over w and its bias b

        theta/2 (w'x + b - 1)^2 + 1/(2n) sum_i (w'x_i + b + 1)^2 + lambda/2 |w|^2

    (Rezende et al., "Kernel square-loss exemplar machines", CVPR 2017). w is a multiple of A^-1 (x - mu), where mu is
    the mean of the negatives and A their covariance plus lambda on the diagonal. A is inverted once; embeddings are
    these directions, scaled to unit length, one matrix product for a batch of images.

    Parameters
    ----------
    regularization : float, default=1e-3
        Lambda, on the scale of the variance of the features. 0 is allowed if the covariance is invertible.
    positive_weight : float, default=1.0
        Weight theta of the image against all negatives together; embeddings do not depend on it.
    n_background : int, default=1024
        Number of negatives whose embeddings are kept as the background set.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the background set.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Mean mu of the negatives.
    projection_ : ndarray of shape (n_features, n_features)
        Inverse of A.
    background_ : ndarray of shape (n_background, n_features_out_), float32
        Embeddings of the background set.
    background_pull_ : ndarray of shape (n_background, n_features), float32
        Leave-one-out correction of each of the background set.
    n_features_in_ : int
        Number of features of an image.
    n_features_out_ : int
        Number of features of an embedding.

    Examples
    --------
    >>> negatives = np.random.default_rng(0).normal(size=(100, 3)) * [5, 1, 1]
    >>> enc = SquareLossExemplar().fit(negatives)
    >>> enc.transform([[4.0, 4.0, 0.0]]).round(1)  # the first coordinate tells little
    array([[ 0. ,  1. , -0.1]], dtype=float32)
    >>> w, bias = enc.classifier([4.0, 4.0, 0.0])
    """

    def __init__(
        self,
        regularization: float = 1e-3,
        positive_weight: float = 1.0,
        n_background: int = 1024,
        random_state: Any = None,
    ):
        self.regularization = regularization
        self.positive_weight = positive_weight
        self.n_background = n_background
        self.random_state = random_state

    def examples_classifier(
        self, positives: Any, negatives: Any = None, negative_weight: float = 1.0
    ) -> tuple[Doubles, float]:
        """Fit one classifier of several positives, with additional negatives.

        All positives together have the weight theta, all additional negatives together `negative_weight`, and the
        negatives that the encoder was fitted on together 1. One positive alone gives the direction of its embedding.

        Parameters
        ----------
        positives : array-like or Matrix of shape (n_positives, n_features)
            Vectors of wanted images.
        negatives : array-like or Matrix of shape (n_negatives, n_features), default=None
            Vectors of unwanted images, beside those of `fit`.
        negative_weight : float, default=1.0
            Weight of these negatives together.

        Returns
        -------
        w : ndarray of shape (n_features,), float64
            Weights of the classifier w'z + bias.
        bias : float
            Intercept.
        """
        from manyclass.exemplar.examples import examples_classifier

        wanted = one_or_many(self, positives, "positives")
        none = negatives is None or (isinstance(negatives, list | tuple) and not len(negatives))
        unwanted = wanted[:0] if none else one_or_many(self, negatives, "negatives")
        weights = self.positive_weight, _checks.positive(negative_weight, "negative_weight")
        return examples_classifier(self.mean_, self.projection_, wanted, unwanted, *weights)

    def _check_settings(self) -> None:
        _checks.nonnegative(self.regularization, "regularization")
        _checks.positive(self.positive_weight, "positive_weight")

    def trials(self, negatives: Any, settings: Sequence[dict[str, Any]]) -> Iterator["SquareLossExemplar"]:
        """Fit a copy with each of several settings, by one eigendecomposition of the covariance.

        Parameters
        ----------
        negatives : array-like, Matrix or path of shape (n_negatives, n_features)
            Vectors of unrelated images.
        settings : sequence of dict
            Parameters of each copy.

        Yields
        ------
        SquareLossExemplar
            A fitted copy, whose background set has one image.
        """
        matrix = open_examples(clone(self), negatives, reset=True)
        moments = Moments.of(matrix)
        with one_thread():
            s, V = np.linalg.eigh(moments.covariance)
            for setting in settings:
                trial = clone(self).set_params(**setting, n_background=1)
                trial._check_settings()
                _refuse_singular(s[0], s[-1], len(s), trial.regularization)
                trial.n_features_in_ = len(s)
                trial.mean_, trial.projection_ = moments.mean, (V / (s + trial.regularization)) @ V.T
                trial._finish(matrix)
                yield trial

    def _fit(self, matrix: Matrix) -> None:
        moments = Moments.of(matrix)
        self.mean_, self.projection_ = moments.mean, inverse(moments.covariance, self.regularization)

    def _classifiers(self, rows: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        theta = self.positive_weight
        q = np.einsum("ij,ij->i", rows - self.mean_, directions)
        W = (2 * theta / (theta * q + theta + 1))[:, None] * directions
        middle = (theta * rows + self.mean_) / (theta + 1)
        return W, (theta - 1) / (theta + 1) - np.einsum("ij,ij->i", middle, W)


def inverse(covariance: Doubles, regularization: float) -> Doubles:
    """(covariance + regularization I)^-1 by one Cholesky factorization."""
    from scipy.linalg.lapack import dpotrf, dpotri

    d = len(covariance)
    A = covariance + regularization * np.eye(d)
    with one_thread():
        L, failed = dpotrf(A, lower=True)
        smallest = -np.inf if failed else np.square(np.diag(L)).min() - regularization
        _refuse_singular(smallest, covariance.diagonal().max(), d, regularization)
        A, _ = dpotri(L, lower=True)
    return np.ascontiguousarray(np.tril(A) + np.tril(A, -1).T)


def _refuse_singular(smallest: float, largest: float, d: int, regularization: float) -> None:
    """Refuse a sum with an inverse of nothing but rounding, by (bounds of) the eigenvalues of the covariance."""
    if smallest + regularization <= d * np.finfo(np.float64).eps * (largest + regularization):
        raise ValueError(
            f"regularization must be larger, because the covariance of the negatives is singular; got {regularization}"
        )

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
    """The square-loss exemplar machine (Rezende et al., "Kernel square-loss exemplar machines", CVPR 2017).

    The classifier of an image x against negatives x_1 ... x_n minimizes over w and its bias b

        theta/2 (w'x + b - 1)^2 + 1/(2n) sum_i (w'x_i + b + 1)^2 + lambda/2 |w|^2,

    and w is a multiple of A^-1 (x - mu), where mu is the mean of the negatives and A their covariance plus lambda on
    the diagonal. A is inverted once; codes are these directions, one product for a batch of images.

    Parameters
    ----------
    regularization : lambda, beside the variance of the features. 0 is allowed where the covariance has an inverse.
    positive_weight : theta, the weight of the image against all negatives together; codes do not depend on it.
    pool, random_state : how many negatives are kept as codes, and the seed by which they are drawn.

    Attributes
    ----------
    mean_ (d,) and projection_ (d, d), mu and A^-1; pool_; n_features_in_, n_features_out_.

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
        pool: int = 1024,
        random_state: Any = None,
    ):
        self.regularization = regularization
        self.positive_weight = positive_weight
        self.pool = pool
        self.random_state = random_state

    def examples_classifier(
        self, positives: Any, negatives: Any = None, negative_weight: float = 1.0
    ) -> tuple[Doubles, float]:
        """(w, bias) of one classifier of several positives (p, d), and of further negatives (m, d) beside its own.

        The positives share the weight theta, and the further negatives `negative_weight`; all negatives that the
        encoder was fitted on have 1. One positive alone gives the direction of its code.
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
        """Each of the settings, all by one eigendecomposition of the covariance."""
        matrix = open_examples(clone(self), negatives, reset=True)
        moments = Moments.of(matrix)
        with one_thread():
            s, V = np.linalg.eigh(moments.covariance)
            for setting in settings:
                trial = clone(self).set_params(**setting, pool=1)
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
            f"regularization must be larger, as the covariance of the negatives has no inverse; got {regularization}"
        )

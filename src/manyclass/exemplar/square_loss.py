"""SquareLossExemplar: ridge regression of one image against all negatives, in closed form.

So is the machine of several positives and further negatives. With weights c_i, which sum to theta over the positives
(y = 1), to 1 over the negatives that are known by their mean mu and covariance, and to phi over the further ones (both
y = -1), the classifier minimizes

    1/2 sum_i c_i (w'x_i + b - y_i)^2 + lambda/2 |w|^2.

Its bias makes the weighted mean of the errors 0. What is left is ridge regression around the weighted mean m of all x:

    (A + Z Z') w = 2 theta (p - m),     b = mean of y - w'm,

where A is the covariance of the negatives plus lambda on the diagonal, p the mean of the positives, and Z has the
columns mu - m and sqrt(c_i) (x_i - m) of every example. A^-1 is known, so w is one small system away (Woodbury).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from manyclass._core.checks import check_number, check_positive
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles
from manyclass.data.inputs import open_examples
from manyclass.data.matrix import Matrix
from manyclass.data.moments import Moments, Spectrum, center_rows, column_means
from manyclass.exemplar.encoder import auto_regularization
from manyclass.exemplar.linear_encoder import DiscriminativeEncoder, one_or_many

# So many times fewer negatives than columns have their inverse from a spectrum: 49 of 4,096 columns in 0.2 s of a core,
# where a factorization of the covariance takes 3.5.
_NARROW = 2


class SquareLossExemplar(DiscriminativeEncoder):
    """Square-loss exemplar machine: ridge regression of one image against all negatives, in closed form.

    The classifier of an image x against negatives x_1 ... x_n minimizes over w and its bias b::

        theta/2 (w'x + b - 1)^2 + 1/(2n) sum_i (w'x_i + b + 1)^2 + lambda/2 |w|^2

    (Rezende et al., "Kernel square-loss exemplar machines", CVPR 2017). w is a multiple of A^-1 (x - mu), where mu is
    the mean of the negatives and A their covariance plus lambda on the diagonal. A is inverted once; embeddings are
    these directions, scaled to unit length, one matrix product for a batch of images.

    Parameters
    ----------
    regularization : float or "auto", default="auto"
        Lambda, on the scale of the variance of the features. "auto" is the largest eigenvalue of the covariance of the
        negatives. 0 is allowed if the covariance is invertible.
    positive_weight : float, default=1.0
        Weight theta of the image against all negatives together; embeddings do not depend on it.
    n_background : int, default=1024
        Number of negatives whose embeddings are kept as the background set.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the background set.

    Attributes
    ----------
    regularization_ : float
        Lambda of the fit.
    mean_ : ndarray of shape (n_features,)
        Mean mu of the negatives.
    projection_ : ndarray of shape (n_features, n_features)
        Inverse of A.
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
    >>> negatives = np.random.default_rng(0).normal(size=(100, 3)) * [5, 1, 1]
    >>> enc = SquareLossExemplar(regularization=1e-3).fit(negatives)
    >>> enc.transform([[4.0, 4.0, 0.0]]).round(1)  # the first coordinate tells little
    array([[ 0. ,  1. , -0.1]], dtype=float32)
    >>> w, bias = enc.classifier([4.0, 4.0, 0.0])
    """

    regularization_: float

    def __init__(
        self,
        regularization: float | str = "auto",
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

        wanted = one_or_many(self, positives, "positives")
        none = negatives is None or (isinstance(negatives, list | tuple) and not len(negatives))
        unwanted = wanted[:0] if none else one_or_many(self, negatives, "negatives")
        weights = self.positive_weight, check_positive(negative_weight, "negative_weight")
        found = fit_examples(self.mean_, self.projection_, wanted, unwanted, *weights)
        return found.w, found.bias

    def _check_settings(self) -> None:
        rule = "a finite number, at least 0, or 'auto'"
        check_number(self.regularization, "regularization", rule, least=0, besides=("auto",))
        check_positive(self.positive_weight, "positive_weight")

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
        mean = column_means(matrix)
        spectrum = _spectrum(matrix, mean)
        for setting in settings:
            trial = clone(self).set_params(**setting, n_background=1)
            trial._check_settings()
            trial.n_features_in_, trial.mean_ = len(mean), mean
            trial._invert(spectrum)
            trial._finish(matrix)
            yield trial

    def _fit(self, matrix: Matrix) -> None:
        n, d = matrix.shape
        if n < d // _NARROW:
            self.mean_ = column_means(matrix)
            return self._invert(_spectrum(matrix, self.mean_))
        moments, given = Moments.of(matrix), self.regularization
        self.regularization_ = auto_regularization(moments.covariance) if isinstance(given, str) else float(given)
        self.mean_, self.projection_ = moments.mean, regularized_inverse(moments.covariance, self.regularization_)

    def _invert(self, spectrum: Spectrum) -> None:
        """Take A^-1 from the spectrum of the covariance."""
        (d, r), given = spectrum.V.shape, self.regularization
        largest = float(spectrum.s[0]) if r else 0.0
        self.regularization_ = (largest or 1.0) if isinstance(given, str) else float(given)
        _check_invertible(float(spectrum.s[-1]) if 0 < r == d else 0.0, largest, d, self.regularization_)
        self.projection_ = spectrum.regularized_inverse(self.regularization_)

    def _classifiers(self, rows: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        theta = self.positive_weight
        q = np.einsum("ij,ij->i", rows - self.mean_, directions)
        W = (2 * theta / (theta * q + theta + 1))[:, None] * directions
        middle = (theta * rows + self.mean_) / (theta + 1)
        return W, (theta - 1) / (theta + 1) - np.einsum("ij,ij->i", middle, W)


def _spectrum(matrix: Matrix, mean: Doubles) -> Spectrum:
    """That of the covariance of the rows; of few rows by their Gram matrix."""
    n, d = matrix.shape
    if n < d:
        return Spectrum.of_rows(center_rows(matrix, slice(None), mean))
    return Spectrum.of(Moments.of(matrix).covariance)


def regularized_inverse(covariance: Doubles, regularization: float) -> Doubles:
    """(covariance + regularization I)^-1 by one Cholesky factorization."""
    from scipy.linalg.lapack import dpotrf, dpotri

    d = len(covariance)
    A = covariance + regularization * np.eye(d)
    with one_blas_thread():
        L, failed = dpotrf(A, lower=True)
        smallest = -np.inf if failed else np.square(np.diag(L)).min() - regularization
        _check_invertible(smallest, covariance.diagonal().max(), d, regularization)
        A, _ = dpotri(L, lower=True)
    return np.ascontiguousarray(np.tril(A) + np.tril(A, -1).T)


def _check_invertible(smallest: float, largest: float, d: int, regularization: float) -> None:
    """Refuse a sum with an inverse of nothing but rounding, by (bounds of) the eigenvalues of the covariance."""
    if smallest + regularization <= d * np.finfo(np.float64).eps * (largest + regularization):
        raise ValueError(
            f"regularization must be larger, because the covariance of the negatives is singular; got {regularization}"
        )


class ExamplesFit(NamedTuple):
    """A classifier w'x + bias of examples, and what leaving one of them out takes.

    `center` (d,) is the weighted mean of all x, ZA (z, d) is Z'A^-1, and `core` (z, z) the inverse of I + Z'A^-1 Z.
    """

    w: Doubles
    bias: float
    center: Doubles
    ZA: Doubles
    core: Doubles


def fit_examples(
    mean: Doubles,
    inverse: Doubles,
    positives: Doubles,
    negatives: Doubles,
    theta: float,
    phi: float,
    pull: Doubles | float = 0.0,
) -> ExamplesFit:
    """From mu (d,), A^-1 (d, d) or its diagonal (d,), positives (p, d) and negatives (m, d), which may be none.

    With a ridge lambda/2 |w - w_0|^2 towards other weights than zero, `pull` is lambda w_0 (d,).
    """
    if not len(positives):
        raise ValueError("positives must have at least one row; got none")
    phi = phi if len(negatives) else 0.0
    total = theta + 1 + phi
    center = (theta * positives.mean(axis=0) + mean + phi * _mean(negatives, mean)) / total
    scale = np.sqrt(np.repeat([theta / len(positives), phi / max(1, len(negatives))], [len(positives), len(negatives)]))
    Z = np.vstack([mean - center, scale[:, None] * (np.vstack([positives, negatives]) - center)])
    with one_blas_thread():
        b = 2 * theta * (positives.mean(axis=0) - center) + pull
        ZA = Z @ inverse if inverse.ndim == 2 else Z * inverse
        core = np.linalg.inv(np.eye(len(Z)) + ZA @ Z.T)
        w = (inverse @ b if inverse.ndim == 2 else inverse * b) - ZA.T @ (core @ (ZA @ b))
    return ExamplesFit(w, float((theta - 1 - phi) / total - w @ center), center, ZA, core)


def _mean(rows: Doubles, otherwise: Doubles) -> Doubles:
    mean: Doubles = rows.mean(axis=0) if len(rows) else otherwise
    return mean

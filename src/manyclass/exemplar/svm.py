"""ExemplarSVM: a support vector machine of one image against all negatives."""

import copy
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.checks import check_count, check_number, check_one_of, check_positive, draw_seed
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles
from manyclass.data.inputs import ScaleLimits
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import Moments, center_rows, column_means, mean_square
from manyclass.data.readers.as_matrix import as_matrix
from manyclass.exemplar._svm_solvers import DualDescent, ExemplarSgd
from manyclass.exemplar.encoder import Encoder, auto_regularization
from manyclass.exemplar.linear_encoder import one_or_many

BATCH = 256  # images that are trained at once

DUAL_BYTES = 128 << 20  # of the dual variables, one for every image and negative


class ExemplarSVM(Encoder):
    """Exemplar support vector machine: one image against all negatives, with the hinge loss.

    The classifier f(z) = w'z + b of an image x against negatives x_1 ... x_n minimizes over w and b::

        theta max(0, 1 - f(x)) + 1/n sum_i max(0, 1 + f(x_i)) + lambda/2 |w|^2

    (Malisiewicz et al., ICCV 2011), and the embedding of x is w, scaled to unit length (Zepeda and Perez, CVPR 2015).
    There is no closed form: every image is trained, many at a time, and the negatives are kept for that. They are not
    copied and must not change. `SquareLossExemplar` is the same with another loss and thousands of times faster. The
    embedding of an image is the same alone and among others, up to rounding.

    Parameters
    ----------
    regularization : float or "auto", default="auto"
        Lambda. "auto" is the largest eigenvalue of the covariance of the negatives. In scikit-learn's terms a negative
        has C = 1 / (n lambda), and the image C = theta / lambda.
    positive_weight : float, default=1.0
        Weight theta of the image against all negatives together. Values above 1 do not change the optimum.
    solver : {"sgd", "exact"}, default="sgd"
        "sgd" is stochastic gradient descent as published; "exact" is dual coordinate descent over all negatives until
        the duality gap is small.
    n_steps : int, default=100_000
        Number of steps of "sgd"; each sees the image and one negative.
    tolerance : float, default=1e-4
        Relative duality gap at which "exact" stops.
    max_epochs : int, default=1000
        Number of sweeps after which "exact" stops with a ConvergenceWarning.
    n_background : int, default=256
        Number of negatives whose embeddings are kept as the background set. There is no closed form for leaving one of
        them out: if negatives are no more than a few times the features, a gallery reports too many queries as matched.
    random_state : int, RandomState instance or None, default=None
        Seed of the choice of the background set and of the steps.

    Attributes
    ----------
    regularization_ : float
        Lambda of the fit.
    negatives_ : Matrix of shape (n_negatives, n_features)
        Negatives.
    mean_ : ndarray of shape (n_features,)
        Mean of the negatives.
    square_ : float
        Mean squared distance of the negatives from their mean.
    seed_ : int
        Seed of the steps.
    background_ : ndarray of shape (n_background, n_features_out), float32
        Embeddings of the background set.
    n_features_in_ : int
        Number of features of an image.
    n_features_out_ : int
        Number of features of an embedding.

    Examples
    --------
    >>> negatives = np.random.default_rng(0).normal(size=(100, 3)) * [5, 1, 1]
    >>> enc = ExemplarSVM(0.1, solver="exact", n_background=1, random_state=0).fit(negatives)
    >>> w, bias = enc.classifier([0.0, 8.0, 0.0])
    >>> bool(abs(w @ [0.0, 8.0, 0.0] + bias - 1) < 1e-9)
    True
    """

    regularization_: float
    negatives_: Any
    mean_: Doubles
    square_: float
    seed_: int

    def __init__(
        self,
        regularization: float | str = "auto",
        positive_weight: float = 1.0,
        solver: str = "sgd",
        n_steps: int = 100_000,
        tolerance: float = 1e-4,
        max_epochs: int = 1000,
        n_background: int = 256,
        random_state: Any = None,
    ):
        self.regularization = regularization
        self.positive_weight = positive_weight
        self.solver = solver
        self.n_steps = n_steps
        self.tolerance = tolerance
        self.max_epochs = max_epochs
        self.n_background = n_background
        self.random_state = random_state

    scale_limits = ScaleLimits(beside=1e-9)

    def classifier(self, x: ArrayLike) -> tuple[Doubles, Any]:
        """Train the classifier w'z + bias of an image, or those of several.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (n_images, n_features)
            Vector of an image, or of several.

        Returns
        -------
        w : ndarray of shape (n_features,) or (n_images, n_features), float64
            Weights.
        bias : float or ndarray of shape (n_images,)
            Intercept.
        """
        with one_blas_thread():
            W, biases = self._classifiers(one_or_many(self, x))
        return (W[0], float(biases[0])) if np.ndim(x) == 1 else (W, biases)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted encoder, with its negatives, to one safetensors file, which `manyclass.load` reads.

        Quantized or sharded negatives become one array in memory for that.

        Parameters
        ----------
        path : path-like
            File to write.
        """
        if not hasattr(self, "negatives_"):
            super().save(path)
            return
        plain = copy.copy(self)
        plain.negatives_ = as_matrix(self.negatives_).rows(slice(None))
        super(ExemplarSVM, plain).save(path)

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
        d, n, m = fitted["n_features_in_"], len(fitted["negatives_"]), len(fitted["background_"])
        return {"negatives_": (n, d), "mean_": (d,), "square_": (), "background_": (m, d)}

    def _check_settings(self) -> None:
        rule = "a finite number above 0, or 'auto'"
        check_number(self.regularization, "regularization", rule, above=0, besides=("auto",))
        check_positive(self.positive_weight, "positive_weight")
        check_one_of(self.solver, "solver", ("sgd", "exact"))
        check_count(self.n_steps, "n_steps")
        check_positive(self.tolerance, "tolerance")
        check_count(self.max_epochs, "max_epochs")

    def _fit(self, matrix: Matrix) -> None:
        self.negatives_ = matrix
        given = self.regularization
        if isinstance(given, str):
            moments = Moments.of(matrix)
            self.mean_, self.regularization_ = moments.mean, auto_regularization(moments.covariance)
        else:
            self.mean_, self.regularization_ = column_means(matrix), float(given)
        self.square_ = mean_square(matrix, self.mean_)
        self.seed_ = draw_seed(self.random_state)

    def _embedding_size(self) -> int:
        return self.n_features_in_

    def _encode(self, rows: Doubles) -> Doubles:
        return unit_rows(self._classifiers(rows)[0])

    def _classifiers(self, rows: Doubles) -> tuple[Doubles, Doubles]:
        """(W (m, d), biases (m,)); all is relative to the mean of the negatives, which a free bias makes up for."""
        solve = self._descend if self.solver == "sgd" else self._solve
        n = len(self.negatives_)
        size = BATCH if self.solver == "sgd" else max(1, min(BATCH, DUAL_BYTES // (8 * n)))
        found = [solve(rows[at] - self.mean_) for at in spans(len(rows), size)]
        W = np.concatenate([np.zeros((0, rows.shape[1])), *(W for W, _ in found)])
        return W, np.concatenate([np.zeros(0), *(bias for _, bias in found)]) - W @ self.mean_

    def _descend(self, positives: Doubles) -> tuple[Doubles, Doubles]:
        drawn = np.random.default_rng(self.seed_).integers(len(self.negatives_), size=self.n_steps)
        return ExemplarSgd(self._strength(), self.positive_weight, self.square_).run(self._rows(), drawn, positives)

    def _solve(self, positives: Doubles) -> tuple[Doubles, Doubles]:
        problem = DualDescent(
            self._rows(), len(self.negatives_), self.square_, self._strength(), self.positive_weight,
            self.tolerance, self.max_epochs,
        )  # fmt: skip
        W, bias, gaps = problem.solve(positives, np.random.default_rng(self.seed_))
        if gaps.max(initial=0) > self.tolerance:
            warnings.warn(
                f"after {self.max_epochs} sweeps the relative duality gap of an exemplar is {gaps.max():.3g}, above "
                f"{self.tolerance:g}; raise max_epochs, tolerance or regularization",
                ConvergenceWarning,
                stacklevel=2,
            )
        return W, bias

    def _strength(self) -> float:
        # A file of an earlier version has what was given alone, which was a number.
        return float(getattr(self, "regularization_", self.regularization))

    def _rows(self) -> Any:
        matrix = as_matrix(self.negatives_)

        def rows(index: NDArray[np.intp]) -> Doubles:
            return center_rows(matrix, index, self.mean_)

        return rows

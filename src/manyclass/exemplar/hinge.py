"""ExemplarSVM: a support vector machine of one image against all negatives."""

import copy
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from manyclass import _checks
from manyclass._blas import one_thread
from manyclass.data.matrix import Matrix
from manyclass.data.opening import as_matrix
from manyclass.data.tiles import spans
from manyclass.exemplar.encoder import Doubles, Encoder, unit_rows
from manyclass.exemplar.hinge_dual import DualDescent
from manyclass.exemplar.hinge_sgd import Descent
from manyclass.exemplar.linear import one_or_many
from manyclass.exemplar.statistics import centered, mean_of, mean_square

BATCH = 256  # images that are trained at once
DUAL_BYTES = 128 << 20  # of the dual variables, one for every image and negative


class ExemplarSVM(Encoder):
    """The exemplar support vector machine (Malisiewicz et al., ICCV 2011) as an encoder (Zepeda and Perez, CVPR 2015).

    The classifier of an image x against negatives x_1 ... x_n minimizes over w and its bias b, with f(z) = w'z + b,

        theta max(0, 1 - f(x)) + 1/n sum_i max(0, 1 + f(x_i)) + lambda/2 |w|^2,

    and the code of x is w of unit length. There is no closed form: every image is trained, many at a time, and the
    negatives are kept for that; they are not copied, so they must stay as they are. `SquareLossExemplar` is the same
    with another loss, and thousands of times faster. An image has the same code alone and among others, up to rounding.

    Parameters
    ----------
    regularization : lambda. In scikit-learn's terms a negative has C = 1 / (n lambda), the image C = theta / lambda.
    positive_weight : theta, the weight of the image against all negatives together. From 1 on it changes nothing at
        the optimum.
    solver : "sgd", steps of stochastic gradient descent as published; or "exact", sweeps of dual coordinate descent
        over all negatives until the objective is proven to be near the optimum.
    n_steps : of "sgd"; each sees the image and one negative.
    tolerance, max_epochs : of "exact"; how far the objective may be above the optimum, as a part of itself, and after
        how many sweeps a ConvergenceWarning says that it is not there.
    pool, random_state : how many negatives are kept as codes, and the seed by which they and the steps are drawn. There
        is no closed form for what leaving one of them out would change: where negatives are no more than a few times
        the dimensions, a gallery calls too many queries matched.

    Attributes
    ----------
    negatives_ (n, d); mean_ (d,), their mean, and square_, the mean square of their distance from it; seed_; pool_;
    n_features_in_, n_features_out_.

    Examples
    --------
    >>> negatives = np.random.default_rng(0).normal(size=(100, 3)) * [5, 1, 1]
    >>> enc = ExemplarSVM(0.1, solver="exact", pool=1, random_state=0).fit(negatives)
    >>> w, bias = enc.classifier([0.0, 8.0, 0.0])
    >>> bool(abs(w @ [0.0, 8.0, 0.0] + bias - 1) < 1e-9)
    True
    """

    negatives_: Any
    mean_: Doubles
    square_: float
    seed_: int

    def __init__(
        self,
        regularization: float = 1e-3,
        positive_weight: float = 1.0,
        solver: str = "sgd",
        n_steps: int = 100_000,
        tolerance: float = 1e-4,
        max_epochs: int = 1000,
        pool: int = 256,
        random_state: Any = None,
    ):
        self.regularization = regularization
        self.positive_weight = positive_weight
        self.solver = solver
        self.n_steps = n_steps
        self.tolerance = tolerance
        self.max_epochs = max_epochs
        self.pool = pool
        self.random_state = random_state

    def classifier(self, x: ArrayLike) -> tuple[Doubles, Any]:
        """(w, bias) of the classifier w'z + bias of x (d,); of rows (m, d) all of them, (m, d) and (m,)."""
        with one_thread():
            W, biases = self._classifiers(one_or_many(self, x))
        return (W[0], float(biases[0])) if np.ndim(x) == 1 else (W, biases)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted encoder, its negatives included, to one safetensors file, which `manyclass.load` reads.

        Negatives that are kept as codes or shards become one array in memory for that.
        """
        if not hasattr(self, "negatives_"):
            return super().save(path)
        plain = copy.copy(self)
        plain.negatives_ = as_matrix(self.negatives_).rows(slice(None))
        return super(ExemplarSVM, plain).save(path)

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shapes that arrays of a saved encoder must have."""
        d, n, m = fitted["n_features_in_"], len(fitted["negatives_"]), len(fitted["pool_"])
        return {"negatives_": (n, d), "mean_": (d,), "square_": (), "pool_": (m, d)}

    def _check_settings(self) -> None:
        _checks.positive(self.regularization, "regularization")
        _checks.positive(self.positive_weight, "positive_weight")
        _checks.one_of(self.solver, "solver", ("sgd", "exact"))
        _checks.count(self.n_steps, "n_steps")
        _checks.positive(self.tolerance, "tolerance")
        _checks.count(self.max_epochs, "max_epochs")

    def _fit(self, matrix: Matrix) -> None:
        self.negatives_ = matrix
        self.mean_ = mean_of(matrix)
        self.square_ = mean_square(matrix, self.mean_)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))

    def _n_codes(self) -> int:
        return self.n_features_in_

    def _encode(self, rows: Doubles) -> Doubles:
        return unit_rows(self._classifiers(rows)[0])

    def _classifiers(self, rows: Doubles) -> tuple[Doubles, Doubles]:
        """(W (m, d), biases (m,)); all is relative to the mean of the negatives, which a free bias makes up for."""
        solve = self._descend if self.solver == "sgd" else self._solve
        n = len(self.negatives_)
        size = BATCH if self.solver == "sgd" else max(1, min(BATCH, DUAL_BYTES // (8 * n)))
        parts = [solve(rows[at] - self.mean_) for at in spans(len(rows), size)]
        W = np.concatenate([np.zeros((0, rows.shape[1])), *(W for W, _ in parts)])
        return W, np.concatenate([np.zeros(0), *(bias for _, bias in parts)]) - W @ self.mean_

    def _descend(self, positives: Doubles) -> tuple[Doubles, Doubles]:
        drawn = np.random.default_rng(self.seed_).integers(len(self.negatives_), size=self.n_steps)
        return Descent(self.regularization, self.positive_weight, self.square_).run(self._rows(), drawn, positives)

    def _solve(self, positives: Doubles) -> tuple[Doubles, Doubles]:
        problem = DualDescent(
            self._rows(), len(self.negatives_), self.square_, self.regularization, self.positive_weight,
            self.tolerance, self.max_epochs,
        )  # fmt: skip
        W, bias, gaps = problem.solve(positives, np.random.default_rng(self.seed_))
        if gaps.max(initial=0) > self.tolerance:
            warnings.warn(
                f"after {self.max_epochs} sweeps the objective of an exemplar may be {gaps.max():.3g} of itself too "
                "large; raise max_epochs, tolerance or regularization",
                ConvergenceWarning,
                stacklevel=2,
            )
        return W, bias

    def _rows(self) -> Any:
        matrix = as_matrix(self.negatives_)

        def rows(index: NDArray[np.intp]) -> Doubles:
            return centered(matrix, index, self.mean_)

        return rows

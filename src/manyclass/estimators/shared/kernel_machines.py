"""KernelMachines: linear machines over shared characteristics, in the space of a kernel."""

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import (
    check_count,
    check_finite,
    check_nonnegative,
    check_number,
    check_one_of,
    check_positive,
    check_verbose,
)
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles
from manyclass.data.inputs import ScaleLimits, open_features
from manyclass.data.kernels import KERNELS, check_gram, classifier_kernel, find_gamma, kernel_products
from manyclass.data.matrix import Matrix
from manyclass.estimators.progress import fit_logs
from manyclass.penalties.smoothed import HalfSquare, SmoothedTraceNorm, SmoothPenalty
from manyclass.solvers.smooth import (
    Coordinates,
    SmoothProblem,
    SmoothSolution,
    coordinates_of_gram,
    coordinates_of_rows,
    minimize_smooth,
)

PENALTIES = ("trace", "frobenius")


class KernelMachines(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Machines W = F G over shared characteristics F'x, for the classes or tasks that a subclass brings.

    What is learned is kept as it is applied: to columns, if the kernel is linear, as `coef_`; else to kernel values
    with the rows of the fit, as `dual_coef_`. `components_` (p, m) holds F alike.
    """

    kernel_: dict[str, Any]
    components_: Doubles
    singular_values_: Doubles
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.transformer_tags.preserves_dtype = []
        return tags

    def transform(self, X: Any) -> Doubles:
        """Compute the shared characteristics of every row, the one of largest singular value first.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n, p)
            The characteristics.
        """
        check_is_fitted(self)
        return self._apply(open_features(self, X), self.components_.T)

    def latent_kernel(self, X: Any, Z: Any = None) -> Doubles:
        """Compute the kernel that was learned: inner products of shared characteristics.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        Z : matrix-like of shape (m, d), default=None
            Other rows; None for X itself.

        Returns
        -------
        ndarray of shape (n, m)
            The kernel values.
        """
        A = self.transform(X)
        B = A if Z is None else self.transform(Z)
        with one_blas_thread():
            return A @ B.T

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one safetensors file, which `manyclass.load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            The file.

        Raises
        ------
        TypeError
            If the kernel is a function.
        """
        from manyclass._core.models import save_model

        check_is_fitted(self)
        if callable(self.kernel) or callable(self.kernel_["name"]):
            raise TypeError("kernel must be a name for a model to be saved; got a function; use 'precomputed'")
        save_model(self, path)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _n_machines(self, fitted: dict[str, Any]) -> int:
        return len(fitted["classes_"])

    @property
    def scale_limits(self) -> ScaleLimits:
        """What the kernel bears, a ScaleLimits: one of distances sees no column but the largest."""
        if self.kernel == "rbf":
            return ScaleLimits(beside=5e-3)
        return ScaleLimits() if self.kernel == "linear" else ScaleLimits(beside=0.0)

    def _is_linear(self) -> bool:
        return bool(self.kernel_["name"] == "linear")

    def _weights(self) -> NDArray[Any]:
        """Weights as they are kept, (m, k)."""
        return self.coef_.T if self._is_linear() else self.dual_coef_

    def _check_machines(self) -> None:
        if not callable(self.kernel):
            check_one_of(self.kernel, "kernel", KERNELS)
        check_number(self.gamma, "gamma", "'scale' or a positive number", above=0, besides=("scale",))
        check_number(self.coef0, "coef0", "a number")
        check_one_of(self.penalty, "penalty", PENALTIES)
        for name in ("C", "degree", "smoothing", "sharpness"):
            check_positive(getattr(self, name), name)
        check_nonnegative(self.tolerance, "tolerance")
        check_count(self.max_iter, "max_iter")
        check_verbose(self.verbose)

    def _points(self, matrix: Matrix) -> Coordinates:
        """The rows to learn from, as points; the kernel gets the numbers that come from them."""
        X = matrix.toarray().astype(np.float64, copy=False)
        self.kernel_ = {
            "name": self.kernel,
            "gamma": find_gamma(self.gamma, X),
            "degree": float(self.degree),
            "coef0": float(self.coef0),
        }
        self.__dict__.pop("X_fit_", None)
        if self._is_linear():
            return coordinates_of_rows(X)
        if self.kernel == "precomputed":
            check_gram(X)
            return coordinates_of_gram(X)
        self.X_fit_ = X
        with np.errstate(invalid="ignore", over="ignore"):
            K = classifier_kernel(**self.kernel_)(X, X)
        check_finite(K, f"values of the kernel {self.kernel!r}")
        return coordinates_of_gram(K)

    def _penalty(self) -> SmoothPenalty:
        return HalfSquare() if self.penalty == "frobenius" else SmoothedTraceNorm(self.smoothing)

    def _strengths(self, weights: NDArray[Any]) -> Doubles:
        strengths: Doubles = self.C * weights.astype(np.float64)
        return strengths

    def _descend(self, problem: SmoothProblem, start: Doubles | None = None) -> SmoothSolution:
        found = minimize_smooth(problem, self.tolerance, self.max_iter, start, fit_logs(self))
        if not found.converged:
            advice = "increase max_iter" if found.n_iter >= self.max_iter else "rounding ends the descent here"
            warnings.warn(
                f"the optimum was not found to a tolerance of {self.tolerance:g} in {found.n_iter} iterations: "
                f"the objective {found.objective:.6g} may be {found.gap:.3g} too large; {advice}",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found

    def _learn(self, points: Coordinates, found: SmoothSolution) -> None:
        self._keep(points, found.W)
        self.objective_, self.gap_, self.n_iter_ = found.objective, found.gap, found.n_iter

    def _keep(self, points: Coordinates, W: Doubles) -> None:
        """Weights W (p, k) on the points become what this model applies, and what the classes share."""
        U, s, _ = np.linalg.svd(W, full_matrices=False)
        positive = s > max(W.shape) * np.finfo(np.float64).eps * s[0]
        # One at least, so that all weights may be zero.
        positive[0] = True
        self.singular_values_ = s[positive]
        self.components_ = np.ascontiguousarray(points.kept(U[:, positive] * np.sqrt(s[positive])).T)
        self._keep_weights(points.kept(W))

    def _keep_weights(self, weights: Doubles) -> None:
        for name in ("coef_", "intercept_", "dual_coef_"):
            self.__dict__.pop(name, None)
        if self._is_linear():
            # In C order, as a file gives them back: BLAS rounds otherwise in the other.
            self.coef_, self.intercept_ = np.ascontiguousarray(weights.T), np.zeros(weights.shape[1])
        else:
            self.dual_coef_ = np.ascontiguousarray(weights)

    def _apply(self, matrix: Matrix, weights: Doubles) -> Doubles:
        """Scores (n, k) of weights (m, k) as they are kept."""
        if hasattr(self, "X_fit_"):
            return kernel_products(classifier_kernel(**self.kernel_), matrix.rows, len(matrix), self.X_fit_, weights)
        return matrix.matmat(weights).astype(np.float64, copy=False)

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """List the shapes that the arrays of a saved model must have.

        Parameters
        ----------
        fitted : dict
            The fitted attributes.

        Returns
        -------
        dict of str to tuple of int
            The shapes by name.
        """
        d, p = fitted["n_features_in_"], len(fitted["singular_values_"])
        k = self._n_machines(fitted)
        if fitted["kernel_"]["name"] == "linear":
            return {"coef_": (k, d), "intercept_": (k,), "components_": (p, d)}
        n = len(fitted["dual_coef_"])
        rows = {} if fitted["kernel_"]["name"] == "precomputed" else {"X_fit_": (n, d)}
        return {"dual_coef_": (n, k), "components_": (p, n), **rows}

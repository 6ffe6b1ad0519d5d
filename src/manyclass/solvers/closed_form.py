"""Ridge regression of classes in closed form: every strength, and every row left out, from one factorization.

Rows x_i with weights p_i, which add up to 1, have the target t = 1 in the column of their class, or classes, and -1 in
all others.
With the bias b, which is not penalized,

    sum_i p_i |W'x_i + b - t_i|^2 + strength |W|^2

is least where the errors have mean 0 and W = (A + strength I)^-1 B: of d columns, A is the covariance of the rows and B
their covariance with the targets (`ColumnSystem`). Of n < d rows W = X' diag(sqrt p) (A + strength I)^-1 B, where A is
the Gram matrix of the rows sqrt(p_i) (x_i - mu), and B holds the targets sqrt(p_i) (t_i - mean t) (`RowSystem`).

A = Q T Q' with a tridiagonal T takes a third of the time of eigenvectors (0.14 against 0.43 s at 1,280 columns, one
thread), and (T + strength I)^-1 costs a few operations a number. So for every strength

    q_i = z_i'(T + strength I)^-1 z_i     and     f_i = B'Q (T + strength I)^-1 z_i

of a row whose coordinates z_i are known take a product with k columns: f is its scores, q its leverage. Without a row
its error would be e_i / (1 - p_i - p_i q_i), exactly, for the penalty that all rows have.

A penalty strength |W - C|^2 of the distance from a center C is the same for W - C and the targets t_i - C'x_i. So B
becomes B + strength C in columns, and the targets of rows lose C'(x_i - mu); errors, and rows left out, stay what they
are.
"""

from abc import ABC, abstractmethod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from manyclass._core.label_lists import LabelLists
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats
from manyclass._core.worker_groups import say_computed_here
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import center_rows, column_means
from manyclass.data.row_space import row_gram
from manyclass.solvers.class_moments import ClassMoments, weighted_rows
from manyclass.solvers.problem import Problem

Number = TypeVar("Number", bound=np.floating[Any])


class TridiagonalForm:
    """Q and T of a symmetric A = Q T Q' (r, r), which is overwritten, by Householder's reflections.

    >>> A = np.array([[2.0, 1.0, 1.0], [1.0, 3.0, 0.0], [1.0, 0.0, 4.0]])
    >>> form = TridiagonalForm(A.copy())
    >>> Z = form.rotated(np.eye(3))
    >>> np.allclose(Z @ form.solve(Z.T, 0.5), np.linalg.inv(A + 0.5 * np.eye(3)))
    True
    """

    def __init__(self, A: Doubles):
        from scipy.linalg.lapack import dsytrd

        with one_blas_thread():
            # A is symmetric, so its transpose is itself, in the order that LAPACK overwrites.
            found, self.diagonal, self.beside, self._tau, _ = dsytrd(
                A.T, lower=1, lwork=_BLOCK * len(A), overwrite_a=True
            )
        # SciPy wants one number beside a diagonal of one, too.
        self.beside = self.beside if len(A) > 1 else np.zeros(1)
        # The first coordinate stays; the others are turned by reflections, which LAPACK keeps below the diagonal.
        self._reflectors = np.asfortranarray(found[1:, :-1])

    def rotated(self, Z: NDArray[Number]) -> NDArray[Number]:
        """Z Q of Z (m, r), in the dtype of Z."""
        return self._reflected(Z.T, b"T").T

    def rotated_back(self, B: NDArray[Number]) -> NDArray[Number]:
        """Q B of B (r, m)."""
        return self._reflected(B, b"N")

    def solve(self, B: Floats, shift: float) -> Doubles:
        """(T + shift I)^-1 B of B (r, m)."""
        from scipy.linalg.lapack import dpttrf, dpttrs

        diagonal, beside, failed = dpttrf(self.diagonal + shift, self.beside)
        if failed:
            raise ValueError(
                f"regularization must be larger, as rows vary too little beside their largest directions; got {shift:g}"
            )
        return np.asarray(dpttrs(diagonal, beside, B)[0])

    def _reflected(self, B: NDArray[Number], transposed: bytes) -> NDArray[Number]:
        from scipy.linalg.lapack import dormqr, sormqr

        out = np.array(B, order="F")
        if out.shape[1] and len(out) > 1:
            reflect = sormqr if out.dtype == np.float32 else dormqr
            out[1:] = reflect(b"L", transposed, self._reflectors, self._tau, out[1:], _BLOCK * B.shape[1])[0]
        return out


_BLOCK = 64  # reflections that LAPACK applies together, if it is given so much room


class RidgeSystem(ABC):
    """A, factored, and B, for one set of rows."""

    form: TridiagonalForm
    B: Doubles  # (r, k), rotated
    middle: Doubles  # (k,), the mean of the targets
    scale: float  # the mean of the eigenvalues of A that are not 0
    usual: float  # the same, if a few columns that vary far more than others did not count
    pull: Doubles | None = None  # (r, k), rotated: what a center adds to B, in units of `pull_unit`

    @abstractmethod
    def set_center(self, C: Doubles) -> None:
        """Draw W to a multiple of C (d, k), which whoever asks for weights or scores names; 0 by default."""

    @abstractmethod
    def weights(self, strength: float, scale: float = 0.0) -> tuple[Doubles, Doubles]:
        """W (d, k) and b (k,), with the center times `scale`."""

    @abstractmethod
    def pull_unit(self, strength: float) -> float:
        """What multiplies the pull of a center."""

    def _right_side(self, strength: float, scale: float) -> Doubles:
        """B (r, k), with what a center adds."""
        if self.pull is None or scale == 0:
            return self.B
        pulled: Doubles = self.B + (scale * self.pull_unit(strength)) * self.pull
        return pulled

    @abstractmethod
    def coordinates(self, X: Matrix, index: Any, dtype: Any) -> Floats:
        """z_i (m, r) of some rows of X, which are among those of the system."""

    @abstractmethod
    def _errors(self, F: Floats, q: Doubles, T: Floats, p: Doubles, strength: float) -> tuple[Floats, Doubles]:
        """(e_i (m, k), 1 less the leverage (m,)) from f_i, q_i and the targets."""

    def left_out_scores(
        self,
        Z: Floats,
        labels: LabelLists,
        p: Doubles,
        strength: float,
        B: Floats | None = None,
        pull: Floats | None = None,
    ) -> Floats:
        """The scores (m, k) of rows with coordinates Z (m, r) by machines of all rows but the row itself.

        B, and the pull of a center times its scale, of another dtype give scores of that dtype.
        """
        B = self.B if B is None else B
        S = self.form.solve(Z.T, strength).T
        coordinates = S.astype(B.dtype, copy=False)
        F = coordinates @ B
        if pull is not None:
            F += coordinates @ pull * B.dtype.type(self.pull_unit(strength))
        T = targets(labels, F.shape[1], B.dtype)
        E, rest = self._errors(F, np.einsum("mr,mr->m", S, Z), T, p, strength)
        # Of a row whose leverage is 1 the others tell nothing.
        known = rest > LEAST_REST
        E *= np.divide(1.0, rest, out=np.zeros_like(rest), where=known).astype(B.dtype)[:, None]
        np.subtract(T, E, out=T)
        T[~known] = self.middle
        return T


class ColumnSystem(RidgeSystem):
    """A (d, d) is the covariance of the rows."""

    def __init__(self, moments: ClassMoments, whole: tuple[float, int] | None = None):
        """Weight and number of all rows are the `whole`, where they may have several classes or none."""
        total, n = whole or (moments.total, int(moments.counts.sum()))
        d = len(moments.mean)
        self.mean, self.middle = moments.mean, 2 * moments.weights / total - 1
        A = moments.scatter / total
        rank = min(d, max(1, n - 1))
        self.scale = float(A.trace()) / rank
        variances = A.diagonal()[A.diagonal() > 0]
        self.usual = min(self.scale, float(np.median(variances)) * d / rank) if len(variances) else self.scale
        self.form = TridiagonalForm(A)
        with one_blas_thread():
            self.B = self.form.rotated(moments.sums * (2 / total)).T

    def set_center(self, C: Doubles) -> None:
        with one_blas_thread():
            self.pull = self.form.rotated(C.T).T

    def pull_unit(self, strength: float) -> float:
        return strength

    def weights(self, strength: float, scale: float = 0.0) -> tuple[Doubles, Doubles]:
        with one_blas_thread():
            W = self.form.rotated_back(self.form.solve(self._right_side(strength, scale), strength))
            return W, self.middle - self.mean @ W

    def coordinates(self, X: Matrix, index: Any, dtype: Any) -> Floats:
        with one_blas_thread():
            return self.form.rotated(center_rows(X, index, self.mean).astype(dtype, copy=False))

    def _errors(self, F: Floats, q: Doubles, T: Floats, p: Doubles, strength: float) -> tuple[Floats, Doubles]:
        F += self.middle.astype(F.dtype)
        return np.subtract(T, F, out=F), 1 - p - p * q


_TILE_BYTES = 32 << 20  # of rows that are multiplied at a time


class RowSystem(RidgeSystem):
    """A (n, n) is the Gram matrix of the rows, each less the mean and times the root of its weight."""

    def __init__(self, problem: Problem):
        self.X, labels, c = weighted_rows(problem)
        self.p = c / c.sum()
        self.middle = 2 * np.bincount(labels.classes, self.p[labels.rows], problem.k).astype(np.float64) - 1
        self._root = np.sqrt(self.p)
        A = row_gram(self.X, np.float64)  # the mean is taken off afterwards, and may be most of it
        with one_blas_thread():
            to_mean = A @ self.p
            middle = float(self.p @ to_mean)
            near = column_means(self.X)
            self._mean = near + self._sum_over_rows(near, self.p[:, None])[:, 0]
        A -= to_mean
        A -= to_mean[:, None] - middle
        A *= self._root
        A *= self._root[:, None]
        self.scale = self.usual = float(A.trace()) / max(1, len(A) - 1)
        # The root of p is a null vector, which would be most of the inverse of what is next to nothing beside it. B has
        # nothing of it, so that any number may stand in the place of its eigenvalue.
        self._null = self.scale or 1.0
        A += self._null * np.outer(self._root, self._root)
        self.form = TridiagonalForm(A)
        Y = (targets(labels, problem.k, np.float64) - self.middle) * self._root[:, None]
        with one_blas_thread():
            self.B = self.form.rotated(Y.T).T

    def set_center(self, C: Doubles) -> None:
        self._center = C
        n, d = self.X.shape
        K = np.empty((n, C.shape[1]))
        with one_blas_thread():
            for at in spans(n, max(1, _TILE_BYTES // (8 * d))):
                K[at] = center_rows(self.X, at, self._mean) @ C
            self.pull = self.form.rotated((-self._root[:, None] * K).T).T

    def pull_unit(self, strength: float) -> float:
        return 1.0

    def weights(self, strength: float, scale: float = 0.0) -> tuple[Doubles, Doubles]:
        with one_blas_thread():
            solved = self.form.rotated_back(self.form.solve(self._right_side(strength, scale), strength))
            W = self._sum_over_rows(self._mean, self._root[:, None] * solved)
            if self.pull is not None and scale != 0:
                W += scale * self._center
            return W, self.middle - self._mean @ W

    def _sum_over_rows(self, mean: Doubles, R: Doubles) -> Doubles:
        """The sum of (x_i - mean) R_i' (d, m), in float64, some rows at a time."""
        n, d = self.X.shape
        total = np.zeros((d, R.shape[1]))
        for at in spans(n, max(1, _TILE_BYTES // (8 * d))):
            total += center_rows(self.X, at, mean).T @ R[at]
        return total

    def coordinates(self, X: Matrix, index: Any, dtype: Any) -> Floats:
        E = np.zeros((len(index), len(self.p)), dtype)
        E[np.arange(len(index)), index] = 1
        with one_blas_thread():
            return self.form.rotated(E)

    def _errors(self, F: Floats, q: Doubles, T: Floats, p: Doubles, strength: float) -> tuple[Floats, Doubles]:
        # With P = (A + strength I)^-1, e is strength P B / sqrt(p), and 1 less the leverage strength P_ii, without the
        # part of the null vector.
        F *= (strength / np.sqrt(p)).astype(F.dtype)[:, None]
        return F, strength * (q - p / (self._null + strength))


def targets(labels: LabelLists, k: int, dtype: Any) -> Floats:
    """1 in the columns of the classes of a row, -1 in all others (m, k).

    >>> targets(LabelLists.single([1, 0]), 3, np.float32)
    array([[-1.,  1., -1.],
           [ 1., -1., -1.]], dtype=float32)
    """
    T = np.full((len(labels), k), -1, dtype)
    T[labels.rows, labels.classes] = 1
    return T


LEAST_REST = 1e-12  # below, 1 - leverage is rounding


def closed_form(problem: Problem) -> tuple[RidgeSystem, ClassMoments | None]:
    """The system of all rows: of columns, with the sums that it was made of, or of rows if there are fewer of them.

    Sums of rows with any number of classes are not for others to add to, and are not given.
    """
    if len(problem) < problem.d:
        say_computed_here("the closed form of fewer rows than columns", "it needs the products of all rows together")
        return RowSystem(problem), None
    moments = ClassMoments.of(problem)
    if problem.labels is None:
        return ColumnSystem(moments), moments
    whole = float(moments.weights[-1]), int(moments.counts[-1])
    return ColumnSystem(moments.only(np.arange(problem.k + 1) < problem.k), whole), None

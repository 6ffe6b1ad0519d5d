"""Coordinates in which a smooth problem in W and b has about the same curvature everywhere.

Where all rows have the scores of the null model, the Hessian of the mean loss is about a M by W, with M the covariance
of the rows and a the mean curvature of the loss by one score, and a by c, the scores of the mean row. For the softmax
of k classes of one size a is 1 / k; the bound 1 / 2 that holds everywhere is far too cautious. The first step along the
gradient is then that of least squares, with a length that suits the loss.
"""

from dataclasses import dataclass

import numpy as np

from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.problem import Objective

# Times the mean eigenvalue of M, added to all of them: as rows find their classes, those that still tell anything are
# ever fewer, and M tells less of them. Measured, 5,000 x 512, 200 generated classes, ridges of 1e-4 to 1e-7: 0.3 takes
# 2, 7, 16 and 37 steps, 1 takes 2, 7, 15 and 29, 3 takes 2, 7, 11 and 15; without M it is 4, 14, 23 and 31. Less is
# added where the ridge leaves W next to zero, as far as which M is exact.
_FLOOR = 3.0

# Rows for each column from which on M helps. Measured on CNN features of 101 classes, 3,030 x 1,280, ridges of 1e-4 to
# 1e-6, where few rows tell anything in the end: 9, 29 and 50 steps with M, and 10, 24 and 42 without.
_ROWS_PER_COLUMN = 4

# The time of a factorization against that of d^3 multiplications and additions in a product. Measured for d = 1,024.
_FACTORIZATION = 1.2

# Along most directions W has far less curvature than along the gradient, and c, which has a everywhere, should keep up.
# Measured on those features, ridges of 1e-4 to 1e-6: 1, 4, 10 and 30 take 12, 11, 11 and 12 steps, 33, 24, 26 and 29,
# and 55, 46, 45 and 49.
_INTERCEPT = 4.0

# Steps that may be paid for M, against (a s / 2 ridge)^0.4, s being the eigenvalue along the gradient: a fourth to a
# half of those that it saves. Measured, 20,000 x 1,024, 1,000 generated classes, ridge 1e-4: 0.27 for one step of two.
_WORTH = 1.5

_SAMPLE = 256  # rows that are enough to know the scale of X

_CLASSES = 256  # that are enough to know the curvature of a loss


@dataclass(frozen=True)
class Preconditioner:
    """x = (L'W, sqrt(a) c): the Hessian by x is about the identity where that by W is L L', and that by c is a.

    W has the scores c at the row m, so that b = c - W'm: steps of W leave the scores of m alone. L is lower triangular
    (d, d), or a number.
    """

    factor: Floats | float
    root: float  # of a
    m: Doubles
    k: int

    def pack(self, W: Doubles, b: Doubles) -> Doubles:
        """x of a point."""
        U = self.factor * W if isinstance(self.factor, float) else self.factor.astype(np.float64).T @ W
        return np.concatenate([U.ravel(), self.root * (b + self.m @ W)])

    def unpack(self, x: Floats) -> tuple[Floats, Doubles]:
        """W (d, k), of the dtype of x, and b (k,)."""
        d = len(self.m)
        U = x[: d * self.k].reshape(d, self.k)
        W = U / U.dtype.type(self.factor) if isinstance(self.factor, float) else _solve(self.factor, U, trans=0)
        return W, x[d * self.k :] / self.root - self.m @ W

    def gradient(self, G: Doubles, g: Doubles) -> Doubles:
        """The gradient by x, from those by W and b."""
        G = G - np.outer(self.m, g)
        U = G / self.factor if isinstance(self.factor, float) else _solve(self.factor, G, trans=1)
        return np.concatenate([U.ravel(), g / self.root])

    def squared_gradient(self, gradient: Doubles) -> float:
        """|gradient by W|^2 at constant c, from the gradient by x."""
        U = gradient[: -self.k].reshape(-1, self.k)
        G = self.factor * U if isinstance(self.factor, float) else np.tril(self.factor) @ U.astype(self.factor.dtype)
        return float(np.vdot(G, G))


def _solve(L: Floats, B: Floats, trans: int) -> Floats:
    """inv(L) B, or inv(L') B for trans=0, of the dtype of B."""
    import scipy.linalg.blas as blas

    # B' is what BLAS takes for a matrix of columns, so that nothing is copied to another order.
    solve = blas.strsm if L.dtype == np.float32 else blas.dtrsm
    found: Floats = solve(1.0, L, B.T.astype(L.dtype, order="F"), side=1, lower=1, trans_a=trans).T
    return found.astype(B.dtype, copy=False)


def fit_preconditioner(objective: Objective, base: NullModel) -> Preconditioner:
    """Those of the covariance of the rows where that costs less than the steps that it saves, or else of one number."""
    a, ridge, s = _curvature(objective, base), objective.ridge.curvature, _eigenvalue(objective, base)
    if _cost(objective) <= _WORTH * (a * s / max(ridge, 1e-300)) ** 0.4:
        factor = _factor(objective, base, a, _FLOOR * min(1.0, a * s / max(ridge, 1e-300)))
        if factor is not None:
            return Preconditioner(factor, float(np.sqrt(a)), base.center, objective.k)
    slower = (a * s + ridge) / (_INTERCEPT * a * s + ridge)
    return Preconditioner(float(np.sqrt(a * s + ridge)), float(np.sqrt(a * slower)), base.center, objective.k)


def _cost(objective: Objective) -> float:
    """Of a covariance and its factorization, in steps of two products each; inf where it would not help.

    Steps without it are about 8 (a s / 2 ridge)^0.4, with s the largest eigenvalue, on the data above and on 10,000 x
    1,024, 300 generated classes; about half of them are saved. What is stored in fewer bytes has cheaper products.
    """
    n, d, k = objective.n, objective.d, objective.k
    if n < _ROWS_PER_COLUMN * d:
        return float("inf")
    share = min(1.0, objective.X.nbytes / (n * d * objective.dtype.itemsize))
    return (d / (4 * k) + _FACTORIZATION * d * d / (4 * n * k)) / max(share, 1e-300)


def _factor(objective: Objective, base: NullModel, a: float, floor: float) -> Floats | None:
    """L of a (M + floor times its mean eigenvalue) + 2 ridge; None where M is zero or too large for its dtype."""
    import scipy.linalg

    M = objective.sums.covariance(base.center)
    mean = float(np.trace(M)) / objective.d
    if not (np.isfinite(M).all() and 0 < a * mean < float(np.finfo(objective.dtype).max) / objective.d):
        return None
    M *= a
    np.fill_diagonal(M, np.diag(M) + floor * a * mean + objective.ridge.curvature)
    L: Floats = scipy.linalg.cholesky(M.astype(objective.dtype).T, lower=True, overwrite_a=True, check_finite=False)
    return np.asfortranarray(L)


def _eigenvalue(objective: Objective, base: NullModel) -> float:
    """Of M along the gradient at W = 0, on a sample of rows; 1 where there is none."""
    sample = objective.of_rows(np.unique(np.linspace(0, objective.n - 1, _SAMPLE).astype(np.intp)))
    length = float(np.linalg.norm(base.gradient.astype(np.float64)))
    if not 0 < length < np.inf:
        return 1.0
    G = base.gradient / length
    with np.errstate(over="ignore", invalid="ignore"):
        S = sample.matmat(G).astype(np.float64) - base.center @ G
        found = float(sample.rows.p @ np.einsum("ij,ij->i", S, S))
    return found if 0 < found < np.inf else 1.0


def _curvature(objective: Objective, base: NullModel) -> float:
    """The mean curvature of the loss by one score at the scores of the null model, by differences along signs."""
    k, loss = objective.k, objective.rows.loss
    y = np.unique(np.linspace(0, k - 1, _CLASSES).astype(np.intp))
    signs = np.where(np.arange(k) % 2, -1e-4, 1e-4)
    up, down = (loss.value_and_gradient(np.tile(base.b + s, (len(y), 1)), y)[1] for s in (signs, -signs))
    found = float(((up - down) @ signs).mean()) / (2e-8 * k)
    return found if found > 1e-6 * loss.curvature / k else loss.curvature

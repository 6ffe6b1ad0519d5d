"""The trace norm with the multiclass hinge, solved exactly as a conic program; for a few hundred rows and few classes.

    minimize over W (d, k)    |W| + C sum_i max_c (w_c'x_i - w_y'x_i + [c != y_i])                     (the primal)

Its dual (Amit et al., 2007, Eq. 10) needs the Gram matrix K = XX' alone: one number Q_ic >= 0 for every row and wrong
class, Q_iy = -(their sum) >= -C, the sum of all as large as possible while no singular value of X'Q is above 1.
"""

from typing import Any

import numpy as np

from manyclass._core.typing import Doubles, Labels
from manyclass.solvers.smooth import coordinates_of_gram


def exact_objective(W: Doubles, X: Doubles, y: Labels, C: float) -> float:
    """The primal's value at W (d, k), with no corner rounded off."""
    S = X @ W
    rows = np.arange(len(y))
    margins = S - S[rows, y][:, None] + 1
    margins[rows, y] = 0
    return float(np.linalg.svd(W, compute_uv=False).sum() + C * margins.max(axis=1).sum())


def solve_primal(X: Doubles, y: Labels, k: int, C: float) -> tuple[Doubles, float]:
    """(W (d, k), the optimum)."""
    cp = _cvxpy()
    W = cp.Variable((X.shape[1], k))
    value = _solve(cp, cp.Minimize(cp.normNuc(W) + C * _hinge(cp, X @ W, y)))
    return W.value, value


def solve_dual(K: Doubles, y: Labels, k: int, C: float) -> tuple[Doubles, float]:
    """(Q (n, k), the optimum), of a Gram matrix K (n, n)."""
    cp = _cvxpy()
    right = _indicator(y, k)
    wrong = cp.Variable((len(y), k), nonneg=True)
    sums = cp.sum(wrong, axis=1, keepdims=True)
    Q = wrong - cp.multiply(sums @ np.ones((1, k)), right)
    spectrum = cp.sigma_max(coordinates_of_gram(K).Z.T @ Q)
    value = _solve(cp, cp.Maximize(cp.sum(wrong)), [cp.multiply(wrong, right) == 0, sums <= C, spectrum <= 1])
    return Q.value, value


def recover(K: Doubles, Q: Doubles, y: Labels, C: float) -> tuple[Doubles, float]:
    """(a (n, k) such that W = X'a is an optimum, its objective), from the optimum Q of the dual.

    By Theorem 1 a = Q V D V' with the eigenvectors V of Q'KQ and a diagonal D, which a small linear program finds.
    Eigenvectors of equal eigenvalues are not unique, though, and those that belong to W have the eigenvalue 1: if the
    diagonal falls short of the dual's optimum, the sum of Q's positive entries, the same is done with any symmetric
    matrix in the place of V D V'.
    """
    weights, value = recover_diagonal(K, Q, y, C)
    optimum = Q[Q > 0].sum()
    return (weights, value) if value <= optimum + 1e-6 * abs(optimum) else recover_symmetric(K, Q, y, C)


def recover_diagonal(K: Doubles, Q: Doubles, y: Labels, C: float) -> tuple[Doubles, float]:
    """(Q V D V' (n, k), its objective), over diagonal D."""
    cp = _cvxpy()
    V = np.linalg.eigh(Q.T @ K @ Q)[1]
    D = cp.Variable(len(V))
    value = _solve(cp, cp.Minimize(cp.norm1(D) + C * _hinge(cp, (K @ Q @ V) @ cp.diag(D) @ V.T, y)))
    return Q @ (V * D.value) @ V.T, value


def recover_symmetric(K: Doubles, Q: Doubles, y: Labels, C: float) -> tuple[Doubles, float]:
    """(-Q M (n, k), its objective), over M (k, k) that is symmetric with no negative eigenvalue.

    As no singular value of X'Q is above 1, the trace of M is at least the trace norm of W, and equal at the optimum.
    """
    cp = _cvxpy()
    M = cp.Variable((Q.shape[1], Q.shape[1]), PSD=True)
    value = _solve(cp, cp.Minimize(cp.trace(M) + C * _hinge(cp, -(K @ Q) @ M, y)))
    return -Q @ M.value, value


def _hinge(cp: Any, S: Any, y: Labels) -> Any:
    """sum_i max_c (s_ic - s_iy + [c != y_i]), of an expression S (n, k)."""
    right = _indicator(y, S.shape[1])
    of_right = cp.sum(cp.multiply(S, right), axis=1, keepdims=True) @ np.ones((1, S.shape[1]))
    return cp.sum(cp.max(S - of_right + (1 - right), axis=1))


def _indicator(y: Labels, k: int) -> Doubles:
    right: Doubles = (np.arange(k) == y[:, None]).astype(np.float64)
    return right


def _solve(cp: Any, goal: Any, constraints: Any = ()) -> float:
    problem = cp.Problem(goal, list(constraints))
    problem.solve(solver="CLARABEL")
    return float(problem.value)


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError('exact solutions need cvxpy, which is missing; pip install "manyclass[exact]"') from error
    return cvxpy

"""The fastest way to the trace norm that we know: descent on the factors of W, and a certificate from W itself.

The trace norm of W is the least (|A|^2 + |B|^2) / 2 over W = A B'. With enough columns the smooth problem in A and B
has no local minima but the global one (Burer and Monteiro, 2003; Haeffele and Vidal, 2015), and L-BFGS solves it in
few products of X with r columns. A gradient by W then proves that the columns were enough, or tells which to add.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import one_thread
from manyclass.data.tiles import Floats
from manyclass.solvers import quasi_newton
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.certificate import certify, scale, solved
from manyclass.solvers.factored_loss import FactoredLoss
from manyclass.solvers.intercept import settled
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Point, Product, balanced, zero
from manyclass.solvers.solution import Run
from manyclass.solvers.subspace import Triple, top_pairs

Doubles = NDArray[np.float64]

FIRST_RANK = 64  # columns to start with, at most; and no more than half of the rows or columns of W
_BACK = 3
_LOOSE = 0.03  # of the objective: a gap small enough to see which columns are missing
_ROWS = 512  # that are enough to choose the length of a first step
_SAMPLE = 512  # rows that are enough to know the size of X, and how the loss is bent
_NEAR = 0.01  # of a step that is tried: near enough to see how the loss is bent where it begins
_FLOOR = 0.03  # of the largest singular value: columns shorter than that have no longer units


def factored(
    objective: Objective, run: Run, base: Baseline, start: Point | None, tolerance: float, max_iter: int
) -> str:
    """Minimize over W of any rank; what ended it."""
    strength = objective.gauge.strength if objective.gauge else 0.0
    point = balanced(start) if start is not None else zero(objective, base.b)
    point = point if point.A.shape[1] else _grown(objective, point, base.gradient, strength, _first_rank(objective))
    descent, target = _Descent(objective, point), tolerance if start is not None else max(tolerance, _LOOSE)
    while True:
        stuck = descent.run(run, base, target, max_iter)
        point, scores = settled(objective, descent.point(), descent.latent(), _settling(run.value, base, target))
        certificate = certify(objective, point, base, _penalty(objective, point), scores)
        run.certified(point, certificate)
        if solved(run.gap, certificate.objective, base, tolerance, objective.dtype):
            return "optimal"
        if len(run.history) >= max_iter:
            return f"not solved in {max_iter} steps"
        if target <= tolerance and stuck:
            return "as near as rounding allows"
        point = balanced(point)
        grown = _grown(objective, point, certificate.slope, strength, max(8, point.A.shape[1]))
        target = tolerance if target > tolerance else target * _nearer(run.gap, certificate.objective, base, tolerance)
        if stuck or grown.A.shape[1] != descent.rank:
            descent = _Descent(objective, grown)


def _nearer(gap: float, value: float, base: Baseline, tolerance: float) -> float:
    """What to multiply the target by: the gap falls about as fast as what is left to gain."""
    return float(np.clip(0.7 * tolerance * scale(value, base) / max(gap, 1e-300), 0.05, 0.7))


def _settling(value: float, base: Baseline, target: float) -> float:
    # What the gradient by b is, against the shares of classes, costs a dual point about that part of the loss at zero.
    return 0.1 * target * scale(value, base) / max(abs(base.loss), 1e-300)


def _first_rank(objective: Objective) -> int:
    # Columns that turn out to be too many fade away; too few cost a second descent.
    return min(FIRST_RANK, max(8, min(objective.d, objective.k) // 2))


class _Descent:
    """L-BFGS at one rank, which can be taken up again where it was left."""

    def __init__(self, objective: Objective, point: Product):
        sample = objective.of_rows(np.unique(np.linspace(0, objective.n - 1, _SAMPLE).astype(np.intp)))
        units = _units(sample, point)
        self.function = FactoredLoss(objective, *units)
        self.x = self.function.pack(point.A, point.B, point.b)
        slack = 1e-8 if objective.dtype == np.float32 else 1e-15
        length = _first_length(FactoredLoss(sample, *units), self.x, self.function(self.x)[1])
        self.steps = quasi_newton.descend(self.function, self.x, length, slack=slack)

    @property
    def rank(self) -> int:
        """Columns of A and of B."""
        return self.function.r

    def point(self) -> Product:
        """Where it stands."""
        return self.function.point(self.x)

    def latent(self) -> Floats:
        """X A there (n, r)."""
        return self.function.latent(self.x)

    def run(self, run: Run, base: Baseline, target: float, max_iter: int) -> bool:
        """Steps until what is left to gain is about `target` of what there is; whether rounding ended it before."""
        values: deque[float] = deque(maxlen=_BACK + 1)
        for step in self.steps:
            self.x = step.x
            values.append(step.value)
            run.record(self.point, step.value, rank=self.rank)
            # Experience: about as much is left to gain as the last few steps have gained.
            steps = len(values) - 1
            near = steps > 0 and _BACK * (values[0] - step.value) <= steps * target * scale(step.value, base)
            if near or len(run.history) >= max_iter:
                return False
        return True


def _units(sample: Objective, point: Product) -> tuple[Doubles, float]:
    """Units of the columns of A and B, and of b, in which the same step changes the loss about as much.

    A step of column j of A moves W by as much as column j of B is long: so the shorter that is, the longer its unit.
    """
    with one_thread():
        s = np.linalg.norm(point.A.astype(np.float64), axis=0) * np.linalg.norm(point.B.astype(np.float64), axis=0)
        eigenvalue = _largest_eigenvalue(sample.X.rows(slice(0, sample.n))) / sample.n
    largest = float(s.max(initial=0.0)) or 1.0
    return 1 / np.sqrt(s / largest + _FLOOR), 0.5 * float(np.sqrt(largest * eigenvalue)) or 1.0


def _first_length(function: FactoredLoss, x: Doubles, gradient: Doubles) -> float:
    """To where a function, bent as this one is, would be lowest along a gradient; a tenth of x where it is not bent."""
    most, size = 0.1 * float(np.linalg.norm(x)), float(np.linalg.norm(gradient))
    if not size > 0:
        return most
    t = _NEAR * most / size
    bend = gradient @ (function(x)[1] - function(x - t * gradient)[1]) / t
    return min(most, size**3 / bend) if bend > 0 else most


def _grown(objective: Objective, point: Product, slope: Floats, strength: float, most: int) -> Product:
    """With up to `most` new columns, in directions in which F falls; the point itself where there are none."""
    U, s, V = top_pairs(_outside(slope, point), most)
    new = s > strength * (1 + 1e-6)
    if not new.any():
        return point
    roots = np.sqrt(s[new] - strength)
    triple = (-U[:, new] * roots, roots, V[:, new] * roots)
    t = np.sqrt(_length(objective, point, triple, strength))
    A, B = np.hstack([point.A, t * triple[0]]), np.hstack([point.B, t * triple[2]])
    return Product(A.astype(objective.dtype), B.astype(objective.dtype), point.b)


def _largest_eigenvalue(X: Floats) -> float:
    """Of X'X, to about a tenth, by power iteration."""
    v, found = np.ones(X.shape[1], X.dtype), 0.0
    for _ in range(10):
        v = X.T @ (X @ (v / max(float(np.linalg.norm(v)), 1e-30)))
        found = float(np.linalg.norm(v))
    return found


def _penalty(objective: Objective, point: Product) -> float:
    """That of the trace norm and the ridge, by the few singular values."""
    s, strength = point.factors()[1], objective.gauge.strength if objective.gauge else 0.0
    return strength * float(s.sum()) + objective.ridge.strength * float(s @ s)


def _outside(G: Floats, point: Product) -> Floats:
    """G without what the columns and the rows of W span."""
    if not point.A.shape[1]:
        return G
    P, Q = (np.linalg.qr(F.astype(np.float64))[0] for F in (point.A, point.B))
    G = G - P @ (P.T @ G)
    out: Floats = G - (G @ Q) @ Q.T
    return out


def _length(objective: Objective, point: Product, triple: Triple, strength: float) -> float:
    """The t for which W + t A B' is about the best on some of the rows."""
    A, roots, B = triple
    rows = np.unique(np.linspace(0, objective.n - 1, _ROWS).astype(np.intp))
    X, y, p = objective.X.rows(rows), objective.rows.y[rows], objective.rows.p[rows]
    S = ((X @ point.A) @ point.B.T + point.b).astype(objective.dtype)
    D = (X @ A.astype(objective.dtype)) @ B.T.astype(objective.dtype)
    cost = strength * float(roots @ roots)
    share = max(float(p.sum()), 1e-300)

    def value(t: float) -> float:
        return float(p @ objective.rows.loss.value_and_gradient(S + D.dtype.type(t) * D, y)[0]) / share + t * cost

    slowest = objective.rows.loss.curvature * float(np.mean(D * D)) * objective.k
    t = float(np.sum(roots**4)) / slowest / 4 if slowest > 0 else 1.0
    last = value(t)
    while (next_value := value(4 * t)) < last:
        t, last = 4 * t, next_value
    return t

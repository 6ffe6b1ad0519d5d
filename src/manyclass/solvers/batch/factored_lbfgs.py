"""L-BFGS on the factors of W = A B' at one rank: with (|A|^2 + |B|^2) / 2 for the trace norm the problem is smooth."""

from collections import deque
from typing import NamedTuple

import numpy as np

from manyclass._core.algebra.linalg import power_iteration
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch.lbfgs import lbfgs
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import LowRankWeights
from manyclass.solvers.batch.solution import SolverRun, scale
from manyclass.solvers.problem import Objective


class Units(NamedTuple):
    """Of the columns of A and B (r,), of c, and the row m (d,) at which c is the score: b = c - B A'm."""

    columns: Doubles
    intercept: float
    center: Doubles


class FactoredLoss:
    """F(A, B, b) = mean loss of X A B' + b, plus strength / 2 (|A|^2 + |B|^2), plus ridge |A B'|^2.

    Its least value over all factors of W is F(W, b), where A and B share the singular values of W evenly. One
    evaluation multiplies X by r columns and X' by r columns, and holds no scores but those of a chunk of rows.
    The unknowns are A, B and c: with X's mean row as the center, steps of A and B leave the mean scores alone.
    """

    def __init__(self, objective: Objective, units: Units):
        self.objective = objective
        self.r = len(units.columns)
        self.units = units
        self.strength = objective.gauge.strength if objective.gauge else 0.0
        self.evaluations = 0
        self._last: tuple[Doubles, tuple[float, Doubles]] | None = None

    def pack(self, A: Floats, B: Floats, b: Doubles) -> Doubles:
        """One vector of all unknowns."""
        columns, unit, m = self.units
        c = (b + B @ (A.T @ m)) / unit
        return np.concatenate([(A / columns).ravel(), (B / columns).ravel(), c]).astype(np.float64)

    def unpack(self, x: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """A (d, r), B (k, r), b (k,)."""
        d, k, r = self.objective.d, self.objective.k, self.r
        a, b, c = np.split(x, [d * r, d * r + k * r])
        A, B = a.reshape(d, r) * self.units.columns, b.reshape(k, r) * self.units.columns
        return A, B, c * self.units.intercept - B @ (A.T @ self.units.center)

    def point(self, x: Doubles) -> LowRankWeights:
        """The point that a vector stands for."""
        A, B, b = self.unpack(x)
        return LowRankWeights(A.astype(self.objective.dtype), B.astype(self.objective.dtype), b)

    def __call__(self, x: Doubles) -> tuple[float, Doubles]:
        """The value and the gradient, one vector; the last are remembered."""
        if self._last is None or self._last[0] is not x:
            self._last = x, self._evaluate(x)
        return self._last[1]

    def _evaluate(self, x: Doubles) -> tuple[float, Doubles]:
        self.evaluations += 1
        A, B, _ = self.unpack(x)
        loss, by_A, dB, db = self.objective.sums.factor_gradient(self.point(x))
        dA = by_A.astype(np.float64)
        AA, BB = A.T @ A, B.T @ B
        ridge = self.objective.ridge.strength
        value = loss + self.strength / 2 * (np.trace(AA) + np.trace(BB)) + ridge * float((AA * BB).sum())
        dA += self.strength * A + 2 * ridge * A @ BB
        dB += self.strength * B + 2 * ridge * B @ AA
        if not self.objective.fit_intercept:
            db[:] = 0
        columns, unit, m = self.units
        dA -= np.outer(m, db @ B)
        dB -= np.outer(db, m @ A)
        return float(value), np.concatenate([(dA * columns).ravel(), (dB * columns).ravel(), db * unit])


# Steps: about as much is left to gain as the last three have gained, as seen on docs/benchmarks/trace_norm.
_WINDOW = 3

_PATIENCE = 16  # steps that cost about as much as a duality gap

_FIRST_GAINS = 5  # times what a parabola promises of the first step is expected of it: the loss is flatter farther on

_SAMPLE = 512  # rows that are enough to know the scale of X and the curvature of the loss

_PROBE = 0.01  # of the longest first step: near enough to see the curvature where it begins

_FIRST_STEP = 1.5  # times the minimum of the parabola: saved two of thirteen evaluations on docs/benchmarks/trace_norm

_UNIT_FLOOR = 0.03  # of the largest singular value: columns shorter than that have no longer units


class FactoredDescent:
    """L-BFGS at one rank, which can be taken up again where it was left."""

    def __init__(self, objective: Objective, base: NullModel, point: LowRankWeights):
        sample = objective.of_rows(np.unique(np.linspace(0, objective.n - 1, _SAMPLE).astype(np.intp)))
        units = _units(sample.X.rows(slice(0, sample.n)), base.center, point)
        self.function = FactoredLoss(objective, units)
        self.x = self.function.pack(point.A, point.B, point.b)
        slack = 1e-8 if objective.dtype == np.float32 else 1e-15
        gradient = self.function(self.x)[1]
        length = _first_length(FactoredLoss(sample, units), self.x, gradient)
        self.gain = length * float(np.linalg.norm(gradient)) / 2  # of the first step, if the curvature stays the same
        self.steps = lbfgs(self.function, self.x, _FIRST_STEP * length, slack=slack)
        self.values: deque[float] = deque(maxlen=_WINDOW + 1)
        # |gradient| |x| against what there is, about twice the gap where there is no ridge; and what it may be.
        self.relative_gradient, self.max_relative_gradient = np.inf, np.inf

    @property
    def rank(self) -> int:
        """Columns of A and of B."""
        return self.function.r

    def point(self) -> LowRankWeights:
        """Where it stands."""
        return self.function.point(self.x)

    def expects_more_than(self, base: NullModel, target: float) -> bool:
        """Whether more than `target` of what there is seems left to gain at the start."""
        return _WINDOW * self.gain > target * scale(self.function(self.x)[0], base)

    def run(self, run: SolverRun, base: NullModel, target: float, max_iter: int) -> bool:
        """Steps until what is left to gain is about `target` of what there is; whether rounding ended it before.

        Where the relative gradient is still above its maximum then, it goes on, but for no more than half as many steps
        again: on some problems it tells little.
        """
        first = len(run.history)
        near = np.inf  # where little was left for the first time
        for step in self.steps:
            self.x = step.x
            self.values.append(step.value)
            run.record(self.point, step.value, rank=self.rank)
            whole, steps = max(scale(step.value, base), 1e-300), len(run.history)
            self.relative_gradient = float(np.linalg.norm(step.gradient) * np.linalg.norm(step.x)) / whole
            near = min(near, steps) if self._expected_gain() <= target * whole else near
            enough = self.relative_gradient <= self.max_relative_gradient or steps - near >= max(
                _PATIENCE, (near - first) / 2
            )
            if (near <= steps and enough) or steps >= max_iter:
                return False
        return True

    def _expected_gain(self) -> float:
        steps = len(self.values) - 1
        return _WINDOW * ((self.values[0] - self.values[-1]) / steps if steps else _FIRST_GAINS * self.gain)


def _units(X: Floats, mean: Doubles, point: LowRankWeights) -> Units:
    """Those in which the same step of column j of A, of B, or of b changes the loss about as much.

    A step of column j of A moves W by as much as column j of B is long: so the shorter that is, the longer its unit.
    """
    with one_blas_thread():
        s = sizes(point)
        eigenvalue = _largest_eigenvalue(X - mean.astype(X.dtype)) / len(X)
    largest = float(s.max(initial=0.0)) or 1.0
    return Units(1 / np.sqrt(s / largest + _UNIT_FLOOR), 0.5 * float(np.sqrt(largest * eigenvalue)) or 1.0, mean)


def sizes(point: LowRankWeights) -> Doubles:
    """The length of each column of A times that of the same of B (r,)."""
    a, b = (np.linalg.norm(F.astype(np.float64), axis=0) for F in (point.A, point.B))
    return np.asarray(a * b)


def _first_length(function: FactoredLoss, x: Doubles, gradient: Doubles) -> float:
    """To where a parabola of this curvature is lowest along a gradient; a tenth of x where there is no curvature."""
    most, size = 0.1 * float(np.linalg.norm(x)), float(np.linalg.norm(gradient))
    if not min(size, most) > 0:
        return most
    t = _PROBE * most / size
    curvature = float(gradient @ (function(x)[1] - function(x - t * gradient)[1])) / t
    return min(most, size**3 / curvature) if curvature > 0 else most


def _largest_eigenvalue(X: Floats) -> float:
    """Of X'X, to about a tenth."""
    return float(np.linalg.norm(power_iteration(lambda v: X.T @ (X @ v), np.ones(X.shape[1], X.dtype), rounds=10)))

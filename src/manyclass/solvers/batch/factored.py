"""The fastest way to the trace norm that we know: descent on the factors of W, and a certificate from W itself.

The trace norm of W is the least (|A|^2 + |B|^2) / 2 over W = A B'. With enough columns the smooth problem in A and B
has no local minima but the global one (Burer and Monteiro, 2003; Haeffele and Vidal, 2015), and L-BFGS solves it in
few products of X with r columns. A gradient by W then proves that the columns were enough, or tells which to add.
"""

import numpy as np

from manyclass._core.algebra.singular import Triple, singular_pairs_above, top_singular_pairs
from manyclass._core.typing import Doubles, Floats
from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.factored_lbfgs import FactoredDescent, sizes
from manyclass.solvers.batch.intercept import InterceptLoss, intercept_tolerance
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import LowRankWeights, Weights, balance_factors, zero_weights
from manyclass.solvers.batch.solution import SolverRun, Status, is_solved, scale
from manyclass.solvers.problem import Objective

# Columns to start with, at most, and no more than half of the rows or columns of W. Too few cost a second descent, too
# many fade away: measured, 4,000 x 512, 200 classes of rank 20, 32 take 0.8 s, 64 1.4 to 1.7 s and 128 2.9 s.
FIRST_RANK = 64

# Of the objective: a gap small enough to see which columns are missing. It trades steps at too low a rank against steps
# at too high a one. Not tuned finely: there, where 64 columns suffice, 0.0003 to 0.03 take the same passes.
_FIRST_TOLERANCE = 0.003

# Times the tolerance: without a ridge the gap is about half of |gradient| |x| against the objective, and no duality gap
# is worth its products with X before that is small. Measured there: 0.5 to 8 take the same passes.
_MAX_RELATIVE_GRADIENT = 2

# A duality gap above the tolerance aims the next one at this fraction of the tolerance. Measured there: 0.4 to 0.9 take
# 137 to 139 passes.
_MARGIN = 0.7

_SAMPLE_ROWS = 512  # that choose the length of new columns; measured there: 128, 512, 2,048 take 150, 137, 242 passes


def factored(
    objective: Objective, run: SolverRun, base: NullModel, start: Weights | None, tolerance: float, max_iter: int
) -> Status:
    """Minimize over W of any rank; what ended it."""
    point = balance_factors(start) if start is not None else zero_weights(objective, base.b)
    descent = FactoredDescent(objective, base, point if point.A.shape[1] else _initial_factors(objective, base))
    if tolerance < _FIRST_TOLERANCE and descent.expects_more_than(base, _FIRST_TOLERANCE):
        descent = _run_until_columns_suffice(objective, run, base, descent, max_iter)
    return _run_until_solved(objective, run, base, descent, tolerance, max_iter)


def _run_until_columns_suffice(
    objective: Objective, run: SolverRun, base: NullModel, descent: FactoredDescent, max_iter: int
) -> FactoredDescent:
    """Run until it can be seen which columns are missing, and take them in; again, where there may be more of them."""
    while True:
        descent.run(run, base, _FIRST_TOLERANCE, max_iter)
        point = descent.point()
        _, gradient, gradient_b = objective.gradient(point)
        gradient += objective.ridge.gradient(point.to_dense()).astype(gradient.dtype)
        larger = _descent_with_missing_columns(objective, base, point, _centered_gradient(base, gradient, gradient_b))
        if larger is None:
            return descent
        before, descent = descent.rank, larger
        if descent.rank < 2 * before or len(run.history) >= max_iter:
            return descent


def _run_until_solved(
    objective: Objective, run: SolverRun, base: NullModel, descent: FactoredDescent, tolerance: float, max_iter: int
) -> Status:
    """Run until a duality gap proves the optimum, tightening the target from one to the next; what ended it."""
    target = tolerance * _tolerance_fraction(objective, descent.point())
    ridge = objective.ridge.strength > 0
    descent.max_relative_gradient = np.inf if ridge else _MAX_RELATIVE_GRADIENT * tolerance
    before = np.inf  # the gap when rounding last ended a descent
    while True:
        stuck = descent.run(run, base, target, max_iter)
        point = descent.point()
        penalty = _penalty(objective, point)
        tolerated = intercept_tolerance(run.value, base, target)
        point = refit_intercept(objective, point, tolerated)
        certificate = duality_gap(objective, point, base, penalty)
        run.certify(point, certificate)
        if is_solved(run.gap, certificate.objective, base, tolerance, objective.dtype):
            return Status.OPTIMAL
        if len(run.history) >= max_iter:
            return Status.ITERATION_LIMIT
        if stuck and run.gap > before / 2:
            return Status.PRECISION_LIMIT
        before = run.gap if stuck else before
        factor = _target_factor(run.gap, certificate.objective, base, tolerance)
        target *= factor
        # With a ridge the gap is about the square of a gradient, without one the gradient itself.
        most = (float(np.sqrt(factor)) if ridge else factor) * descent.relative_gradient
        gradient = _centered_gradient(base, certificate.gradient, certificate.gradient_b)
        larger = _descent_with_missing_columns(objective, base, point, gradient)
        if larger is not None:
            descent = larger
        elif stuck:
            descent = FactoredDescent(objective, base, balance_factors(point))
        descent.max_relative_gradient = most


def _centered_gradient(base: NullModel, gradient: Floats, gradient_b: Doubles) -> Floats:
    """The gradient by W where b keeps the scores of the mean row: what b has yet to gain is not for columns to gain."""
    return gradient - np.outer(base.mean.astype(gradient.dtype), gradient_b.astype(gradient.dtype))


def _tolerance_fraction(objective: Objective, point: LowRankWeights) -> float:
    """Which part of the tolerance should be left to gain when a certificate is tried.

    A ridge forgives a gradient outside the ball of the gauge; without one the gap is several times what is left.
    """
    strength = objective.gauge.strength if objective.gauge else 0.0
    largest = float(sizes(point).max(initial=0.0))
    return float(np.clip(4 * objective.ridge.strength * largest / max(strength, 1e-300), 0.2, 1.0))


def _target_factor(gap: float, value: float, base: NullModel, tolerance: float) -> float:
    """What to multiply the target by: the gap falls about as fast as what is left to gain."""
    return float(np.clip(_MARGIN * tolerance * scale(value, base) / max(gap, 1e-300), 0.05, _MARGIN))


def _initial_factors(objective: Objective, base: NullModel) -> LowRankWeights:
    """Columns from the gradient at W = 0."""
    # Those that turn out to be too many fade away; too few cost a second descent.
    most = min(FIRST_RANK, max(8, min(objective.d, objective.k) // 2))
    whole_registers = most - most % 16 if most > 16 else most
    strength = objective.gauge.strength if objective.gauge else 0.0
    U, s, V = top_singular_pairs(base.gradient, whole_registers)
    new = s > strength + _gradient_rounding(objective, base)
    return _add_columns(objective, base, zero_weights(objective, base.b), (U[:, new], s[new] - strength, V[:, new]))


def _descent_with_missing_columns(
    objective: Objective, base: NullModel, point: LowRankWeights, gradient: Floats
) -> FactoredDescent | None:
    """One with the columns that the gradient shows to be missing; None where there are none."""
    point = balance_factors(point)
    strength = objective.gauge.strength if objective.gauge else 0.0
    least = strength * (1 + 1e-6) + _gradient_rounding(objective, base)
    # What the columns and the rows of W span is none of theirs.
    P, Q = point.A / np.linalg.norm(point.A, axis=0), point.B / np.linalg.norm(point.B, axis=0)
    gradient = gradient - P @ (P.T @ gradient)
    gradient = gradient - (gradient @ Q) @ Q.T
    U, s, V = singular_pairs_above(gradient, least, max(8, point.A.shape[1]))
    return (
        FactoredDescent(objective, base, _add_columns(objective, base, point, (U, s - strength, V))) if len(s) else None
    )


def _gradient_rounding(objective: Objective, base: NullModel) -> float:
    """What the rounding of sums that should cancel leaves of the mean row: a smaller gradient tells nothing."""
    return float(np.finfo(objective.dtype).eps) * float(np.linalg.norm(base.center))


def _add_columns(objective: Objective, base: NullModel, point: LowRankWeights, missing: Triple) -> LowRankWeights:
    """With new columns: along - U V' of each missing pair F falls, at first by its s; b keeps the mean scores."""
    U, s, V = missing
    if not len(s):
        return point
    roots = np.sqrt(s)
    t = np.sqrt(_column_scale(objective, base, point, (-U * roots, roots, V * roots)))
    A, B = -t * U * roots, t * V * roots
    b = point.b - B @ (A.T @ base.center)
    wide_A, wide_B = (np.hstack(pair).astype(objective.dtype) for pair in ((point.A, A), (point.B, B)))
    return LowRankWeights(wide_A, wide_B, b)


def _penalty(objective: Objective, point: LowRankWeights) -> float:
    """That of the trace norm and the ridge, by the few singular values."""
    s, strength = point.factors()[1], objective.gauge.strength if objective.gauge else 0.0
    return strength * float(s.sum()) + objective.ridge.strength * float(s @ s)


def _column_scale(objective: Objective, base: NullModel, point: LowRankWeights, triple: Triple) -> float:
    """The t for which F(W + t A B') is about the least, with a b that keeps the scores of the mean row.

    The derivative of F along A B' is known, that of the penalty included; its curvature is seen on some of the rows.
    """
    A, roots, B = triple
    rows = np.unique(np.linspace(0, objective.n - 1, _SAMPLE_ROWS).astype(np.intp))
    X, y, p = objective.X.rows(rows), objective.rows.y[rows], objective.rows.p[rows]
    S = ((X @ point.A) @ point.B.T + point.b).astype(objective.dtype)
    D = ((X - base.center) @ A @ B.T).astype(objective.dtype)
    total, squares = max(float(p.sum()), 1e-300), float(np.sum(roots**4))
    loss = objective.rows.loss
    along = -squares - float(p @ np.einsum("nk,nk->n", D, loss.value_and_gradient(S, y)[1])) / total

    def value(t: float) -> float:
        sample = float(p @ loss.value_and_gradient(S + D.dtype.type(t) * D, y)[0]) / total
        return sample + t * along + t * t * objective.ridge.strength * squares

    slowest = loss.curvature * float(np.mean(D * D)) * objective.k
    # Some rows may know nothing of a column; but a parabola falls by half of what its derivative promises.
    most = 2 * abs(base.loss) / squares
    t = min(squares / slowest / 4, most) if slowest > 0 else most
    last = value(t)
    while 2 * t <= most and (next_value := value(2 * t)) < last:
        t, last = 2 * t, next_value
    return t


def refit_intercept(objective: Objective, point: LowRankWeights, tolerance: float) -> LowRankWeights:
    """The same W with a b near its best: no class has a gradient above `tolerance` of its fraction of the rows."""
    if not objective.fit_intercept:
        return point
    without = LowRankWeights(point.A, point.B, np.zeros(objective.k))
    return LowRankWeights(point.A, point.B, InterceptLoss(objective, without).best(point.b, tolerance))

"""Exact leave-one-out of a closed form: what the machines of all other rows say of a row, for every strength.

The strength is chosen by it. All rows for all strengths would cost n d k operations each, more than the fit itself, so
some rows are left out, the same for every strength: their coordinates are found once, and a strength costs a product of
them with k columns. Decades of strengths are tried first, then half decades beside the best. Scores are linear in the
scale of a center, so that the scale of least squared error, none below 0, is known for every strength.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import spans
from manyclass.solvers.class_moments import weighted_rows
from manyclass.solvers.closed_form import RidgeSystem, closed_form, targets
from manyclass.solvers.problem import Problem

_ROWS = 256  # whose scores are worked on at a time

# Rows to choose by. 384 cost a fifth of a fit of 3,030 x 1,280; 1,024 choose better (leaves: 86.0 instead of 83.2 %),
# so there are as many where coordinates are few, or rows many.
_FEWEST, _MOST, _NUMBERS, _FRACTION = 384, 1024, 491_520, 16

# Decades of strengths, the first times the usual eigenvalue and the last times their mean: the best was at -2 to 0 on
# nine sets of data. The search goes on while the best is at an end.
_WEAKEST, _STRONGEST, _FARTHEST = -3, 1, (-10, 6)


@dataclass(frozen=True)
class LeftOut:
    """How each strength does on rows that are left out one by one: means over rows, by their weights."""

    strengths: Doubles  # (s,)
    losses: Doubles  # (s,): of the squared errors, over classes too
    accuracies: Doubles  # (s,)
    n: int  # rows that were left out
    scales: Doubles | None = None  # (s,), of a center

    def beside(self, other: "LeftOut") -> "LeftOut":
        """These strengths and others, on the same rows, weakest first."""
        mine, theirs = (
            (one.strengths, one.losses, one.accuracies, *([] if one.scales is None else [one.scales]))
            for one in (self, other)
        )
        both = np.array([np.concatenate(pair) for pair in zip(mine, theirs, strict=True)])
        strengths, losses, accuracies, *scales = both[:, np.argsort(both[0], kind="stable")]
        return LeftOut(strengths, losses, accuracies, self.n, *scales)

    def records(self) -> list[dict[str, Any]]:
        """Strength by strength, as plain numbers."""
        columns = (self.strengths.tolist(), self.losses.tolist(), self.accuracies.tolist())
        found: list[dict[str, Any]] = [
            {"regularization": strength, "loss": loss, "accuracy": min(accuracy, 1.0), "rows": self.n}  # sums of shares
            for strength, loss, accuracy in zip(*columns, strict=True)
        ]
        for record, scale in zip(found, [] if self.scales is None else self.scales.tolist(), strict=False):
            record["center_scale"] = scale
        return found

    def best(self) -> int:
        """The strength to take: of those that are right as often, but for half a standard error, the least loss.

        The loss alone is no sign of how many are right: it took 3 points off 86 % for leaves (669 rows, 99 classes).
        Nor do a few rows left out tell small differences of that: it took 1 point off 46 % for Omniglot (5 rows a
        class). Both together were within 0.4 points of the best strength on eight sets of data, and 1.0 on that one.
        """
        top = min(1.0, float(self.accuracies.max()))
        near = self.accuracies >= top - 0.5 * np.sqrt(top * (1 - top) / self.n)
        least = float(self.losses[near].min())
        # A thousandth of the loss is no reason for a weaker penalty.
        return int(np.flatnonzero(near & (self.losses <= 1.001 * least))[-1])


class LeaveOneOut:
    """Some rows of a system, each of which is left out in turn.

    Parameters
    ----------
    system : RidgeSystem
        What was made of all rows.
    problem : Problem
        Rows that are among them; all of them, for a `RowSystem`.
    total : float
        The weight of all rows of the system.
    rows : slice or ndarray of intp, default=None
        Positions among the rows of the problem; with None, some that are spread evenly over the classes.
    dtype : dtype, default=None
        The type of their coordinates; float64 by default, and float32 for some rows.
    scale : float or None, default=None
        The scale of the center of the system, if it has one; with None, the best for each strength.
    """

    def __init__(
        self,
        system: RidgeSystem,
        problem: Problem,
        total: float,
        rows: Any = None,
        dtype: Any = None,
        scale: float | None = None,
    ):
        X, labels, c = weighted_rows(problem)
        y = problem.y[problem.index]
        # float32 is enough to compare strengths: it moves a leverage by 1e-4 of itself at the weakest that are sought.
        dtype = dtype or (np.float32 if rows is None else np.float64)
        rows = _spread(y, _rows_to_choose_by(len(y), len(system.B))) if rows is None else np.arange(len(y))[rows]
        self.system, self.y, self.p, self.labels = system, y[rows], c[rows] / total, labels.take(rows)
        self.Z = system.coordinates(X, rows, dtype)
        self.scale = scale

    def scores(self, strength: float, B: Floats | None = None, scale: float = 0.0) -> Floats:
        """The scores (m, k) of every row by the machines of all others; B as in `left_out_scores`."""
        pull = _scaled(self.system.pull, scale, self.system.B.dtype if B is None else B.dtype)
        return self.system.left_out_scores(self.Z, self.labels, self.p, strength, B, pull)

    def best_scale(self, strength: float) -> float:
        """The scale of the center at which the squared errors on rows left out are least."""
        B = self.system.B.astype(np.float32)
        pull = _scaled(self.system.pull, 1.0, np.float32)

        def of_block(at: slice) -> tuple[float, float]:
            left_out = partial(self.system.left_out_scores, self.Z[at], self.labels.take(at), self.p[at], strength, B)
            S = left_out()
            E, D = targets(self.labels.take(at), B.shape[1], np.float32) - S, left_out(pull) - S
            with_error, square = np.einsum("mk,mk->m", E, D), np.einsum("mk,mk->m", D, D)
            return float(self.p[at] @ with_error), float(self.p[at] @ square)

        upper, lower = (sum(one) for one in zip(*thread_map(of_block, spans(len(self.y), _ROWS)), strict=True))
        return max(0.0, upper / lower) if lower > 0 else 0.0

    def judge(self, strengths: Doubles) -> LeftOut:
        """How each strength does; scores are in float32, which is enough to compare."""
        B, scales = self.system.B.astype(np.float32), None
        if self.system.pull is not None:
            fixed = self.scale
            scales = np.array([self.best_scale(one) if fixed is None else fixed for one in strengths])

        def of_block(at: slice) -> tuple[Doubles, Doubles]:
            labels, p = self.labels.take(at), self.p[at]
            T, (loss, right) = targets(labels, B.shape[1], np.float32), np.empty((2, len(strengths)))
            for i, strength in enumerate(strengths):
                pull = None if scales is None else _scaled(self.system.pull, scales[i], np.float32)
                S = self.system.left_out_scores(self.Z[at], labels, p, strength, B, pull)
                right[i] = p @ (T[np.arange(len(T)), S.argmax(axis=1)] == 1)
                S -= T
                loss[i] = p @ np.einsum("mk,mk->m", S, S)
            return loss, right

        found = list(thread_map(of_block, spans(len(self.y), _ROWS)))
        losses, rights = (sum(one, np.zeros(len(strengths))) / self.p.sum() for one in zip(*found, strict=True))
        return LeftOut(strengths, losses / B.shape[1], rights, len(self.y), scales)

    def search(self) -> LeftOut:
        """How strengths do that fit the scale of the rows, with the best among them."""
        unusual = int(np.log10(self.system.usual / self.system.scale)) if self.system.usual > 0 else 0
        decades = list(range(max(_FARTHEST[0], unusual + _WEAKEST), _STRONGEST + 1))
        found = self._judge_decades(decades)
        while found.best() == 0 and decades[0] > _FARTHEST[0]:
            decades.insert(0, decades[0] - 1)
            found = found.beside(self._judge_decades(decades[:1]))
        while found.best() == len(decades) - 1 and decades[-1] < _FARTHEST[1]:
            more = self._judge_decades([decades[-1] + 1])
            # A penalty so strong must be good for something: where rows left out tell nothing, all are as good.
            if more.accuracies[0] <= found.accuracies[-1] and more.losses[0] > 0.999 * found.losses[-1]:
                break
            decades.append(decades[-1] + 1)
            found = found.beside(more)
        middle = decades[found.best()]
        return found.beside(self._judge_decades([middle - 0.5, middle + 0.5]))

    def _judge_decades(self, decades: Any) -> LeftOut:
        return self.judge((self.system.scale or 1.0) * 10.0 ** np.asarray(decades, np.float64))


def _scaled(pull: Doubles | None, scale: float, dtype: Any) -> Floats | None:
    """The pull of a center at this scale; None where there is none."""
    return None if pull is None or scale == 0 else (scale * pull).astype(dtype)


def left_out_scores(problem: Problem, strength: float, center: Doubles | None = None, scale: float = 0.0) -> Doubles:
    """The scores (n, k) of every row by machines of all other rows, in float64."""
    system, _ = closed_form(problem)
    if center is not None:
        system.set_center(center)
    total = float(problem.weights[problem.index].sum(dtype=np.float64))
    blocks = spans(len(problem), max(1, _BLOCK_BYTES // (8 * len(system.B))))
    with one_blas_thread():
        found = [LeaveOneOut(system, problem, total, at).scores(strength, scale=scale) for at in blocks]
        return np.concatenate(found)


_BLOCK_BYTES = 32 << 20  # of coordinates of rows


def some_left_out_scores(
    system: RidgeSystem, problem: Problem, total: float, strength: float, most: int, scale: float = 0.0
) -> tuple[NDArray[np.intp], Floats]:
    """(places (m,) of rows among those of a problem, at most so many, their scores (m, k) by all others, float32)."""
    rows, B = _spread(problem.y[problem.index], min(len(problem), most)), system.B.astype(np.float32)
    blocks = spans(len(rows), max(1, _BLOCK_BYTES // (8 * len(B))))
    with one_blas_thread():
        parts = [LeaveOneOut(system, problem, total, rows[at], np.float32).scores(strength, B, scale) for at in blocks]
    return rows, np.concatenate(parts)


def _rows_to_choose_by(n: int, r: int) -> int:
    """How many of n rows with r coordinates."""
    return min(n, _MOST, max(_FEWEST, _NUMBERS // r, n // _FRACTION))


def _spread(y: NDArray[Any], size: int) -> NDArray[np.intp]:
    """So many rows, spread evenly over the classes y."""
    return np.sort(np.argsort(y, kind="stable")[np.linspace(0, len(y) - 1, size).astype(np.intp)])

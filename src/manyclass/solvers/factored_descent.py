"""L-BFGS on the factors of W: at one rank, in units of its own, until little is left to gain."""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from manyclass._blas import one_thread
from manyclass.data.tiles import Floats
from manyclass.solvers import quasi_newton
from manyclass.solvers.baseline import Baseline
from manyclass.solvers.certificate import scale
from manyclass.solvers.factored_loss import FactoredLoss, Units
from manyclass.solvers.objective import Objective
from manyclass.solvers.points import Product
from manyclass.solvers.solution import Run

Doubles = NDArray[np.float64]

_BACK = 3  # steps that are looked back on
_PATIENCE = 16  # steps that are worth a certificate
_DOUBT = 5  # in what a first step is expected to gain
_SAMPLE = 512  # rows that are enough to know the size of X, and how the loss is bent
_NEAR = 0.01  # of a step that is tried: near enough to see how the loss is bent where it begins
_BOLD = 1.5  # times the first step that would be best were the loss bent the same all along
_FLOOR = 0.03  # of the largest singular value: columns shorter than that have no longer units


class Descent:
    """L-BFGS at one rank, which can be taken up again where it was left."""

    def __init__(self, objective: Objective, base: Baseline, point: Product):
        sample = objective.of_rows(np.unique(np.linspace(0, objective.n - 1, _SAMPLE).astype(np.intp)))
        units = _units(sample, base.center(objective), point)
        self.function = FactoredLoss(objective, units)
        self.x = self.function.pack(point.A, point.B, point.b)
        slack = 1e-8 if objective.dtype == np.float32 else 1e-15
        gradient = self.function(self.x)[1]
        length = _first_length(FactoredLoss(sample, units), self.x, gradient)
        self.gain = length * float(np.linalg.norm(gradient)) / 2  # of the first step, if the function is bent so
        self.steps = quasi_newton.descend(self.function, self.x, _BOLD * length, slack=slack)
        self.values: deque[float] = deque(maxlen=_BACK + 1)
        # |gradient| |x| against what there is, about twice the gap where there is no ridge; and what it may be.
        self.steepness, self.most = np.inf, np.inf

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

    def far(self, base: Baseline, target: float) -> bool:
        """Whether more than `target` of what there is seems left to gain at the start."""
        return _BACK * self.gain > target * scale(self.function(self.x)[0], base)

    def run(self, run: Run, base: Baseline, target: float, max_iter: int) -> bool:
        """Steps until what is left to gain is about `target` of what there is; whether rounding ended it before.

        Where the steepness is still above `most` then, it goes on, but for no more than half as many steps again: on
        some problems it tells little.
        """
        first = len(run.history)
        near = np.inf  # where little was left for the first time
        for step in self.steps:
            self.x = step.x
            self.values.append(step.value)
            run.record(self.point, step.value, rank=self.rank)
            whole, steps = max(scale(step.value, base), 1e-300), len(run.history)
            self.steepness = float(np.linalg.norm(step.gradient) * np.linalg.norm(step.x)) / whole
            near = min(near, steps) if self._left() <= target * whole else near
            enough = self.steepness <= self.most or steps - near >= max(_PATIENCE, (near - first) / 2)
            if (near <= steps and enough) or steps >= max_iter:
                return False
        return True

    def press(self, share: float) -> None:
        """Let the next run end no sooner than at such a share of the steepness."""
        self.most = share * self.steepness

    def _left(self) -> float:
        # Experience: about as much is left to gain as the last few steps have gained.
        steps = len(self.values) - 1
        return _BACK * ((self.values[0] - self.values[-1]) / steps if steps else _DOUBT * self.gain)


def _units(sample: Objective, mean: Doubles, point: Product) -> Units:
    """Those in which the same step of column j of A, of B, or of b changes the loss about as much.

    A step of column j of A moves W by as much as column j of B is long: so the shorter that is, the longer its unit.
    """
    with one_thread():
        s = sizes(point)
        eigenvalue = _largest_eigenvalue(sample.X.rows(slice(0, sample.n)) - mean.astype(sample.dtype)) / sample.n
    largest = float(s.max(initial=0.0)) or 1.0
    return Units(1 / np.sqrt(s / largest + _FLOOR), 0.5 * float(np.sqrt(largest * eigenvalue)) or 1.0, mean)


def sizes(point: Product) -> Doubles:
    """The length of each column of A times that of the same of B (r,)."""
    a, b = (np.linalg.norm(F.astype(np.float64), axis=0) for F in (point.A, point.B))
    return np.asarray(a * b)


def _first_length(function: FactoredLoss, x: Doubles, gradient: Doubles) -> float:
    """To where a function, bent as this one is, would be lowest along a gradient; a tenth of x where it is not bent."""
    most, size = 0.1 * float(np.linalg.norm(x)), float(np.linalg.norm(gradient))
    if not min(size, most) > 0:
        return most
    t = _NEAR * most / size
    bend = float(gradient @ (function(x)[1] - function(x - t * gradient)[1])) / t
    return min(most, size**3 / bend) if bend > 0 else most


def _largest_eigenvalue(X: Floats) -> float:
    """Of X'X, to about a tenth, by power iteration."""
    v, found = np.ones(X.shape[1], X.dtype), 0.0
    for _ in range(10):
        v = X.T @ (X @ (v / max(float(np.linalg.norm(v)), 1e-30)))
        found = float(np.linalg.norm(v))
    return found

"""Stochastic atom descent (Harchaoui, 2013): atoms from mini-batches, and now and then a correction over all rows."""

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Floats
from manyclass.solvers.batch.duality import duality_gap
from manyclass.solvers.batch.null_model import NullModel
from manyclass.solvers.batch.points import Weights
from manyclass.solvers.batch.rank_one import Atoms, armijo, gauge_of, start_atoms
from manyclass.solvers.batch.solution import SolverRun, Status, is_solved
from manyclass.solvers.problem import Objective

BATCH = 256  # rows; measured, 1,500 x 128, 60 classes: 64 to 1,024 come equally far (gaps of 8 to 10 %) in 400 steps

# Mini-batches between corrections. Not tuned; corrections take most of the time: there 400 steps take 4.3 s with 10 and
# 3.0 s with 20.
EVERY = 10


def stochastic_atoms(
    objective: Objective,
    run: SolverRun,
    base: NullModel,
    start: Weights | None,
    tolerance: float,
    max_iter: int,
    batch: int = BATCH,
    random_state: int = 0,
) -> Status:
    """Minimize; what ended it. A step is one mini-batch.

    A correction finds the best weights of all atoms on all rows, and adds the steepest atom there, so that the descent
    goes on where mini-batches have nothing more to tell.
    """
    gauge, objective = gauge_of(objective), objective.here("stochastic")
    rng = np.random.default_rng(random_state)
    atoms = start_atoms(objective, base, start)
    for count in range(1, max_iter + 1):
        rows = np.sort(rng.choice(objective.n, min(batch, objective.n), p=objective.rows.p))
        _add_batch_atom(atoms, _Batch(objective, rows))
        if count % EVERY and count < max_iter:
            continue
        value = atoms.correct()
        point = atoms.point()
        run.record(point, value, atoms=len(atoms.theta))
        certificate = duality_gap(objective, point, base)
        run.certify(point, certificate)
        if is_solved(run.gap, run.value, base, tolerance, objective.dtype):
            return Status.OPTIMAL
        u, v = gauge.atom(-certificate.gradient)
        atoms.add(u[:, None], v[:, None], np.zeros(1))
    return Status.ITERATION_LIMIT


class _Batch:
    """The mean loss over some rows, drawn by their weights and so all of the same weight."""

    def __init__(self, objective: Objective, rows: NDArray[np.intp]):
        self.loss = objective.rows.loss
        self.X, self.y = objective.X.rows(rows), objective.rows.y[rows]
        self.rows = rows

    def value(self, S: Floats) -> float:
        return float(np.mean(self.loss.value_and_gradient(S, self.y)[0]))

    def gradient(self, S: Floats) -> Floats:
        R = self.loss.value_and_gradient(S, self.y)[1]
        G: Floats = self.X.T @ (R / R.dtype.type(len(self.y)))
        return G


def _add_batch_atom(atoms: Atoms, batch: _Batch) -> None:
    """A step along the steepest atom of the batch, its length found on the batch."""
    objective = atoms.objective
    gauge, ridge = objective.gauge, objective.ridge
    point = atoms.point()
    S = objective.held.latent(point.A, apart=True)[batch.rows] @ point.B.T + point.b.astype(point.B.dtype)
    H = batch.gradient(S) + ridge.gradient(atoms.point().to_dense())
    assert gauge is not None
    u, v = gauge.atom(-H)
    derivative = gauge.strength + float(u.astype(np.float64) @ (H @ v))
    if derivative >= 0:
        return
    D = np.outer(batch.X @ u, v)
    cross = ridge.strength * 2 * float(u @ (atoms.point().to_dense() @ v)) if ridge.strength else 0.0

    def value(t: float) -> float:
        return batch.value(S + D.dtype.type(t) * D) + t * (gauge.strength + cross) + ridge.strength * t * t

    size = float(np.mean(D * D)) * objective.k * batch.loss.curvature + ridge.curvature
    t = armijo(value, value(0.0), derivative, -derivative / size if size > 0 else 1.0)
    if t > 0:
        atoms.add(u[:, None], v[:, None], np.array([t]))

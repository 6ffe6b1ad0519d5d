"""Small problems and schedules, and the check that an algorithm on them is what its plain twin is."""

import numpy as np
import pytest
from solvers import twins

import manyclass as mc
from manyclass import _native
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.sampling import Schedule

SCHEDULES = {
    "plain": Schedule(0.3, seed=3),
    "ridge": Schedule(0.3, 0.01, seed=4),
    "decay": Schedule(0.5, 0.02, decays=True, bias_rate=1.0, seed=5),
    "decay without a ridge": Schedule(0.5, 0.0, decays=True, t0=30.0, bias_rate=1.0, seed=8),
    "strong": Schedule(0.4, 1.5, seed=6),
    "balanced": Schedule(0.3, seed=7, balanced=True),
}

SIZES = [{}, {"n": 77, "d": 33, "k": 2}, {"n": 40, "d": 5, "k": 60}, {"n": 300, "d": 130, "k": 23}]


def problem(seed, n=150, d=19, k=7):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(k, d))[y] + rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    whole = Problem.whole(mc.as_matrix(X.astype(np.float32)), y, k, rng.uniform(0.5, 2, n))
    return whole.part(np.flatnonzero(rng.random(n) < 0.9))


def check_sequential(solver, twin_epoch, schedule, seed, sizes, levels=()):
    """Two epochs are those of the twin, with the instruction set in force or with each of those that are named."""
    given = problem(seed, **sizes)
    twin = twins.Twin(given.k, given.d)
    expected = [twin_epoch(twin, given, schedule, epoch) for epoch in range(2)]
    scale = np.abs(twin.W).max()
    for level in levels or [_native.level()]:
        _native.set_level(level)
        machines = LinearWeights.zeros(given.k, given.d)
        lost = [solver.epoch(given, machines, schedule, epoch) for epoch in range(2)]
        assert lost == pytest.approx(expected, rel=1e-4, abs=1e-5)
        machines.fold()
        np.testing.assert_allclose(machines.W, twin.W, atol=1e-4 * scale)
        np.testing.assert_allclose(machines.biases, twin.b, atol=1e-4 * max(scale, np.abs(twin.b).max()))

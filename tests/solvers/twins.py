"""The algorithms of solvers/ as their papers write them: one example after the other, in float64, without blocks."""

import numpy as np

from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.losses.multiclass import Softmax
from manyclass.solvers.sgd.sampling import cumulative_rates


class Twin:
    """Weights W (k, d), biases b (k,), and the number of examples that each class has seen."""

    def __init__(self, k, d):
        self.W, self.b, self.t = np.zeros((k, d)), np.zeros(k), np.zeros(k, int)

    def step(self, schedule, c):
        if not schedule.decays:
            return schedule.step
        t0 = schedule.t0 or 1 / (schedule.regularization * schedule.step)
        return schedule.step / (1 + self.t[c] / t0)


def probabilities(sizes, beta, n=None):
    """With which each class meets one of n examples that is not of it."""
    if beta is None:
        return [1.0] * len(sizes)
    n = sum(sizes) if n is None else n
    absent = min(1, n / len(sizes))
    return [min(1.0, beta * (size or absent) / max(1, n - size)) for size in sizes]


def drawn(P, u):
    """The classes c with one of u, u + 1, u + 2, ... in [P[c], P[c + 1]): so many more are below its end."""
    return np.flatnonzero(np.diff(np.floor(P) + (u < P % 1)))


def one_vs_rest(twin, problem, schedule, epoch, loss, beta):
    """R_OVR with beta negatives per positive."""
    rng = schedule.generator(epoch)
    order = schedule.order(problem, rng)
    offsets = rng.random(len(order))
    own = [set(problem.label_lists(np.array([i])).classes.tolist()) for i in range(len(problem.X))]
    sizes = [sum(c in own[i] for i in order) for c in range(problem.k)]
    P = cumulative_rates(np.array(probabilities(sizes, beta, len(order))))
    X, lost = problem.X.toarray().astype(np.float64), 0.0
    for place, i in enumerate(order):
        for c in {*own[i], *drawn(P, offsets[place])}:
            sign = 1.0 if c in own[i] else -1.0
            z = sign * (twin.W[c] @ X[i] + twin.b[c])
            function = MARGIN_LOSSES[loss]
            lost += problem.weights[i] * float(function.value(np.array(z)))
            pull = -twin.step(schedule, c) * problem.weights[i] * float(function.derivative(np.array(z))) * sign
            twin.W[c] = (1 - twin.step(schedule, c) * schedule.regularization) * twin.W[c] + pull * X[i]
            twin.b[c] += schedule.bias_rate * pull
            twin.t[c] += 1
    return lost / len(problem)


def splitmix(x):
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def draw_other(seed, t, y, k):
    c = (splitmix((seed + t) % 2**64) >> 32) * (k - 1) >> 32
    return c if c < y else c + 1


def choose(violator, z, y, k, seed):
    """(class, weight of the update) by Table 1."""
    if violator == "max":
        c = max((c for c in range(k) if c != y), key=lambda c: z[c])
        return c, float(z[c] + 1 > z[y])
    if violator == "random":
        c = draw_other(seed, 0, y, k)
        return c, float(z[c] + 1 > z[y])
    for draws in range(1, k):
        c = draw_other(seed, draws - 1, y, k)
        if z[c] + 1 > z[y]:
            return c, sum(1 / j for j in range(1, (k - 1) // draws + 1))
    return y, 0.0


def joint(twin, problem, schedule, epoch, violator):
    """R_MUL, R_RNK and R_WAR."""
    rng = schedule.generator(epoch)
    order = schedule.order(problem, rng)
    seeds = rng.integers(0, 1 << 63, len(order), dtype=np.uint64)
    X, lost = problem.X.toarray().astype(np.float64), 0.0
    for i, seed in zip(order, seeds, strict=True):
        y = problem.y[i]
        z = twin.W @ X[i] + twin.b
        c, weight = choose(violator, z, y, problem.k, int(seed))
        step = twin.step(schedule, 0)
        twin.W *= 1 - step * schedule.regularization
        twin.t += 1
        if weight:
            pull = step * weight * problem.weights[i]
            lost += problem.weights[i] * weight * (1 + z[c] - z[y])
            twin.W[y] += pull * X[i]
            twin.W[c] -= pull * X[i]
            twin.b[y] += schedule.bias_rate * pull
            twin.b[c] -= schedule.bias_rate * pull
    return lost / len(problem)


def softmax(twin, problem, schedule, epoch, batch):
    """Mini-batches; the step of a batch is that of its first example."""
    rng = schedule.generator(epoch)
    order = schedule.order(problem, rng)
    X, lost = problem.X.toarray().astype(np.float64), 0.0
    for start in range(0, len(order), batch):
        index = order[start : start + batch]
        values, R = Softmax().value_and_gradient(X[index] @ twin.W.T + twin.b, problem.y[index])
        R *= problem.weights[index][:, None]
        lost += values @ problem.weights[index]
        step = twin.step(schedule, 0)
        twin.W = (1 - step * schedule.regularization) ** len(index) * twin.W - step * R.T @ X[index]
        twin.b -= step * schedule.bias_rate * R.sum(axis=0)
        twin.t += len(index)
    return lost / len(problem)

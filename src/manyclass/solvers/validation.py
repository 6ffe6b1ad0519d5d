"""What is held out, and how a machine is judged on it."""

from collections.abc import Callable

import numpy as np

from manyclass.solvers.machines import Machines
from manyclass.solvers.problem import Problem


def mean_class_accuracy(problem: Problem) -> Callable[[Machines], float]:
    """The share of examples given their own class, in each class, averaged over the classes that occur."""
    y = problem.y[problem.index]
    counts = np.bincount(y, minlength=problem.k)

    def judge(machines: Machines) -> float:
        right = machines.best_classes(problem.X, problem.index) == y
        hits = np.bincount(y[right], minlength=problem.k)
        return float((hits[counts > 0] / counts[counts > 0]).mean())

    return judge


def hold_out(problem: Problem, fraction: float, rng: np.random.Generator) -> tuple[Problem, Problem]:
    """(rest, held out): about this fraction of every class, none of classes with one example."""
    y = problem.y[problem.index]
    shuffled = rng.permutation(len(problem))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    counts = np.bincount(y, minlength=problem.k)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    # At least one of each class that can spare one, and never the last.
    share = np.clip(np.rint(fraction * counts), 1, np.maximum(counts - 1, 0)).astype(int)
    out = np.zeros(len(y), bool)
    out[by_class[rank < np.repeat(share, counts)]] = True
    return problem.part(problem.index[~out]), problem.part(problem.index[out])


def sample(problem: Problem, size: int, rng: np.random.Generator) -> Problem:
    """At most `size` examples, in the order of X."""
    if len(problem) <= size:
        return problem
    return problem.part(np.sort(rng.choice(problem.index, size, replace=False)))


def usual_squares(problem: Problem, rng: np.random.Generator, size: int = 512) -> tuple[float, float]:
    """|x|^2 as it usually is, the unit in which steps are measured; and the share of it in which rows differ.

    On a sample. The median, for which a few rows of another size do not count; the mean where most rows are zero.
    """
    index = sample(problem, size, rng).index
    step = max(1, (1 << 18) // max(1, problem.d))
    squares, total = [np.zeros(0)], np.zeros(problem.d)
    for rows in (problem.X.rows(index[i : i + step]) for i in range(0, len(index), step)):
        squares.append(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        total += rows.sum(axis=0, dtype=np.float64)
    usual = np.concatenate(squares)
    if not len(usual):
        return 1.0, 1.0
    mean, square = total / len(usual), usual.mean()
    return float(np.median(usual) or square), 1 - float(mean @ mean / square) if square else 1.0

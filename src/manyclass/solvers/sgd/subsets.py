"""Subsets of the examples: held out by class, or a sample; and how long rows usually are."""

import numpy as np

from manyclass.solvers.problem import Problem


def hold_out(problem: Problem, fraction: float, rng: np.random.Generator) -> tuple[Problem, Problem]:
    """(rest, held out): about this fraction of every class, none of classes with one example.

    The rule of `datasets.splits.stratified_split` in draws of its own: for ten thousand classes without a loop, and
    models of a seed hang on these draws.
    """
    y = problem.y[problem.index]
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    counts = np.bincount(y, minlength=problem.k)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    # At least one of each class that can spare one, and never the last.
    held = np.clip(np.rint(fraction * counts), 1, np.maximum(counts - 1, 0)).astype(int)
    out = np.zeros(len(y), bool)
    out[by_class[rank < np.repeat(held, counts)]] = True
    return problem.part(problem.index[~out]), problem.part(problem.index[out])


def sample_classes(problem: Problem, size: int, rng: np.random.Generator) -> Problem:
    """About `size` examples, in the order of X: as many of each class, and all of those that have fewer.

    The mean accuracy over classes is then as sure as so many examples can make it.
    """
    if len(problem) <= size:
        return problem
    y = problem.y[problem.index]
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    counts = np.bincount(y, minlength=problem.k)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = by_class[np.argsort(rank, kind="stable")[:size]]
    return problem.part(problem.index[np.sort(first)])


def sample_rows(problem: Problem, size: int, rng: np.random.Generator) -> Problem:
    """At most `size` examples, in the order of X."""
    if len(problem) <= size:
        return problem
    return problem.part(np.sort(rng.choice(problem.index, size, replace=False)))


def median_squared_norm(problem: Problem, rng: np.random.Generator, size: int = 512) -> float:
    """|x|^2 as it usually is, the unit in which steps are measured.

    On a sample. The median, for which a few rows of another size do not count; the mean where most rows are zero.
    """
    index = sample_rows(problem, size, rng).index
    step = max(1, (1 << 18) // max(1, problem.d))
    blocks = (problem.X.rows(index[i : i + step]) for i in range(0, len(index), step))
    squares = (np.einsum("ij,ij->i", rows, rows, dtype=np.float64) for rows in blocks)
    usual = np.concatenate([np.zeros(0), *squares])
    if not len(usual):
        return 1.0
    return float(np.median(usual) or usual.mean())

"""What an epoch shows: how far a step goes, the order of the examples, and how many negatives each class meets."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import aligned_empty, mapped_empty
from manyclass._core.typing import Doubles
from manyclass.solvers.problem import Problem

# Rows that are read at a time: enough to pay for starting threads, little beside the data.
_CHUNK_BYTES = (1 << 20, 8 << 20)

# More, a quarter of the weights but no more than this, where the weights are beyond all caches: they are read and
# written once for so many rows. Measured, one thread, 10,184 classes of 4,096 columns: 43 us an example with 8 MB of
# rows and 27 with 48 for 16 negatives, 57 and 47 for 64; 96 MB are no faster, and 30 as fast. Of half of the classes,
# 64 negatives take 14.0, 15.0, 16.5 and 21.7 us an example with 30, 24, 16 and 8 MB.
_BESIDE_WEIGHTS = 30 << 20

# Bytes from the beginning of a page to that of the rows: half a page from where large arrays such as W begin. A row
# that is read where a class is written, but for whole pages, waits for it. Measured, one thread, updates of 4,992
# classes of 4,096 columns: 2.53 s an epoch with 0, 2.43 with 64, 2.25 with 2,048.
_APART = 2048

# Of rows, from which on they have pages of their own. Fewer take what the C library has free: 7,000 x 2,048, 6,000
# classes, a fit adds 118 MB so, and 126 with pages of their own for 12 MB of rows.
_OWN_PAGES = 16 << 20

Quarter = Callable[[int], None]


@dataclass(frozen=True)
class Schedule:
    """step_t = step, or step / (1 + t / t0) where it decays; t counts examples, and t0 is 1 / (regularization * step)
    unless it is given.

    The bias is a constant feature that the ridge does not touch: its square, `bias_rate`, multiplies its step. Where it
    is `balanced`, an epoch shows every class equally often. Machines are the mean of those on the way if `averaging`,
    and else the last.
    """

    step: float
    regularization: float = 0.0
    decays: bool = False
    bias_rate: float = 0.1
    seed: int = 0
    balanced: bool = False
    t0: float | None = None
    averaging: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.step) and self.step > 0):
            raise ValueError(f"step must be a positive number; got {self.step!r}")
        if not (np.isfinite(self.regularization) and self.regularization >= 0):
            raise ValueError(f"regularization must be a number, at least 0; got {self.regularization!r}")
        if self.step * self.regularization >= 1:
            raise ValueError(
                f"step * regularization must be below 1; got {self.step:g} * {self.regularization:g}; "
                "use a smaller step"
            )

    def block(self, most: int) -> int:
        """Examples between two products: at most so many, and few where else the scale of W would vanish."""
        return most if self.step * self.regularization < 0.05 else 4

    @property
    def decay(self) -> float:
        """By how much the inverse of a step grows with every example, as a part of the first."""
        if not self.decays:
            return 0.0
        return self.regularization * self.step if self.t0 is None else 1 / self.t0

    @property
    def native(self) -> dict[str, Any]:
        """As the compiled loops take it."""
        return {
            "step": self.step,
            "regularization": self.regularization,
            "bias_rate": self.bias_rate,
            "decay": self.decay,
        }

    def generator(self, epoch: int) -> np.random.Generator:
        """The random numbers of an epoch; they depend on nothing before it, so that a run can go on anywhere."""
        return np.random.Generator(np.random.Philox(key=[self.seed, epoch]))

    def order(self, problem: Problem, rng: np.random.Generator) -> NDArray[np.intp]:
        """The rows of X in the order of this epoch."""
        if self.balanced:
            return problem.index[balanced_order(problem.y[problem.index], rng)]
        return problem.index[rng.permutation(len(problem))]


@dataclass(frozen=True)
class Chunk:
    """Some consecutive examples of an epoch."""

    at: slice | NDArray[np.intp]  # places in the epoch
    rows: NDArray[np.float32]  # (m, d)
    y: NDArray[np.int32]
    weights: NDArray[np.float32]


def chunks(
    problem: Problem,
    order: NDArray[np.intp],
    most: int | None = None,
    quarter: Quarter | None = None,
    multiple: int = 1,
    shown: NDArray[np.bool_] | None = None,
) -> Iterator[Chunk]:
    """The examples of an epoch, as many at a time as fit in a few megabytes, and a multiple of `multiple` of them.

    The rows of a chunk are there until the next is asked for. `quarter` is told when each of the four parts of the
    epoch is over, with its number from 1 on. Where only some are `shown`, the others are not read: chunks are shorter
    then, and end where they would.
    """
    least, greatest = np.maximum(_CHUNK_BYTES, min(_BESIDE_WEIGHTS, problem.k * problem.d))
    in_bytes = np.clip(4 * len(order) * problem.d // 64, least, greatest)
    size = int(max(1, min(in_bytes // (4 * max(1, problem.d)), most or len(order), -(-len(order) // 4))))
    size = -(-size // multiple) * multiple
    told, shape = 0, (size, problem.d)
    room = mapped_empty(shape, skip=_APART) if 4 * size * problem.d >= _OWN_PAGES else aligned_empty(shape)
    for start in range(0, len(order), size):
        stop = min(len(order), start + size)
        at = slice(start, stop) if shown is None else start + np.flatnonzero(shown[start:stop])
        index = order[at]
        # No name keeps the rows here while the next are read.
        yield Chunk(
            at,
            np.ascontiguousarray(problem.X.rows_in(room, index), np.float32),
            problem.y[index],
            problem.weights[index],
        )
        while quarter is not None and told < 4 * stop // len(order):
            told += 1
            quarter(told)


def balanced_order(y: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.intp]:
    """As many places in y as it has, in random order: every class that occurs as often as any other, but for one.

    An example comes again only after all others of its class; which are left out of a large class, and which classes
    come once more if the draws cannot be shared out evenly, is random.

    >>> y = np.array([0, 0, 0, 0, 0, 0, 1, 2])
    >>> sorted(y[balanced_order(y, np.random.default_rng(0))].tolist())
    [0, 0, 1, 1, 1, 2, 2, 2]
    """
    shuffled = rng.permutation(len(y))
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    _, counts = np.unique(y, return_counts=True)
    each, over = divmod(len(y), max(1, len(counts)))
    draws = np.full(len(counts), each)
    draws[rng.permutation(len(counts))[:over]] += 1
    turn = np.arange(len(y)) - np.repeat(np.cumsum(draws) - draws, draws)
    places = np.repeat(np.cumsum(counts) - counts, draws) + turn % np.repeat(counts, draws)
    return by_class[rng.permutation(places)]


def negative_rates(sizes: NDArray[np.intp], beta: float | None, n: int | None = None) -> Doubles:
    """(k,) with which probability each class meets one of n examples that is not its own, for classes of these sizes.

    min(1, beta * n_c / (n - n_c)), so that `beta` negatives go with every positive of every class; 1 for beta None. A
    class without examples counts as one example, or as n / k where examples are fewer than classes, as in small batches
    in which most classes are absent: it is pushed down, a little. Without n, every example has one class.

    >>> negative_rates(np.array([10, 20, 70]), 1).round(3).tolist()
    [0.111, 0.25, 1.0]
    """
    if beta is None:
        return np.ones(len(sizes))
    n = max(1, int(sizes.sum()) if n is None else n)
    return np.minimum(1.0, beta * np.maximum(sizes, min(1.0, n / len(sizes))) / np.maximum(1, n - sizes))


def cumulative_rates(p: Doubles) -> Doubles:
    """(k + 1,) where the rates p begin if laid end to end, and where the last one ends.

    An example with offset u in [0, 1) is a negative of the classes whose interval holds one of u, u + 1, u + 2, ...,
    which each class does with probability p_c. All are rounded to one unit, so that no sum is: a rate of 1 stays 1.
    """
    unit = np.spacing(2 * max(1.0, p.sum()))
    return np.concatenate([[0.0], np.cumsum(np.rint(p / unit) * unit)])


def are_drawn(offsets: Doubles, begin: float, end: float) -> NDArray[np.bool_]:
    """Which examples are negatives of a class between two places of the rates that `cumulative_rates` laid end to end.

    >>> are_drawn(np.array([0.1, 0.5, 0.9]), 3.25, 3.75).tolist()
    [False, True, False]
    """
    below = [np.floor(place) + (offsets < place - np.floor(place)) for place in (begin, end)]
    return np.asarray(below[0] < below[1])

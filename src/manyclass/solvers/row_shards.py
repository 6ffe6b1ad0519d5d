"""Sums over all rows by a tree whose leaves are ranges of rows: the same bits for any number of workers, or none.

The leaves depend on the shapes alone, each is summed by itself, and sums are added two by two, neighbor to neighbor. A
worker holds a range of leaves, and gives the sums of the largest subtrees that it has whole: one, if there are two
workers, and a few otherwise. Weights go out and sums come back: a step of the trace norm sends (d + k) r numbers each
way. Only the null model and every duality gap need d x k, a gradient by W; scores stay where their rows are. A worker
keeps nothing that an answer depends on, so one that is lost costs the time of a product, and no bit.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import get_threads, thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass._core.worker_groups import WorkerGroup, Workers, current_workers, say_computed_here
from manyclass.data.matrix import Matrix
from manyclass.losses.loss import ScoreLoss
from manyclass.solvers.row_sums import (
    DualRows,
    Factored,
    FactorGradient,
    HeldRows,
    LossGradient,
    RowSums,
    Scored,
    Scores,
)
from manyclass.solvers.weighted_loss import WeightedLoss

# Chunks of rows that a leaf has at least, which threads share out; and leaves at most, more workers than which would
# have nothing to do.
_LEAST_CHUNKS, _MOST_LEAVES = 4, 64

_BYTES = 1 << 30  # of sums d x k in float64, one for each thread, where threads share out leaves

ClassSubset = NDArray[np.intp] | None  # None for all

RowLeaf = tuple[Matrix, NDArray[np.intp], Doubles]  # rows, their classes and their weights


class TreeSum(NamedTuple):
    """The sum of the leaves [place * 2^level, (place + 1) * 2^level)."""

    level: int
    place: int
    value: Any


def merge(nodes: Iterable[TreeSum], add: Callable[[Any, Any], Any]) -> list[TreeSum]:
    """The fewest nodes that consecutive ones make up, where two halves of a node become one.

    >>> merge([TreeSum(0, i, 1.0) for i in (1, 2, 3)], lambda a, b: a + b)
    [TreeSum(level=0, place=1, value=1.0), TreeSum(level=1, place=1, value=2.0)]
    """
    found: list[TreeSum] = []
    for node in nodes:
        found.append(node)
        while len(found) > 1 and found[-2].level == found[-1].level and found[-2].place + 1 == found[-1].place:
            if found[-2].place % 2:
                break
            right, left = found.pop(), found.pop()
            found.append(TreeSum(left.level + 1, left.place // 2, add(left.value, right.value)))
    return found


def add_sums(a: Any, b: Any) -> Any:
    """Of numbers, arrays, or tuples of them, each in its dtype."""
    return type(a)(*map(add_sums, a, b)) if isinstance(a, tuple) else a + b


class RowShard:
    """Some leaves in one process, from the `first` on; `budget` is what each of them holds of scores."""

    def __init__(self, loss: ScoreLoss, k: int, budget: int, first: int, parts: Sequence[RowLeaf]):
        self._first = first
        self._whole = [HeldRows(X, WeightedLoss(loss, y, p, k), budget, True) for X, y, p in parts]
        self._some: tuple[NDArray[np.intp], list[HeldRows]] | None = None

    def ask(self, classes: ClassSubset, method: str, *arguments: Any) -> list[TreeSum]:
        """The sums of what a method of `HeldRows` answers for each leaf."""
        leaves, work = self._of(classes), lambda leaf: getattr(leaf, method)(*arguments)
        # Small leaves have too few tiles for many threads.
        apart = len(leaves) >= 2 * get_threads() and 8 * leaves[0].d * leaves[0].k * get_threads() <= _BYTES
        answers = thread_map(work, leaves) if apart else map(work, leaves)
        nodes = (TreeSum(0, place, answer) for place, answer in enumerate(answers, self._first))
        return merge(nodes, max if method == "largest_score" else add_sums)

    def _of(self, classes: ClassSubset) -> list[HeldRows]:
        if classes is None:
            return self._whole
        if self._some is None or not np.array_equal(self._some[0], classes):
            self._some = classes, [leaf.of_classes(classes) for leaf in self._whole]
        return self._some[1]


class Shards:
    """The leaves of all rows, in this process or with workers, where they begin with the first question."""

    def __init__(self, workers: Workers | None, X: Matrix, rows: WeightedLoss, leaves: list[slice], budget: int):
        self.workers, self.X, self.rows, self.leaves, self.budget = workers, X, rows, leaves, budget
        self._here: RowShard | None = None
        self._group: WorkerGroup | None = None

    def ask(self, *question: Any) -> list[TreeSum]:
        """What the shards answer, in the order of their rows."""
        if self.workers is None:
            self._here = self._here or RowShard(*self._common(), 0, self._parts(self.leaves))
            return self._here.ask(*question)
        if self._group is None:
            shares = ranges(len(self.leaves), len(self.workers))
            each = [(share.start, self._parts(self.leaves[share])) for share in shares]
            self._group = self.workers.start(RowShard, self._common(), each)
        return [node for nodes in self._group.query("ask", *question) for node in nodes]

    def close(self) -> None:
        """Let go of them."""
        if self._group is not None:
            self._group.close()
        self._group = self._here = None

    def _common(self) -> tuple[ScoreLoss, int, int]:
        return self.rows.loss, self.rows.k, self.budget // len(self.leaves)

    def _parts(self, leaves: list[slice]) -> list[RowLeaf]:
        return [(self.X.row_slice(at), self.rows.y[at], self.rows.p[at]) for at in leaves]


class SharedRows:
    """See `RowSums`; `passes` are those of the leaves, as if no worker was ever lost."""

    def __init__(self, shards: Shards, classes: ClassSubset = None):
        self.shards, self.classes = shards, classes
        self._passes = 0.0
        self._latent: Floats | None = None  # the A, or the W, whose products are kept
        self._held: HeldRows | None = None

    @property
    def passes(self) -> float:
        """Products with all of X."""
        return self._passes + (self._held.passes if self._held else 0.0)

    @property
    def is_here(self) -> bool:
        """Whether this process holds the rows."""
        return self.shards.workers is None

    def count(self, passes: float) -> None:
        """Count products with all of X that were made elsewhere."""
        self._passes += passes

    def held(self) -> HeldRows:
        """The same rows, in this process and whole."""
        if self._held is None:
            rows = self.shards.rows if self.classes is None else self.shards.rows.of_classes(self.classes)
            self._held = HeldRows(self.shards.X, rows, self.shards.budget)
        return self._held

    def of_classes(self, classes: NDArray[np.intp]) -> "SharedRows":
        """Those of some classes alone, by the same workers."""
        return SharedRows(self.shards, classes if self.classes is None else self.classes[classes])

    def close(self) -> None:
        """Let go of the leaves."""
        self.shards.close()
        if self._held is not None:
            self._held.close()

    def class_sums(self) -> Doubles:
        """sum p_i X_i over the rows of each class (k, d)."""
        found: Doubles = self._ask(1, "class_sums")
        return found

    def loss_of(self, scores: Scores) -> float:
        """The mean loss."""
        return float(self._ask(0, "loss_of", scores))

    def gradient(self, scores: Scores) -> LossGradient:
        """The mean loss and its gradients by W and b."""
        found: LossGradient = self._ask(1, "gradient", scores)
        return found

    def factor_gradient(self, point: Factored, left: bool = True) -> FactorGradient:
        """The mean loss and its gradients by the factors and b."""
        found: FactorGradient = self._ask(1 if left else 0, "factor_gradient", point, left)
        return found

    def intercept_gradient(self, scores: Scores, b: Doubles) -> Doubles:
        """The gradient by b (k,), which is added to the scores."""
        found: Doubles = self._ask(0, "intercept_gradient", scores, b)
        return found

    def label_sums(self, scores: Scores) -> Doubles:
        """The sum of Q_i over the rows of each class (k, k)."""
        found: Doubles = self._ask(0, "label_sums", scores)
        return found

    def dual_gradient(self, scores: Scores, dual: DualRows) -> Doubles:
        """X'Q (d, k) of other dual rows."""
        found: Doubles = self._ask(1, "dual_gradient", scores, dual)
        return found

    def conjugate_sum(self, scores: Scores, dual: DualRows, t: float) -> float:
        """sum_i p_i L*(t R_i) of other dual rows."""
        return float(self._ask(0, "conjugate_sum", scores, dual, t))

    def squared_latent(self, point: Factored) -> float:
        """sum_i p_i |X_i A|^2."""
        return float(self._ask(0, "squared_latent", point))

    def largest_score(self, W: Floats) -> float:
        """The largest |X W|."""
        return float(self._ask(1, "largest_score", W))

    def covariance(self, center: Doubles) -> Doubles:
        """sum p_i (X_i - center)(X_i - center)' (d, d)."""
        found: Doubles = self._ask(0, "covariance", center)
        return found

    def _ask(self, passes: int, method: str, *arguments: Any) -> Any:
        """The answer of all rows, which takes so many products with X besides that for scores."""
        if arguments and callable(arguments[0]):  # a function of rows that this process has whole
            if not self.is_here:
                raise TypeError("scores of rows that workers hold must be told by weights; got a function")
            return getattr(self.held(), method)(*arguments)
        self._passes += passes + (self._product(arguments[0]) if arguments else 0)
        nodes = self.shards.ask(self.classes, method, *arguments)
        (root,) = merge(nodes, max if method == "largest_score" else add_sums)
        return _own(root.value)

    def _product(self, scores: Any) -> int:
        """Products with X that scores take: none where that of the last A is kept."""
        if not isinstance(scores, Scored):
            return 0
        if self._latent is not None and np.array_equal(scores.left, self._latent):
            return 0
        self._latent = scores.left
        return 1


def _own(value: Any) -> Any:
    """The same, in arrays that may be changed: what comes from another process, and was added to nothing, may not."""
    if isinstance(value, tuple):
        return type(value)(*map(_own, value))
    return value if not isinstance(value, np.ndarray) or value.flags.writeable else value.copy()


def leaf_count(n: int, chunk: int) -> int:
    """How many leaves n rows have, a power of two, of which chunks have so many.

    >>> leaf_count(5_000, 1024), leaf_count(40_000, 1024), leaf_count(9_000_000, 32)
    (1, 8, 64)
    """
    most = max(1, min(_MOST_LEAVES, n // (_LEAST_CHUNKS * chunk)))
    return 1 << (most.bit_length() - 1)


def ranges(n: int, count: int) -> list[slice]:
    """[0, n) in at most `count` consecutive slices of about the same length.

    >>> ranges(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    ends = [i * n // count for i in range(count + 1)]
    return [slice(start, stop) for start, stop in pairwise(ends) if stop > start]


def open_row_sums(X: Matrix, rows: WeightedLoss, budget: int) -> RowSums:
    """Sums over the rows of X, by workers where there are some; `budget` is what a process holds of scores."""
    workers = current_workers()
    if not X.is_divisible:
        say_computed_here("a fit of fewer rows than columns", "rows are seen by their coordinates in the span of all")
        return HeldRows(X, rows, budget)
    leaves = ranges(len(X), leaf_count(len(X), rows.chunk_size))
    return HeldRows(X, rows, budget) if len(leaves) < 2 else SharedRows(Shards(workers, X, rows, leaves, budget))

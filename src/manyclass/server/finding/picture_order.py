"""PictureOrder: in which order pictures are shown that nobody has asked for.

The first screen has one typical picture of each group, so that it shows what there is: a class that the pictures came
with, or what lies together. A picture is typical of its group if it is near the mean of it. Groups are found among some
thousand pictures, which takes a moment for any number of them.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.parallel import one_blas_thread
from manyclass._core.typing import Embeddings
from manyclass.retrieval.vectors import GrowableArray, Positions

PictureNumbers = NDArray[np.int64]

_GROUPS = 120  # that are shown at most

_OF_GROUP = 40  # pictures of a class among which typical ones are looked for

_SAMPLE = 4000  # pictures of which groups are made where there are no classes

_ROUNDS = 5  # of means and nearest means, after which groups are good enough to be looked at

_CHOICE = 4  # typical pictures of a group, of which the seed chooses


class PictureOrder:
    """PictureNumbers 0 ... n-1 in some order; the same seed gives the same."""

    def __init__(self, embeddings: GrowableArray, live: Positions, codes: NDArray[np.int32] | None, seed: int = 0):
        """`codes` are classes by number; None where there are none to speak of."""
        self._n = len(live)
        rng = np.random.default_rng(seed)
        groups = _class_members(codes, rng) if codes is not None else []
        if len(groups) < 2:
            groups = _clusters(embeddings, live, rng)
        self._typical = [_most_typical(embeddings, live, members) for members in groups]
        self.shuffled = lru_cache(4)(self._shuffled)
        self.typical = lru_cache(4)(self._typical_first)

    def gallery(self) -> PictureNumbers:
        """As they were added."""
        return np.arange(self._n, dtype=np.int64)

    def _shuffled(self, seed: int) -> PictureNumbers:
        return np.random.default_rng(seed).permutation(self._n).astype(np.int64, copy=False)

    def _typical_first(self, seed: int) -> PictureNumbers:
        """One typical picture of each group, and then all others."""
        rng = np.random.default_rng(seed)
        first = [int(members[rng.integers(len(members))]) for members in self._typical if len(members)]
        chosen = np.array([first[i] for i in rng.permutation(len(first))], np.int64)
        rest = self.shuffled(seed)
        taken = np.zeros(self._n, bool)
        taken[chosen] = True
        return np.concatenate([chosen, rest[~taken[rest]]])


def _class_members(codes: NDArray[np.int32], rng: np.random.Generator) -> list[PictureNumbers]:
    """Some pictures of some of the classes."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    groups = [order[start : start + _OF_GROUP] for start in rng.permutation(starts)[:_GROUPS]]
    return [group[codes[group] == codes[group[0]]] for group in groups]


def _clusters(embeddings: GrowableArray, live: Positions, rng: np.random.Generator) -> list[PictureNumbers]:
    """Groups of pictures that are near one another, among some."""
    n = len(live)
    some = np.sort(rng.choice(n, min(n, _SAMPLE), replace=False))
    k = min(_GROUPS, int(np.sqrt(len(some))) + 1)
    rows = embeddings.rows(live[some])
    means, nearest = rows[rng.choice(len(rows), min(k, len(rows)), replace=False)], np.zeros(len(rows), np.intp)
    with one_blas_thread():
        for _ in range(_ROUNDS):
            nearest = (rows @ means.T).argmax(axis=1)
            sums = np.zeros((len(means), rows.shape[1]))
            np.add.at(sums, nearest, rows)
            means = np.asarray(unit_rows(sums), np.float32)
    return [some[nearest == group] for group in range(len(means)) if (nearest == group).any()]


def _most_typical(embeddings: GrowableArray, live: Positions, members: PictureNumbers) -> PictureNumbers:
    rows: Embeddings = embeddings.rows(live[members])
    near = np.asarray(rows, np.float64) @ rows.mean(axis=0, dtype=np.float64)
    return members[np.argsort(-near, kind="stable")[:_CHOICE]].astype(np.int64)

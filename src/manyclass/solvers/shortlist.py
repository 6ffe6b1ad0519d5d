"""The best of very many classes without all of their scores: a shortlist by packed weights, and exact scores of it.

Weights of 4 bits for three columns give every class a rough score at a seventh of the cost of a product, weights of 7
bits those that come near the best a better one, and the few that may be among the best then are scored by the weights
themselves. An error is a sum of as many small ones as there are columns, so it is known how far they stray (Gao and
Long, SIGMOD 2024, by whose factor |u|^2 / u'q a rough score is right on average). What is farther below the best than
`MARGIN` standard deviations is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.algebra.linalg import mapped_empty
from manyclass._core.parallel import for_each, one_blas_thread, thread_map
from manyclass._core.typing import Floats, Singles
from manyclass.data.matrix import spans

# Standard deviations. Of 40,960 entries of the five best of generated rows 0 differed, and 4 of as many on codes; at 3,
# 28 and 6.
MARGIN = 3.25

# Rows, classes and columns from which on it pays. Measured, 10,184 classes of 4,096 columns, one thread: packing takes
# as long as all scores of 200 rows, and the best of a row 0.26 to 0.29 of the time of all scores.
ROWS, CLASSES, COLUMNS = 4096, 2048, 256

SCORES = ROWS * CLASSES  # of rows and classes, without which there is no need to ask

BLOCK = 1024  # rows that a thread reads at a time

_GROUP = 128  # classes whose codes stand side by side, two in a byte

# Of all classes, those that may get a second look, which costs about as much as a score by the weights themselves: with
# so many, the best of a row should take half of the time of all scores (estimated).
LONGEST = 1 / 4

_TINY, _MOST = 1e-20, 1e8

Flags = NDArray[np.bool_]

# Entries that make up a row or the weights of a class, (sum of squares)^2 / sum of fourth powers, at least: errors of
# fewer do not average. Of rows of 2, 3, 5 and 10 such entries 6, 27, 15 and 0 % were given a wrong class.
FEWEST = 32

SAMPLE = 64  # rows on which the list is compared with all scores

_CLASSES = 1024  # of which mean and units are taken


def top_by_shortlist(
    rows: Callable[[slice], Floats], shape: tuple[int, int], W: Singles, biases: Singles, top: int
) -> NDArray[np.int64] | None:
    """Find the classes of highest score for each of n rows, the best first; of equals the first.

    It is first tried on a few rows: None where it would miss one of their best, or look twice at too many classes, and
    wherever all scores are as fast or not all of them finite.

    Parameters
    ----------
    rows : callable
        The function that reads a slice of the rows.
    shape : tuple of int
        (n, d), the shape of X.
    W : ndarray of float32 of shape (k, d)
        The weights.
    biases : ndarray of float32 of shape (k,)
        The biases.
    top : int
        How many classes to find, at most k.

    Returns
    -------
    ndarray of int64 of shape (n, top) or None
        The classes.
    """
    (n, d), k = shape, len(W)
    if not packing_pays(n, k, d) or 64 * top > k or W.dtype != np.float32 or not W.flags.c_contiguous:
        return None
    sample = np.concatenate([rows(slice(i, i + 1)) for i in np.linspace(0, n - 1, SAMPLE).astype(int).tolist()])
    if not (is_sane(sample) and is_sane(biases)):
        return None
    packed = ClassShortlist.of(W, biases, sample.mean(axis=0))
    if packed is None:
        return None
    found, looks = packed.top(sample, top)
    if looks > LONGEST * k * len(sample) or not np.array_equal(found, _by_all_scores(sample, W, biases, top)):
        return None

    def best(at: slice) -> NDArray[np.int64] | None:
        some = rows(at)
        return packed.top(np.ascontiguousarray(some), top)[0] if is_sane(some) else None

    blocks = list(thread_map(best, spans(n, BLOCK)))
    return None if any(block is None for block in blocks) else np.concatenate([b for b in blocks if b is not None])


def packing_pays(n: int, k: int, d: int) -> bool:
    """Whether n rows of d columns are enough, and k classes, for packed weights to be faster than all scores."""
    return n >= ROWS and k >= CLASSES and COLUMNS <= d <= 1 << 16 and _native.lookups_are_fast()


def is_sane(some: Floats) -> bool:
    """Whether squares and products of squares fit into float32; those of NaN do not, either."""
    return some.dtype == np.float32 and bool(some.min() > -_MOST and some.max() < _MOST)


def _by_all_scores(rows: Singles, W: Singles, biases: Singles, top: int) -> NDArray[np.intp]:
    with one_blas_thread():
        S = rows @ W.T + biases
    # The best and all their equals, of which the first count.
    least = np.partition(S, -top, axis=1)[:, -top]
    near = [np.flatnonzero(s >= bound) for s, bound in zip(S, least, strict=True)]
    return np.stack([at[np.argsort(-s[at], kind="stable")[:top]] for s, at in zip(S, near, strict=True)])


@dataclass(frozen=True)
class ClassUnits:
    """What weights are packed by; any will do, and those that rows and classes have are best."""

    mean: Singles  # (d,) over classes
    center: Singles  # over rows
    columns: Singles  # the standard deviation of weights

    @classmethod
    def of(cls, some: Singles, center: Singles) -> Self:
        """Units of some classes (m, d), for rows around a center (d,)."""
        columns = some.std(axis=0)
        usual = float(columns.mean())
        least = np.float32(1e-3 * usual if usual > _TINY else 1)
        return cls(some.mean(axis=0), center, np.maximum(columns, least))


_KNOWN = "offsets", "slopes", "spreads", "units", "fine_spreads", "lengths"

_NEVER_OUT = np.array([1e30, 0, 0, 0, 0, 0, 0], np.float32)  # what is known of a class whose score is above all


@dataclass(frozen=True)
class ClassShortlist:
    """Packed weights of classes, as the compiled loop takes them.

    With v = (x - center) * columns, and u the weights without their mean over classes, divided by `columns`, the score
    of a class less a number that all have in common is u'v + offsets.
    """

    W: Singles  # (k, d)
    biases: Singles
    codes: NDArray[np.uint8]  # (groups, blocks, 64): 4 bits for three weights
    fine: NDArray[np.uint8]  # (k, d)
    mean: Singles  # (d,)
    center: Singles
    columns: Singles
    offsets: Singles  # (k,)
    slopes: Singles
    spreads: Singles
    units: Singles
    fine_spreads: Singles
    lengths: Singles
    rounding: float

    @classmethod
    def of(cls, W: Singles, biases: Singles, center: Singles) -> Self | None:
        """Pack W (k, d) for rows around a center (d,).

        None where a class has so few large weights that errors do not average, or some that are no numbers.

        >>> W = np.random.default_rng(0).normal(size=(40, 256)).astype(np.float32)
        >>> packed = ClassShortlist.of(W, np.zeros(40, np.float32), np.zeros(256, np.float32))
        >>> packed.top(W[:3], 1)[0].ravel().tolist()
        [0, 1, 2]
        """
        some = W[:: -(-len(W) // _CLASSES)]  # as any mean and units will do, and those of all differ little
        packed, sound = cls.pack(W, biases, ClassUnits.of(some, center))
        return replace(packed, rounding=packed.usual_rounding()) if sound.all() else None

    @classmethod
    def pack(cls, W: Singles, biases: Singles, units: ClassUnits, rounding: float = 0.0) -> tuple[Self, Flags]:
        """Pack W (k, d) in given units, class by class: (the weights, which classes (k,) they say something of).

        The others are never ruled out.
        """
        (k, d), panels = W.shape, spans(len(W), _GROUP)
        shapes = (len(panels), 8 * -(-d // 24), _GROUP // 2), (k, d)
        codes, fine = (mapped_empty(shape, np.uint8) for shape in shapes)  # a third of W, for a short time
        records = np.empty((k, 7), np.float32)

        def pack(at: slice) -> None:
            group = codes[at.start // _GROUP]
            _native.pack_classes(W[at], biases[at], **vars(units), codes=group, fine=fine[at], records=records[at])

        for_each(pack, panels)
        sound: Flags = (np.abs(records).max(axis=1) < _MOST) & (records[:, -1] >= FEWEST)
        records[~sound] = _NEVER_OUT
        known = dict(zip(_KNOWN, np.ascontiguousarray(records.T), strict=False))
        return cls(W, biases, codes, fine, **vars(units), **known, rounding=rounding), sound

    def usual_rounding(self) -> float:
        """By how much rough scores stray as tables are rounded, in units of what they stray for |v| = 1."""
        return float(np.median(self.slopes) / max(float(np.median(self.spreads)), 1e-30))

    def top(self, rows: Singles, top: int) -> tuple[NDArray[np.int64], int]:
        """(the best classes of each row, the best first, of equals the first; classes that were looked at twice)."""
        best = np.empty((len(rows), top), np.int64)
        looks = _native.top_of_shortlist(X=rows, **vars(self), margin=MARGIN, fewest=FEWEST, best=best)
        odd = best[:, 0] < 0  # rows of few entries
        if odd.any():
            best[odd] = _by_all_scores(rows[odd], self.W, self.biases, top)
        return best, looks

    def rivals(self, rows: Singles, own: Singles, y: NDArray[np.int64]) -> tuple[Singles, NDArray[np.int64], int]:
        """Classes that beat the own class of a row, the score of which is known.

        (their scores; for each row one such class, -1 for none, -2 where none can be ruled out, which are rows of few
        entries and what is no number; classes that were looked at twice). The own class may be one of these or not.

        >>> W = np.random.default_rng(0).normal(size=(40, 256)).astype(np.float32)
        >>> packed = ClassShortlist.of(W, np.zeros(40, np.float32), np.zeros(256, np.float32))
        >>> own = np.array([W[0] @ W[0], W[1] @ W[5]])
        >>> packed.rivals(W[:2], own, np.array([0, 5]))[1].tolist()
        [-1, 1]
        """
        if not is_sane(rows):
            insane = ~(np.abs(rows).max(axis=1) < _MOST)
            own, rows = np.where(insane, np.float32(np.nan), own), np.where(insane[:, None], np.float32(0), rows)
        scores, classes = np.full(len(rows), -np.inf, np.float32), np.empty(len(rows), np.int64)
        looks = _native.find_rivals(
            X=rows, **vars(self), margin=MARGIN, fewest=FEWEST, own=own, y=y, scores=scores, rivals=classes
        )
        scores[classes < 0] = -np.inf
        return scores, classes, looks

"""The best of very many classes without all of their scores: a shortlist by packed weights, and exact scores of it.

Weights of 2 bits give every class a rough score at a fifth of the cost of a product, weights of 8 bits those that come
near the best a better one, and the few that may be among the best then are scored by the weights themselves. An error
is a sum of as many small ones as there are columns, so it is known how far they stray (Gao and Long, SIGMOD 2024, by
whose factor |u|^2 / u'q a rough score is right on average). What is farther below the best than `MARGIN` standard
deviations is left out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.parallel import for_each, one_blas_thread, thread_map
from manyclass._core.typing import Floats, Singles
from manyclass.data.matrix import spans

# Standard deviations: of 81,920 classes that were among the five best of generated rows, 2 were missed.
MARGIN = 3.5

# Rows, classes and columns from which on it pays. Measured, 10,184 classes of 4,096 columns, one thread: packing takes
# as long as all scores of 1,000 rows, and the best of a row a third of the time of all scores.
ROWS, CLASSES, COLUMNS = 4096, 2048, 256

SCORES = ROWS * CLASSES  # of rows and classes, without which there is no need to ask

_BLOCK = 128  # rows whose sums a thread holds at a time: weights are read once for all of them

_GROUP = 32  # classes whose codes stand side by side

_LEVEL = 0.9957  # between two of four evenly spaced levels, for normal numbers of unit variance (Max, 1960)

# Of all classes, those that may get a second look; more cost more than they save.
_LONGEST = 1 / 16

_TINY, _MOST = np.float32(1e-20), 1e8

# Entries that make up a row or the weights of a class, (sum of squares)^2 / sum of fourth powers, at least: errors of
# fewer do not average. Of rows of 2, 3, 5 and 10 such entries 6, 27, 15 and 0 % were given a wrong class.
_FEWEST = 32

_SAMPLE = 64  # rows on which the list is compared with all scores


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
    pays = n >= ROWS and k >= CLASSES and COLUMNS <= d <= 1 << 16 and 64 * top <= k and _native.lookups_are_fast()
    if not pays or W.dtype != np.float32 or not W.flags.c_contiguous:
        return None
    sample = np.concatenate([rows(slice(i, i + 1)) for i in np.linspace(0, n - 1, _SAMPLE).astype(int).tolist()])

    def sane(some: Floats) -> bool:  # squares and products of squares fit into float32; NaN are not, either
        return some.dtype == np.float32 and bool(some.min() > -_MOST and some.max() < _MOST)

    if not (sane(sample) and sane(W) and sane(biases)):
        return None
    packed = ClassShortlist.of(W, biases, sample.mean(axis=0))
    if min(thread_map(lambda at: float(_participation(W[at] / packed.columns).min()), spans(k, _GROUP))) < _FEWEST:
        return None
    found, looks = packed.top(sample, top)
    if looks > _LONGEST * k * len(sample) or not np.array_equal(found, _by_all_scores(sample, W, biases, top)):
        return None

    def best(at: slice) -> NDArray[np.int64] | None:
        some = rows(at)
        return packed.top(np.ascontiguousarray(some), top)[0] if sane(some) else None

    blocks = list(thread_map(best, spans(n, _BLOCK)))
    return None if any(block is None for block in blocks) else np.concatenate([b for b in blocks if b is not None])


def _by_all_scores(rows: Singles, W: Singles, biases: Singles, top: int) -> NDArray[np.intp]:
    with one_blas_thread():
        S = rows @ W.T + biases
    return np.argsort(-S, axis=1, kind="stable")[:, :top]


@dataclass(frozen=True)
class ClassShortlist:
    """Packed weights of classes, as the compiled loop takes them.

    With v = (x - center) * columns, and u the weights without their mean over classes, divided by `columns`, the score
    of a class less a number that all have in common is u'v + offsets.
    """

    W: Singles  # (k, d)
    biases: Singles
    codes: NDArray[np.uint8]  # (groups, bytes, 32): 2 bits a weight
    fine: NDArray[np.int8]  # (k, d)
    center: Singles  # (d,)
    columns: Singles
    offsets: Singles  # (k,)
    slopes: Singles
    spreads: Singles
    units: Singles
    fine_spreads: Singles
    lengths: Singles
    rounding: float

    @classmethod
    def of(cls, W: Singles, biases: Singles, center: Singles) -> Self:
        """Pack W (k, d) for rows around a center (d,).

        >>> W = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)
        >>> packed = ClassShortlist.of(W, np.zeros(40, np.float32), np.zeros(16, np.float32))
        >>> packed.top(W[:3], 1)[0].ravel().tolist()
        [0, 1, 2]
        """
        k, d = W.shape
        panels = spans(k, _GROUP)
        with one_blas_thread():
            mean = np.full(k, 1 / k, np.float32) @ W
        columns = np.zeros(d, np.float32)
        for part in thread_map(lambda at: np.einsum("ij,ij->j", W[at] - mean, W[at] - mean), panels):
            columns += part
        columns = np.sqrt(columns / np.float32(k))
        columns[columns < _TINY] = 1
        rates = 1 / columns
        codes = np.zeros((-(-k // _GROUP), 4 * -(-d // 16), _GROUP), np.uint8)
        fine, found = np.empty((k, d), np.int8), np.empty((6, k), np.float32)

        def pack(at: slice) -> None:
            U = W[at] - mean
            found[0, at] = biases[at] + U @ center
            U *= rates
            length, unit = np.sqrt(np.einsum("ij,ij->i", U, U)), np.abs(U).max(axis=1) / np.float32(127)
            step = _LEVEL * np.maximum(length, _TINY) / np.sqrt(d, dtype=np.float32)
            Q = (-step[:, None] < U).view(np.uint8) + (U > 0).view(np.uint8) + (step[:, None] < U).view(np.uint8)
            _interleave(Q, codes[at.start // _GROUP])
            q = Q - np.float32(1.5)
            along = np.maximum(np.einsum("ij,ij->i", U, q), _TINY)
            # Where codes happen to be exact, those of the rows are not.
            stray = length * np.sqrt(np.maximum(np.einsum("ij,ij->i", q, q) * np.square(length / along) - 1, 0.1))
            fine[at] = np.rint(U * (1 / np.maximum(unit, _TINY))[:, None])
            U -= unit[:, None] * fine[at]
            lost = np.sqrt(np.einsum("ij,ij->i", U, U))
            found[1:, at] = length**2 / along, stray / np.sqrt(d), unit, lost / np.sqrt(d), length / np.sqrt(d)

        for_each(pack, panels)
        usual = float(np.median(found[2]) / max(float(np.median(found[5])), 1e-30))
        offsets, slopes, spreads, units, fine_spreads, lengths = found
        return cls(
            W, biases, codes, fine, center, columns, offsets, slopes, spreads, units, fine_spreads, lengths,
            rounding=1 / max(usual, 1e-3),
        )  # fmt: skip

    def top(self, rows: Singles, top: int) -> tuple[NDArray[np.int64], int]:
        """(the best classes of each row, the best first, of equals the first; classes that were looked at twice)."""
        best = np.empty((len(rows), top), np.int64)
        looks = _native.top_of_shortlist(X=rows, **vars(self), margin=MARGIN, best=best)
        odd = _participation((rows - self.center) * self.columns) < _FEWEST
        if odd.any():
            best[odd] = _by_all_scores(rows[odd], self.W, self.biases, top)
        return best, looks


def _participation(V: Singles) -> Singles:
    """How many entries make up each row of V (n, d); d for zeros, of which no error comes."""
    Q = np.square(V)
    squares, fourths = Q.sum(axis=1), np.einsum("ij,ij->i", Q, Q)
    entries: Singles = np.full(len(V), V.shape[1], np.float32)
    np.divide(squares**2, fourths, out=entries, where=fourths > 0)
    return entries


def _interleave(codes: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """Codes (m, d) below 4 of a group of classes, four to a byte, into (bytes, 32)."""
    m, d = codes.shape
    wide = np.zeros((_GROUP, 4 * len(out)), np.uint8)
    wide[:m, :d] = codes
    packed = wide[:, 0::4] | wide[:, 1::4] << 2 | wide[:, 2::4] << 4 | wide[:, 3::4] << 6
    # The first half of a group stands at even places, the second at odd ones.
    out[:, 0::2], out[:, 1::2] = packed[: _GROUP // 2].T, packed[_GROUP // 2 :].T

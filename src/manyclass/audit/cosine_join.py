"""CosineJoin: all pairs of rows whose cosine reaches a threshold, exactly, without the matrix of all cosines.

Unit rows are turned so that most of their length is in the first m of d columns, and only those are multiplied for all
pairs. Of what is left, of length r, the product is at most that of the lengths:

    x'y  <=  sum of x_j y_j over the first m columns  +  r_x r_y,

which is one product of rows (x_1, ..., x_m, r_x). Pairs for which it stays below the threshold are none; the few others
are multiplied in full, in float64. So the same pairs are found as by all products, of any rows, and what differs is the
time: for a threshold of 0.95 and 256 columns a fourth of the products or less.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.parallel import native_threads, one_blas_thread
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.matrix import Matrix, spans
from manyclass.retrieval.vectors import Positions

_QUERIES = 1024  # rows that look for partners at once

_SLOTS = 32  # partners of a row that the loop keeps; of rows with more, all products are made

_CROWD = 64  # rows for which all products are made at once

_SLACK = 2e-5  # of a cosine, by which sums in float32 may be wrong

_SAMPLE, _PAIRED = 8192, 1024  # rows that the rotation is learned from, and rows whose pairs tell what it leaves over

_LEAST_COLUMNS = 16

# A pair that is left over costs so many times the products of a column of a pair; rows with many of them cost more.
# Measured on 60,000 random rows of 256 columns, one core: 18.6, 2.4, 2.2 and 2.7 s by 32, 40, 48 and 64 columns, which
# leave over 140,000, 12,000, 1,051 and 1,000 pairs.
_COST_OF_LEFT_OVER = 5000.0


def unit_block(X: Matrix, index: Any) -> Doubles:
    """Some rows with unit length; rows of zeros stay zeros."""
    return unit_rows(X.rows(index).astype(np.float64))


@dataclass(frozen=True)
class PrefixBound:
    """A rotation of which the first m columns are multiplied: V (d, m), or None for all columns as they are."""

    V: Doubles | None

    @classmethod
    def of(cls, X: Matrix, threshold: float) -> "PrefixBound":
        """The number of columns at which pairs of a sample cost least; the sample depends on the shape alone."""
        n, d = X.shape
        if d <= _LEAST_COLUMNS:
            return cls(None)
        with one_blas_thread():
            U = unit_block(X, _spread(n, _SAMPLE))
            V = np.linalg.eigh(U.T @ U)[1][:, ::-1]
            Z = unit_block(X, _spread(n, _PAIRED)) @ V
            m = _cheapest(Z, threshold)
        return cls(None if m == d else np.ascontiguousarray(V[:, :m]))

    def rows(self, X: Matrix) -> Embeddings:
        """Rows (n, m + 1) whose products are bounds of cosines, or (n, d) whose products are cosines."""
        n, d = X.shape
        out = np.empty((n, d if self.V is None else self.V.shape[1] + 1), np.float32)
        with one_blas_thread():
            for at in spans(n, max(1, (8 << 20) // (8 * d))):
                out[at] = self._turned(unit_block(X, at))
        return out

    def _turned(self, U: Doubles) -> Doubles:
        if self.V is None:
            return U
        Z = U @ self.V
        rest = np.einsum("ij,ij->i", U, U) - np.einsum("ij,ij->i", Z, Z)
        return np.column_stack([Z, np.sqrt(np.maximum(rest, 0))])


def _spread(n: int, size: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, n - 1, min(n, size)).astype(np.intp))


def _cheapest(Z: Doubles, threshold: float) -> int:
    """How many columns of the rotated sample (m, d) to multiply."""
    d, pairs = Z.shape[1], len(Z) * len(Z)
    candidates = [m for m in (16, 24, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512) if m < d]
    costs = [float(d)]
    for m in candidates:
        rest = np.sqrt(np.maximum(1 - np.einsum("ij,ij->i", Z[:, :m], Z[:, :m]), 0))
        left = np.count_nonzero(Z[:, :m] @ Z[:, :m].T + np.outer(rest, rest) > threshold) - len(Z)
        costs.append(m + 1 + _COST_OF_LEFT_OVER * d * max(1, left) / pairs)
    return int([d, *candidates][int(np.argmin(costs))])


class CosineJoin:
    """Rows of X, to be paired with one another or with those of Y.

    Parameters
    ----------
    X : Matrix of shape (n, d)
        The rows.
    threshold : float
        The least cosine of a pair.
    most : int
        Pairs to find at most; more are refused.
    """

    def __init__(self, X: Matrix, threshold: float, most: int):
        self.X, self.threshold, self.most = X, threshold, most
        self._found = 0
        self.bound = PrefixBound.of(X, threshold)
        self.rows = self.bound.rows(X)

    def own_pairs(self) -> Iterator[tuple[int, Positions, Doubles]]:
        """(rows done, pairs (m, 2) of which the first row comes before the second, their cosines (m,)), in blocks."""
        for at in spans(len(self.X), _QUERIES):
            yield at.stop, *self._verified(self.X, *self._candidates(self.X, self.rows[at], at.start, at.start))

    def pairs_with(self, Y: Matrix) -> Iterator[tuple[int, Positions, Doubles]]:
        """The same for pairs (row of Y, row of X)."""
        for at in spans(len(Y), _QUERIES):
            part = Y.row_slice(at)
            yield at.stop, *self._verified(Y, *self._candidates(Y, self.bound.rows(part), at.start, None))

    def _candidates(self, Y: Matrix, Q: Embeddings, first: int, own: int | None) -> tuple[Positions, Positions]:
        """Rows of Y, of which Q begin at `first`, and rows of X that may be partners; X from `own` on, if it is Y."""
        start = own or 0
        scores = np.full((len(Q), _SLOTS), self.threshold - _SLACK, np.float32)
        found = np.full((len(Q), _SLOTS), -1, np.int64)
        rows = self.rows[start:]
        _native.best_rows(rows, None, Q, start, scores, found, native_threads(rows.nbytes))
        crowded = np.flatnonzero(found[:, -1] >= 0)
        found[crowded] = -1
        i, j = (place.astype(np.int64) for place in np.nonzero(found >= 0))
        left, right = [i + first], [found[i, j]]
        found_here = len(i)
        for at in spans(len(crowded), _CROWD):
            for more in self._all_products(Y, crowded[at] + first, start):
                left.append(more[0])
                right.append(more[1])
                found_here += len(more[0])
                # Each pair of one block may be there twice, and every row with itself.
                self._check_limit(found_here // 2 - len(Q))
        a, b = np.concatenate(left), np.concatenate(right)
        kept = slice(None) if own is None else a < b
        return a[kept], b[kept]

    def _all_products(self, Y: Matrix, queries: Positions, start: int) -> Iterator[tuple[Positions, Positions]]:
        """Pairs of rows that have more partners than the loop keeps, by all products."""
        with one_blas_thread():
            Q = unit_block(Y, queries)
            for at in spans(len(self.X) - start, max(1, (8 << 20) // (8 * self.X.shape[1]))):
                near = unit_block(self.X, slice(at.start + start, at.stop + start)) @ Q.T >= self.threshold - _SLACK
                rows, which = np.nonzero(near)
                yield queries[which], rows.astype(np.int64) + at.start + start

    def _verified(self, Y: Matrix, a: Positions, b: Positions) -> tuple[Positions, Doubles]:
        """The pairs whose cosine reaches the threshold, by sums in float64."""
        cosines = np.empty(len(a))
        for at in spans(len(a), max(1, (8 << 20) // (8 * self.X.shape[1]))):
            cosines[at] = np.einsum("ij,ij->i", unit_block(Y, a[at]), unit_block(self.X, b[at]))
        # But for rounding: a copy of a row has a cosine of 1.
        kept = np.flatnonzero(cosines >= self.threshold - 1e-12)
        kept = kept[np.lexsort((b[kept], a[kept]))]
        self._check_limit(len(kept))
        self._found += len(kept)
        return np.column_stack([a[kept], b[kept]]), np.minimum(cosines[kept], 1.0)

    def _check_limit(self, more: int) -> None:
        if self._found + more > self.most:
            raise TooManyPairsError(
                f"threshold must be higher, as more than {self.most:,} pairs of rows have a cosine of at least "
                f"{self.threshold:g}; got so many after a part of the rows; raise the threshold or the limit"
            )


class TooManyPairsError(ValueError):
    """So many pairs that a list of them is of no use."""

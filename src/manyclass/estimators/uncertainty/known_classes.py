"""KnownClasses: what rows of known classes look like, by which rows of others are told from them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Floats, Singles
from manyclass.data.matrix import Matrix, spans

_MOST, _OF_EACH = 1 << 16, 32  # rows that are learned from, or as many of each class: 10 s for 1,000 columns

_BYTES = 16 << 20  # of rows that are worked on at a time

_KEPT, _NUMBERS = 1 << 14, 1 << 23  # rows that are kept to be near to, and numbers of them: 16 MB, and 3 ms for a row


class KnownClasses(NamedTuple):
    """Rows of unit length: the mean of all, the means of k classes, how rows spread around these, and some rows."""

    mean: Singles  # (d,)
    means: Singles  # (k, d): of every class, less the mean
    shares: Singles  # (k,): of every class among the rows
    within: Singles  # (d, d): the covariance around the means of classes
    rows: NDArray[np.float16]  # (m, d): rows that others are near to, whitened; none where means of classes tell more
    exponent: Singles  # (1,): how much the probability of the best class counts beside the nearness

    @classmethod
    def of_rows(cls, X: Matrix, y: NDArray[Any], k: int) -> "KnownClasses":
        """Of rows with classes y (n,), or of some of each class where they are very many."""
        order = np.argsort(y, kind="stable")
        index = order[np.linspace(0, len(y) - 1, min(len(y), max(_MOST, _OF_EACH * k))).astype(np.intp)]
        classes, d = y[index], X.shape[1]
        counts = np.bincount(classes, minlength=k)
        if counts.min() == 0:
            raise ValueError(f"known must have rows of all {k} classes; got none of {np.count_nonzero(counts == 0)}")
        sums, squares = np.zeros((k, d)), np.zeros((d, d))
        with one_blas_thread():
            for at in spans(len(index), max(1, _BYTES // (8 * d))):
                U = unit_rows(X.rows(index[at]).astype(np.float64))
                np.add.at(sums, classes[at], U)
                squares += U.T @ U
            means = sums / counts[:, None]
            within = squares / len(index) - (means * (counts / len(index))[:, None]).T @ means
        mean = sums.sum(axis=0) / len(index)
        vectors = (mean, means - mean, counts / len(index), within)
        singles = [np.asarray(one, np.float32) for one in vectors]
        return cls(singles[0], singles[1], singles[2], singles[3], np.empty((0, d), np.float16), np.ones(1, np.float32))

    @classmethod
    def of_model(cls, model: Any) -> "KnownClasses":
        """That of a classifier to which `calibrate` gave it."""
        found, k, d = cls(**model.known_classes_), len(model.classes_), model.n_features_in_
        if found.means.shape != (k, d):
            raise ValueError(f"known_classes_ must have means of shape {k, d}; got {found.means.shape}")
        return found

    def with_rows(self, X: Matrix, y: NDArray[Any]) -> tuple["KnownClasses", NDArray[Any]]:
        """The same by rows to be near to, at most so many of those given, spread over the classes; and their classes.

        >>> from manyclass.data.dense import DenseMatrix
        >>> X, y = DenseMatrix(np.eye(4)), np.array([0, 1, 0, 1])
        >>> KnownClasses.of_rows(X, y, 2).with_rows(X, y)[1]
        array([0, 0, 1, 1])
        """
        n, d = X.shape
        size = min(n, _KEPT, max(1, _NUMBERS // d))
        index = np.argsort(y, kind="stable")[np.linspace(0, n - 1, size).astype(np.intp)]
        judge, largest = self.judge(), float(np.finfo(np.float16).max)
        parts = [judge.whitened(X.rows(index[at])) for at in spans(size, max(1, _BYTES // (16 * d)))]
        rows = np.concatenate([np.clip(Z, -largest, largest).astype(np.float16) for Z in parts])
        return self._replace(rows=rows), y[index]

    def judge(self, row_classes: NDArray[Any] | None = None) -> "KnownJudge":
        """What scores rows, which takes two factorizations."""
        return KnownJudge(self, row_classes)


class KnownJudge:
    """How near rows of unit length are to known classes: relative Mahalanobis distances, or those to the nearest row.

    By classes, the score of a row is by how much nearer it is to the nearest mean of a class than to the mean of all,
    each in the metric of the rows around it:
    ``(u - g)' (T + t I)^-1 (u - g) - min_c (u - m_c)' (V + v I)^-1 (u - m_c)``, with the covariance V around the means
    m_c of classes, T around the mean g of all, and the mean v or t of the variances of all columns, by which they are
    shrunk. Where rows r are kept, it is ``-min_r (u - r)' (V + v I)^-1 (u - r)``.

    Parameters
    ----------
    known : KnownClasses
        What is known of the classes.
    row_classes : ndarray of shape (m,), default=None
        The classes of the rows that are kept, by which some can be left out.
    """

    def __init__(self, known: KnownClasses, row_classes: NDArray[Any] | None = None):
        means, within = known.means.astype(np.float64), known.within.astype(np.float64)
        self.mean = known.mean.astype(np.float64)
        with one_blas_thread():
            total = within + (means * known.shares.astype(np.float64)[:, None]).T @ means
            self._within, self._total = _whitening(within), _whitening(total)
            self._means = means @ self._within
        self._squares = np.einsum("kd,kd->k", self._means, self._means)
        self._rows, self._row_classes = known.rows.astype(np.float32), row_classes
        self._row_squares = np.einsum("md,md->m", self._rows, self._rows)
        # Of distances of copies; those to classes are never so small.
        self.rounding = 1e-5 * float(np.median(self._row_squares)) if len(self._rows) else -np.inf

    def whitened(self, rows: Floats) -> Doubles:
        """Rows (m, d) of unit length, less the mean, where those of a class vary alike in all directions."""
        found: Doubles = (unit_rows(rows.astype(np.float64)) - self.mean) @ self._within
        return found

    def scores(self, rows: Floats, without: NDArray[Any] | None = None) -> Floats:
        """How much rows (m, d) look like those of known classes (m,); of each, one class may be taken for unknown."""
        if len(self._rows):
            return self._by_rows(self.whitened(rows).astype(np.float32), without)
        U = unit_rows(rows.astype(np.float64)) - self.mean
        Z, R = U @ self._within, U @ self._total
        near = 2 * Z @ self._means.T - self._squares
        if without is not None:
            near[np.arange(len(near)), without] = -np.inf
        found: Doubles = np.einsum("md,md->m", R, R) - np.einsum("md,md->m", Z, Z) + near.max(axis=1)
        return found

    def _by_rows(self, Z: Singles, without: NDArray[Any] | None) -> Floats:
        near = 2 * Z @ self._rows.T - self._row_squares
        if without is not None:
            near[without[:, None] == self._row_classes] = -np.inf
        found: Singles = near.max(axis=1) - np.einsum("md,md->m", Z, Z)
        return found

    def all_scores(self, X: Matrix, without: NDArray[Any] | None = None) -> Singles:
        """Those of all rows of a matrix, some at a time."""
        size = max(1, _BYTES // (32 * max(X.shape[1], len(self._means), len(self._rows))))

        def of_rows(at: slice) -> Floats:
            return self.scores(X.rows(at), None if without is None else without[at])

        parts = thread_map(of_rows, spans(len(X), size))
        return np.concatenate([np.zeros(0), *parts]).astype(np.float32)


def _whitening(A: Doubles) -> Doubles:
    """M with M M' the inverse of A (d, d), shrunk by the mean of its variances.

    >>> M = _whitening(np.diag([1.0, 3.0]))
    >>> np.allclose(M @ M.T, np.diag([1 / 3, 1 / 5]))
    True
    """
    from scipy.linalg import solve_triangular

    d = len(A)
    mean = float(A.trace()) / d
    L = np.linalg.cholesky(A + (mean if mean > 0 else 1.0) * np.eye(d))
    return np.ascontiguousarray(solve_triangular(L, np.eye(d), lower=True).T)

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


class KnownClasses(NamedTuple):
    """Rows of unit length: the mean of all, the means of k classes, and how rows spread around these."""

    mean: Singles  # (d,)
    means: Singles  # (k, d): of every class, less the mean
    shares: Singles  # (k,): of every class among the rows
    within: Singles  # (d, d): the covariance around the means of classes

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
        return cls(*(np.asarray(one, np.float32) for one in vectors))

    @classmethod
    def of_model(cls, model: Any) -> "KnownClasses":
        """That of a classifier to which `calibrate` gave it."""
        found, k, d = cls(**model.known_classes_), len(model.classes_), model.n_features_in_
        if found.means.shape != (k, d):
            raise ValueError(f"known_classes_ must have means of shape {k, d}; got {found.means.shape}")
        return found

    def judge(self) -> "KnownJudge":
        """What scores rows, which takes two factorizations."""
        return KnownJudge(self)


class KnownJudge:
    """Relative Mahalanobis distances of rows of unit length.

    The score of a row is by how much nearer it is to the nearest mean of a class than to the mean of all, each in the
    metric of the rows around it: ``(u - g)' (T + t I)^-1 (u - g) - min_c (u - m_c)' (V + v I)^-1 (u - m_c)``, with the
    covariance V around the means m_c of classes, T around the mean g of all, and the mean v or t of the variances of
    all columns, by which they are shrunk.

    Parameters
    ----------
    known : KnownClasses
        What is known of the classes.
    """

    def __init__(self, known: KnownClasses):
        means, within = known.means.astype(np.float64), known.within.astype(np.float64)
        self.mean = known.mean.astype(np.float64)
        with one_blas_thread():
            total = within + (means * known.shares.astype(np.float64)[:, None]).T @ means
            self._within, self._total = _whitening(within), _whitening(total)
            self._means = means @ self._within
        self._squares = np.einsum("kd,kd->k", self._means, self._means)

    def scores(self, rows: Floats) -> Floats:
        """How much rows (m, d) look like those of known classes (m,)."""
        U = unit_rows(rows.astype(np.float64)) - self.mean
        Z, R = U @ self._within, U @ self._total
        nearest = (2 * Z @ self._means.T - self._squares).max(axis=1)
        found: Doubles = np.einsum("md,md->m", R, R) - np.einsum("md,md->m", Z, Z) + nearest
        return found

    def all_scores(self, X: Matrix) -> Singles:
        """Those of all rows of a matrix, some at a time."""
        size = max(1, _BYTES // (32 * max(X.shape[1], len(self._means))))
        parts = thread_map(lambda at: self.scores(X.rows(at)), spans(len(X), size))
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

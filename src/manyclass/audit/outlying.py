"""outliers: rows that are unlike the rest of their class, or of all rows.

How far a row is, is told by its fifth nearest row of the class: copies and one or two friends do not hide it. Cosines
are those of columns less their means and in units of their deviations. Of Caltech features without a fifth of the
classes, of which rows were planted in others (one in twenty, five draws), the farthest, as many as were planted, had 89
to 90 % of them; by distances in place of cosines 28 to 41 %. The fence is strict: beyond it are 26 %, and no others.

Without several classes, cosines are those of the rows as they are. Less their mean, rows of one cloud point everywhere,
and one that is plainly apart is no further. Of 40 Caltech rows without labels whose columns were shuffled, or their
signs changed, or that were made zeros, 40, 38 and 40 are beyond the fence, and none by columns less their means.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.checks import check_count
from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles, Embeddings, ProgressFactory, no_progress
from manyclass.audit.out_of_sample import standard_rows
from manyclass.data.inputs import open_rows
from manyclass.data.matrix import Matrix, spans
from manyclass.estimators.validation import check_labels
from manyclass.retrieval.search import best_candidates

NEAREST = 5

_MOST = 4096  # rows of a class that others are compared with; of more, so many that are spread evenly

_FENCE = 1.5  # times the distance between quartiles, beyond the upper one: Tukey's


@dataclass(frozen=True)
class Outliers:
    """How far every row is from the rest.

    Parameters
    ----------
    distance : ndarray of shape (n,)
        1 less the cosine to the fifth nearest row of the class; 0 for a class of one row, which has no rest.
    percentile : ndarray of shape (n,)
        The percentage of all rows that are nearer to the rest of their class.
    fence : float
        The distance beyond which a row is far: the upper quartile of all, and 1.5 times the distance of the quartiles.
    """

    distance: Doubles
    percentile: Doubles
    fence: float

    def ranked(self) -> NDArray[np.intp]:
        """Rank the rows that are beyond the fence.

        Returns
        -------
        ndarray of intp
            Numbers of rows, the farthest first.
        """
        order = np.argsort(-self.distance, kind="stable")
        return order[self.distance[order] > self.fence]


def outliers(X: Any, y: Any = None, *, nearest: int = NEAREST, progress: ProgressFactory | None = None) -> Outliers:
    """Find rows that are far from the rest of their class, or from all rows without labels.

    Far is by angle, and the length of a row does not count.

    Parameters
    ----------
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes, codes too.
    y : array-like of shape (n,), default=None
        Labels; None to compare with all rows.
    nearest : int, default=5
        Which of the nearest rows tells the distance; of smaller classes it is the last.
    progress : callable, default=None
        Called as progress("measuring", "rows") for a context manager that gives a function of (done, total).

    Returns
    -------
    Outliers
        Distances and percentiles of all rows.

    Examples
    --------
    >>> y, rng = np.repeat([0, 1, 2], 20), np.random.default_rng(0)
    >>> X = 3 * np.eye(3, 8)[y] + 0.3 * rng.normal(size=(60, 8))
    >>> X[7] = X[50]  # a row that looks like another class
    >>> outliers(X, y).ranked()
    array([7])
    """
    check_count(nearest, "nearest")
    matrix = open_rows(X)
    n = len(matrix)
    codes = np.zeros(n, np.intp) if y is None else np.unique(check_labels(y, n), return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    Z = standard_rows(matrix) if len(members) > 1 else _unit(matrix)
    distance, done = np.zeros(n), 0
    with (progress or no_progress)("measuring", "rows") as report:
        for rows, found in zip(members, thread_map(lambda rows: _distances(Z, rows, nearest), members), strict=True):
            distance[rows] = found
            done += len(rows)
            report(done, n)
    low, high = np.quantile(distance, (0.25, 0.75))
    nearer = np.searchsorted(np.sort(distance), distance, side="left")
    return Outliers(distance, 100 * nearer / max(1, n - 1), float(high + _FENCE * (high - low)))


def _unit(X: Matrix) -> Embeddings:
    """Rows (n, d) of unit length; rows of zeros stay zeros."""
    out = np.empty(X.shape, np.float32)
    for start, rows in X.blocks():
        out[start : start + len(rows)] = unit_rows(rows.astype(np.float64))
    return out


def _distances(Z: Embeddings, rows: NDArray[np.intp], nearest: int) -> Doubles:
    """1 less the cosine to the row that is so near, for rows of one class."""
    m = len(rows)
    if m == 1:
        return np.zeros(1)
    asked = rows[np.unique(np.linspace(0, m - 1, min(m, _MOST)).astype(np.intp))]
    others, j = Z[asked], min(nearest, len(asked) - 1)
    out = np.empty(m)
    with one_blas_thread():
        for at in spans(m, 1024):
            cosines, found = best_candidates(Z[rows[at]], [(0, others, None)], j + 1)
            itself = asked[found] == rows[at][:, None]
            # Where the row is not among them, the last one is one too many.
            itself[~itself.any(axis=1), -1] = True
            out[at] = 1 - cosines[~itself].reshape(-1, j)[:, -1]
    return np.maximum(out, 0)

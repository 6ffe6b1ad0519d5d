"""Low-rank classes: generated rows of many classes, whose means span few dimensions, made when they are asked for."""

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count, check_nonnegative
from manyclass._core.parallel import for_each, one_blas_thread
from manyclass._core.typing import Floats
from manyclass.data.matrix import Matrix, spans

# Rows that share a source of random numbers: few, as one row costs as much as all of them, yet enough for BLAS.
_TOGETHER = 16

_PER_TASK = 16  # groups that a thread makes in one go

_MEANS, _LABELS, _ROWS = range(3)  # in every seed, so that no two things draw the same numbers


class LowRankClasses(Matrix):
    """Generated rows of many classes: a Matrix that holds no rows but makes them.

    Row i is m + S's + noise * e, divided by its length, where m is the mean of its class, s and e are standard normal,
    and the rows of S are the few directions, in the span of the means, in which all classes vary most. A row depends on
    the seed and its number alone. Consecutive rows are cheap; an isolated one costs as much as 16. `low_rank_classes`
    makes one of these.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_features), float32
        Means m of the classes.
    directions : ndarray of shape (n_directions, n_features), float32
        Directions S, times the deviation along them.
    y : ndarray of shape (n_examples,), int64
        Class of each row.
    noise : float
        Standard deviation in every dimension.
    seed : int
        Seed of the rows.

    Attributes
    ----------
    shape : tuple of int
        Number of rows and of features.
    dtype : dtype
        Type of the rows, float32.
    """

    dtype = np.dtype(np.float32)

    def __init__(
        self, means: NDArray[np.float32], directions: NDArray[np.float32], y: NDArray[np.int64], noise: float, seed: int
    ):
        self.means = means
        self.directions = directions
        self.y = y
        self.noise = noise
        self.seed = seed
        self.shape = (len(y), means.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, whether they occur in y or not."""
        return len(self.means)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays that the rows are made from."""
        return int(self.means.nbytes + self.directions.nbytes + self.y.nbytes)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        positions = np.arange(index.start, index.stop) if isinstance(index, slice) else index
        out = np.empty((len(positions), self.shape[1]), np.float32)
        groups = _group_positions(positions // _TOGETHER)

        def fill(some: slice) -> None:
            for here in groups[some]:
                out[here] = self._generate(positions[here])

        for_each(fill, spans(len(groups), _PER_TASK))
        return out

    def _generate(self, positions: NDArray[np.intp]) -> Floats:
        """Rows from one and the same group of _TOGETHER."""
        rows = self.means[self.y[positions]] + self._variations(int(positions[0]) // _TOGETHER)[positions % _TOGETHER]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def _variations(self, group: int) -> Floats:
        """What a whole group of rows adds to the means: whole, so that the bits do not depend on what is asked for."""
        q, d = self.directions.shape
        numbers = _generator(self.seed, _ROWS, group).standard_normal((_TOGETHER, q + d), np.float32)
        added: Floats = numbers[:, :q] @ self.directions
        added += np.float32(self.noise) * numbers[:, q:]
        return added


def low_rank_classes(
    n: int,
    d: int,
    n_classes: int,
    rank: int | None = None,
    noise: float = 0.15,
    shared: float = 0.5,
    imbalance: float = 0.0,
    random_state: int = 0,
) -> LowRankClasses:
    """Generate rows of unit length whose class means span a subspace of low dimension.

    Means have unit length. Around them all classes vary alike: by `shared` along each of rank / 4 directions in the
    span of the means, which a classifier must learn to ignore, and by `noise` in every dimension. The defaults suit
    1,000 classes of 50 examples in 1,024 dimensions, of which plain ridge regression then gets about seven in ten
    right.

    Frequencies of classes are proportional to (c + 1) ** -imbalance. Every n_classes consecutive rows hold each class
    as often as its frequency says, rounded up or down: without imbalance, once. More rows are the same rows and then
    others, so those after the first n are a test set; with another imbalance they are of the same classes.

    Parameters
    ----------
    n : int
        Number of rows.
    d : int
        Number of features.
    n_classes : int
        Number of classes.
    rank : int, default=None
        Dimension of the span of the means; None for 64, or d if that is less.
    noise : float, default=0.15
        Standard deviation in every dimension.
    shared : float, default=0.5
        Standard deviation along the shared directions.
    imbalance : float, default=0.0
        Exponent of the frequencies of the classes; 0 for equal ones.
    random_state : int, default=0
        Seed.

    Returns
    -------
    LowRankClasses
        Matrix of shape (n, d), with labels `y`.

    Examples
    --------
    >>> X = low_rank_classes(60, d=32, n_classes=10)
    >>> X
    LowRankClasses(60 x 32 float32, 0.0 MB)
    >>> X_train, y_train = X.rows(slice(0, 50)), X.y[:50]
    >>> X_train.shape, sorted(X.y[50:].tolist())
    ((50, 32), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    check_count(n, "n", least=0)
    check_count(d, "d")
    check_count(n_classes, "n_classes")
    rank = min(64, d) if rank is None else check_count(rank, "rank", most=d)
    for value, name in ((noise, "noise"), (shared, "shared"), (imbalance, "imbalance")):
        check_nonnegative(value, name)
    seed = check_count(random_state, "random_state", least=0, most=2**32 - 1)
    means, directions = _subspace(d, n_classes, rank, _generator(seed, _MEANS))
    y = _labels(n, n_classes, imbalance, seed)
    return LowRankClasses(means, np.float32(shared) * directions, y, noise, seed)


def _subspace(d: int, k: int, rank: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Means (k, d) and directions (rank / 4, d), of unit length and all in one random subspace."""
    with one_blas_thread():
        basis = np.linalg.qr(rng.standard_normal((d, rank)))[0].T.astype(np.float32)
        directions = _normalize_rows(rng.standard_normal((max(1, rank // 4), rank), np.float32))
        means = _normalize_rows(rng.standard_normal((k, rank), np.float32))
        return means @ basis, directions @ basis


def _labels(n: int, k: int, imbalance: float, seed: int) -> NDArray[np.int64]:
    """Systematic sampling: of every k rows, one per unit of length of frequencies laid end to end, then shuffled."""
    frequencies = np.arange(1, k + 1, dtype=np.float64) ** -imbalance
    ends = np.cumsum(frequencies)
    ends *= k / ends[-1]
    rng = _generator(seed, _LABELS)
    places = rng.random(-(-n // k))[:, None] + np.arange(k)
    # The last place may be rounded up to the end itself.
    drawn = np.minimum(np.searchsorted(ends, places, side="right"), k - 1)
    return _generator(seed, _LABELS, 1).permuted(drawn, axis=1).ravel()[:n].astype(np.int64, copy=False)


def _group_positions(groups: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Where each group occurs, in the order of the groups.

    >>> _group_positions(np.array([5, 2, 5]))
    [array([1]), array([0, 2])]
    """
    if not len(groups):
        return []
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _generator(seed: int, *of: int) -> np.random.Generator:
    return np.random.default_rng([seed, *of])


def _normalize_rows(A: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.linalg.norm(A, axis=1, keepdims=True)
    return A / lengths

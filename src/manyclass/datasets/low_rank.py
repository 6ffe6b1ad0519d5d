"""Generated rows of many classes, made when they are asked for."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass._blas import in_order, one_thread
from manyclass.data.matrix import Matrix
from manyclass.data.tiles import Floats, spans

# Rows that share a source of random numbers: few, as one row costs as much as all of them, yet enough for BLAS.
_TOGETHER = 16
_PER_TASK = 16  # groups that a thread makes in one go
_MEANS, _LABELS, _ROWS = range(3)  # part of every seed, so that no two things draw the same numbers


class LowRankClasses(Matrix):
    """Rows (n, d) float32 of n_classes classes, `y` (n,); a Matrix that holds no rows, but makes them.

    Row i is m + S's + noise * e, divided by its length, where m is the mean of its class, s and e are normal numbers,
    and the rows of S are the few directions, from the span of the means, in which all classes vary most. A row depends
    on the seed and its number alone. Rows that follow one another are cheap; one that stands apart costs as much as 16.
    See `low_rank_classes`.
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
        """Classes, whether they occur in y or not."""
        return len(self.means)

    @property
    def nbytes(self) -> int:
        """Bytes of what the rows are made from."""
        return int(self.means.nbytes + self.directions.nbytes + self.y.nbytes)

    def _rows(self, index: slice | NDArray[np.intp]) -> Floats:
        positions = np.arange(index.start, index.stop) if isinstance(index, slice) else index
        out = np.empty((len(positions), self.shape[1]), np.float32)
        groups = _groups(positions // _TOGETHER)

        def fill(some: slice) -> None:
            for here in groups[some]:
                out[here] = self._made(positions[here])

        for _ in in_order(fill, spans(len(groups), _PER_TASK)):
            pass
        return out

    def _made(self, positions: NDArray[np.intp]) -> Floats:
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
    """n rows of unit length in d dimensions, whose class means span `rank` dimensions.

    Means have unit length. Around them all classes vary alike: by `shared` along each of rank / 4 directions that the
    means span too, which a classifier must learn to overlook, and by `noise` in every one of the d dimensions. The
    defaults (rank 64, or d if that is less) suit 1,000 classes of 50 examples in 1,024 dimensions, of which plain
    ridge regression then gets about seven in ten right.

    Class c has a share of (c + 1) ** -imbalance. Every n_classes consecutive rows hold each class as often as its
    share tells, rounded up or down: with no imbalance, once. More rows are the same rows and then others, so those
    after the first n are a test set; and with another imbalance they are of the same classes.

    >>> X = low_rank_classes(60, d=32, n_classes=10)
    >>> X
    LowRankClasses(60 x 32 float32, 0.0 MB)
    >>> X_train, y_train = X.rows(slice(0, 50)), X.y[:50]
    >>> X_train.shape, sorted(X.y[50:].tolist())
    ((50, 32), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    _checks.count(n, "n", least=0)
    _checks.count(d, "d")
    _checks.count(n_classes, "n_classes")
    rank = min(64, d) if rank is None else _checks.count(rank, "rank", most=d)
    for value, name in ((noise, "noise"), (shared, "shared"), (imbalance, "imbalance")):
        _check_size(value, name)
    seed = _checks.count(random_state, "random_state", least=0, most=2**32 - 1)
    means, directions = _subspace(d, n_classes, rank, _generator(seed, _MEANS))
    y = _labels(n, n_classes, imbalance, seed)
    return LowRankClasses(means, np.float32(shared) * directions, y, noise, seed)


def _subspace(d: int, k: int, rank: int, rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Means (k, d) and directions (rank / 4, d), of unit length and all in one random subspace."""
    with one_thread():
        basis = np.linalg.qr(rng.standard_normal((d, rank)))[0].T.astype(np.float32)
        directions = _unit(rng.standard_normal((max(1, rank // 4), rank), np.float32))
        means = _unit(rng.standard_normal((k, rank), np.float32))
        return means @ basis, directions @ basis


def _labels(n: int, k: int, imbalance: float, seed: int) -> NDArray[np.int64]:
    """Systematic sampling: of every k rows, one per unit of length of the shares laid end to end, then shuffled."""
    shares = np.arange(1, k + 1, dtype=np.float64) ** -imbalance
    ends = np.cumsum(shares)
    ends *= k / ends[-1]
    rng = _generator(seed, _LABELS)
    places = rng.random(-(-n // k))[:, None] + np.arange(k)
    # The last place may be rounded up to the end itself.
    drawn = np.minimum(np.searchsorted(ends, places, side="right"), k - 1)
    return _generator(seed, _LABELS, 1).permuted(drawn, axis=1).ravel()[:n].astype(np.int64, copy=False)


def _groups(homes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Where each home occurs, in the order of the homes.

    >>> _groups(np.array([5, 2, 5]))
    [array([1]), array([0, 2])]
    """
    if not len(homes):
        return []
    order = np.argsort(homes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(homes[order])) + 1)


def _generator(seed: int, *of: int) -> np.random.Generator:
    return np.random.default_rng([seed, *of])


def _unit(A: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.linalg.norm(A, axis=1, keepdims=True)
    return A / lengths


def _check_size(value: Any, name: str) -> None:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number, at least 0; got {value!r}")

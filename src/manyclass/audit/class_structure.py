"""class_pairs: classes that should be one; class_splits: classes that should be two.

Two classes are taken for one another if, each way, more rows that were held out go to the other one than would if all
mistakes were spread evenly over classes (binomial, times the number of pairs). They cannot be told apart if a half,
which is what a coin would give, is within the interval of the part that goes wrong, or below it.

A class is split along the direction in which its rows differ most, where two means explain most. Rows of one cloud
could be spread there like a bell or, at worst, evenly; two means explain 3/4 of what is spread evenly, and whether they
explain more than chance would is told by draws of as many numbers. Less than a tenth of the rows are no kind but
outliers or wrong labels: these are set aside, and the rest is looked at again.
"""

from dataclasses import dataclass
from functools import cache
from math import ceil, comb, erfc, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_fraction
from manyclass._core.parallel import one_blas_thread, thread_map
from manyclass._core.typing import Doubles
from manyclass.audit.mislabeled import LabelErrors, label_errors
from manyclass.data.inputs import open_rows
from manyclass.data.matrix import Matrix
from manyclass.estimators.validation import encode_labels
from manyclass.evaluation.proportions import binomial_tail, wilson_interval

_MOST_ROWS, _FEWEST_ROWS = 512, 8  # of a class that is split: of more some are looked at, and of fewer none

_LEAST_PART, _LEAST_KIND = 0.1, 3  # of the rows of a class, and rows, that are a kind

_DRAWS = 400

_ROUNDING = 1e-12  # of squares of rows, in which rows that are all the same may differ


@dataclass(frozen=True)
class ClassPair:
    """Two classes that are taken for one another.

    Parameters
    ----------
    first, second : object
        The labels.
    confused : int
        Rows of one that go to the other.
    rows : int
        Rows of both that go to one of them.
    low, high : float
        The 95 % interval of the part that is confused.
    p_value : float
        How likely chance would confuse any pair as often, each way.
    """

    first: Any
    second: Any
    confused: int
    rows: int
    low: float
    high: float
    p_value: float

    @property
    def same(self) -> bool:
        """Whether the two cannot be told apart, a bool."""
        return self.high >= 0.5


@dataclass(frozen=True)
class ClassSplit:
    """A class whose rows are of two kinds.

    Parameters
    ----------
    label : object
        The label.
    rows : ndarray of intp
        Rows of the smaller kind.
    size : int
        Rows of the class that were looked at.
    explained : float
        The part of the variance along the leading direction that two means explain.
    p_value : float
        How likely any class of one kind would be split as well.
    """

    label: Any
    rows: NDArray[np.intp]
    size: int
    explained: float
    p_value: float


def class_pairs(X: Any, y: Any, *, errors: LabelErrors | None = None, level: float = 0.05) -> list[ClassPair]:
    """Find pairs of classes that are taken for one another, more than chance explains.

    Mistakes of a pair are compared with those of all pairs; two classes alone have no others, and are never found.

    Parameters
    ----------
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes.
    y : array-like of shape (n,)
        Labels.
    errors : LabelErrors, default=None
        What `label_errors` found for these rows; worked out if it is not given.
    level : float, default=0.05
        The most probable chance to accept.

    Returns
    -------
    list of ClassPair
        The most confused first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["cat", "dog", "kitten", "owl"], 40)
    >>> means = np.array([[3, 0, 0], [0, 3, 0], [3, 0, 0], [0, 0, 3]])
    >>> X = np.repeat(means, 40, axis=0) + 0.3 * rng.normal(size=(160, 3))
    >>> [(pair.first, pair.second, pair.same) for pair in class_pairs(X, y)]
    [(np.str_('cat'), np.str_('kitten'), True)]
    """
    check_fraction(level, "level")
    errors = label_errors(X, y) if errors is None else errors
    classes, given = encode_labels(errors.given, len(errors.given))
    k, n = len(classes), len(given)
    predicted = np.where(errors.disputed, np.searchsorted(classes, errors.proposed), given)
    codes, counts = np.unique(given.astype(np.int64) * k + predicted, return_counts=True)
    times = dict(zip(codes.tolist(), counts.tolist(), strict=True))
    sizes, pairs = np.bincount(given, minlength=k).tolist(), comb(k, 2)
    by_chance = np.count_nonzero(predicted != given) / n / (k - 1)
    found = []
    for a, b in {(min(divmod(code, k)), max(divmod(code, k))) for code in times}:
        to_b, to_a = times.get(a * k + b, 0), times.get(b * k + a, 0)
        if a == b or not (to_a and to_b):
            continue
        p = pairs * max(binomial_tail(to_b, sizes[a], by_chance), binomial_tail(to_a, sizes[b], by_chance))
        rows = to_a + to_b + times.get(a * k + a, 0) + times.get(b * k + b, 0)
        if p < level:
            low, high = wilson_interval(to_a + to_b, rows)
            found.append(ClassPair(classes[a], classes[b], to_a + to_b, rows, low, high, p))
    return sorted(found, key=lambda pair: (-pair.low, str(pair.first), str(pair.second)))


def class_splits(X: Any, y: Any, *, level: float = 0.05) -> list[ClassSplit]:
    """Find classes whose rows are of two kinds, more clearly than chance explains.

    Parameters
    ----------
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes.
    y : array-like of shape (n,)
        Labels; classes of fewer than eight rows are not looked at, and a kind has a tenth of the rows at least.
    level : float, default=0.05
        The most probable chance to accept.

    Returns
    -------
    list of ClassSplit
        The clearest first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["bird", "crane"], 40)
    >>> X = rng.normal(size=(80, 3))
    >>> X[60:, 0] += 20  # half of the cranes lift loads
    >>> [(split.label, len(split.rows)) for split in class_splits(X, y)]
    [(np.str_('crane'), 20)]
    """
    check_fraction(level, "level")
    matrix = open_rows(X)
    classes, codes = encode_labels(y, len(matrix))
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    large = [c for c, rows in enumerate(members) if len(rows) >= _FEWEST_ROWS]
    found = []
    for c, (explained, rows, size) in zip(large, thread_map(lambda c: _split(matrix, members[c]), large), strict=True):
        mean, deviation = _of_even_spread(size)
        p = len(large) * 0.5 * erfc((explained - mean) / deviation / sqrt(2))
        if p < level:
            found.append(ClassSplit(classes[c], rows, size, explained, p))
    return sorted(found, key=lambda split: (split.p_value, -split.explained))


def _split(X: Matrix, rows: NDArray[np.intp]) -> tuple[float, NDArray[np.intp], int]:
    """(what two means explain, rows of the smaller kind, rows that were looked at) of the rows of a class."""
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST_ROWS)).astype(np.intp))]
    least = max(_LEAST_KIND, ceil(_LEAST_PART * len(rows)))
    fewest = max(_FEWEST_ROWS, len(rows) - least + 1)
    B = X.rows(rows).astype(np.float64)
    while len(rows) >= fewest:
        explained, smaller = _two_kinds(B)
        if len(smaller) >= least:
            return explained, rows[smaller], len(rows)
        if not len(smaller):
            break
        rows, B = np.delete(rows, smaller), np.delete(B, smaller, axis=0)
    return 0.0, rows[:0], len(rows)


def _two_kinds(B: Doubles) -> tuple[float, NDArray[np.intp]]:
    """(what two means explain of the leading direction of rows (m, d), positions of the smaller kind, ascending)."""
    length = float(np.square(B).sum())
    B = B - B.mean(axis=0)
    with one_blas_thread():
        variances, places = np.linalg.eigh(B @ B.T)
    if variances[-1] <= _ROUNDING * length:
        return 0.0, np.zeros(0, np.intp)
    along = places[:, -1]  # where the rows are along the direction, but for their scale
    order = np.argsort(along, kind="stable")
    explained, size = best_split(along[order])
    smaller = order[:size] if 2 * size <= len(order) else order[size:]
    return explained, np.sort(smaller)


def best_split(values: Doubles) -> tuple[float, int]:
    """The most of the variance of sorted values (m,) that two means explain, and how many values the first has.

    >>> best_split(np.array([0.0, 0.0, 0.0, 1.0]))
    (1.0, 3)
    """
    m, centered = len(values), values - values.mean()
    total = float(centered @ centered)
    if total == 0:
        return 0.0, 1
    sizes = np.arange(1, m)
    between = np.cumsum(centered)[:-1] ** 2 * (1 / sizes + 1 / (m - sizes))
    return float(between.max() / total), int(between.argmax()) + 1


@cache
def _of_even_spread(m: int) -> tuple[float, float]:
    """Mean and deviation of what two means explain of m numbers that are drawn evenly."""
    draws = np.sort(np.random.default_rng(m).random((_DRAWS, m)), axis=1)
    explained = [best_split(values)[0] for values in draws]
    return float(np.mean(explained)), float(np.std(explained))

"""From which score on a row is of a class, and with which probability, where rows have any number of classes.

Both are read off histograms of scores that rows have which machines have not seen, in units of the deviation of a
class. Of a class with few rows of its own chance makes much of the best threshold, so it counts as if it had `PRIOR`
rows more, which score as those of classes of about its size do, as do all rows beside them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.label_lists import LabelLists
from manyclass._core.typing import Arrays, Doubles, Floats
from manyclass.data.matrix import spans
from manyclass.solvers.closed_form import RidgeSystem
from manyclass.solvers.leave_one_out import some_left_out_scores
from manyclass.solvers.problem import Problem
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.ranking_jury import RankingJury

# Rows that a class has more. Measured with 0.3, 3, 30 and 100, closed form, macro F1: 68.5, 68.9, 69.9 and 70.4 %
# (Omniglot's characters and alphabets), 65.7, 65.7, 66.4 and 66.6 (300 labels on 4,000 generated rows), 87.5, 89.6,
# 89.7 and 89.5 (500 on 2,000); micro F1 75.3 to 76.4, 80.9 to 81.3, 95.9 to 97.3, least with 0.3. Probabilities have
# the least loss with 10. Where classes of all sizes are pooled, 30 is far too many: 74.9 % micro F1 of Omniglot.
PRIOR = 20.0

# Rows above a threshold at most, for each of the class: of a class that scores say nothing of, F1 is best if all rows
# are said to be of it. Of 400 labels at random 360 were predicted for a row; with 8, none to 3. Where scores say much,
# it changes no threshold.
_MOST_ABOVE = 8

_BINS = 512  # of a histogram at most

# Rows that are left out at least, and scores of them at most.
_LEAST_ROWS, _MOST_SCORES = 1024, 1 << 25

_PANEL = 128  # classes whose scores are held at a time

_SAMPLE = 256  # classes by which those of all are known

RULES = ("thresholds_", "slopes_", "offsets_")  # of a classifier, in the order of `ScoreRules`

_LEAST_POOLED = 64  # rows of classes of one size that tell what such classes are like

_STEPS = 12  # of Newton's method at most; it takes five or six

ClassScores = Callable[[NDArray[np.intp]], Floats]  # of some classes (m,): the scores of all rows (m, n)


class ScoreRules(NamedTuple):
    """What the scores s of k classes mean.

    A row is of the class if s > threshold, with the probability 1 / (1 + exp(-(slope s + offset))).
    """

    thresholds: Doubles  # (k,)
    slopes: Doubles  # (k,), or none where nothing is known
    offsets: Doubles  # (k,), likewise

    @classmethod
    def learn(cls, scores: ClassScores, labels: LabelLists, k: int, weights: Floats | None = None) -> "ScoreRules":
        """Those for rows with these classes and weights, by their scores.

        >>> S = np.float32([[2, 1.5, -1, -2], [-3, -2, 1, 2]])
        >>> rules = ScoreRules.learn(lambda classes: S[classes], LabelLists.single([0, 0, 1, 1]), 2)
        >>> LabelLists.above(S.T, rules.thresholds).classes.tolist()
        [0, 0, 1, 1]
        """
        w = np.ones(len(labels)) if weights is None else np.asarray(weights, np.float64)
        rows = _RowsOfClasses(labels, k, w)
        sizes = labels.sizes(k)
        some = np.argsort(sizes, kind="stable")[np.linspace(0, k - 1, min(k, _SAMPLE)).astype(np.intp)]
        first = _Standardized.of(scores(some), w).S
        own = np.concatenate([first[i, rows.of(c)] for i, c in enumerate(some)])
        if not len(own):
            return cls.plain(k)
        edges = _edges(first, own)
        pools, found = _Pools(_Histograms.of(first, some, rows, edges), sizes[some]), []
        for panel in _panels(k):
            unit = _Standardized.of(scores(panel), w)
            found.append(unit.undone(pools.rules_of(_Histograms.of(unit.S, panel, rows, edges), sizes[panel])))
        return cls(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    @classmethod
    def plain(cls, k: int) -> "ScoreRules":
        """Those of k machines of which nothing is known but their own sign."""
        return cls(np.zeros(k), np.zeros(0), np.zeros(0))

    def never(self, classes: NDArray[np.bool_]) -> "ScoreRules":
        """Those by which no row is of some classes, such as machines have not seen."""
        return self._replace(thresholds=np.where(classes, np.inf, self.thresholds))

    def arrays(self) -> Arrays | None:
        """For files, by name; None where nothing is known."""
        return self._asdict() if len(self.slopes) else None

    @classmethod
    def of_arrays(cls, arrays: Arrays, k: int) -> "ScoreRules":
        """Those of k classes that a file has, which is not believed."""
        if set(arrays) != set(cls._fields) or any(values.shape != (k,) for values in arrays.values()):
            raise ValueError(f"a checkpoint must have thresholds of {k} classes; got others")
        return cls(**arrays)


def held_out_rules(machines: LinearWeights, judged: Problem) -> ScoreRules:
    """Those of machines, by examples that they have not seen."""
    jury = RankingJury(judged)
    labels, weights = judged.label_lists(judged.index), judged.weights[judged.index]
    return ScoreRules.learn(lambda classes: jury.scores(machines, classes), labels, judged.k, weights)


def left_out_rules(
    system: RidgeSystem, problem: Problem, total: float, strength: float, scale: float = 0.0
) -> ScoreRules:
    """Those of a closed form, by rows that are left out one by one: all, or as many as their scores leave room for."""
    most = max(_LEAST_ROWS, _MOST_SCORES // problem.k)
    rows, S = some_left_out_scores(system, problem, total, strength, most, scale)
    index = problem.index[rows]
    return ScoreRules.learn(lambda classes: S.T[classes], problem.label_lists(index), problem.k, problem.weights[index])


def rule_shapes(fitted: dict[str, Any], k: int) -> dict[str, tuple[int, ...]]:
    """The shapes that rules of a saved classifier of k classes must have, by attribute."""
    return {name: (k,) for name in RULES if name in fitted}


class _Standardized(NamedTuple):
    """Scores of some classes (m, n) with mean 0 and variance 1 each: the unit in which classes are alike.

    Machines of rare classes may score all rows low, and hardly vary.
    """

    S: Floats
    means: Doubles  # (m,)
    scales: Doubles  # (m,)

    @classmethod
    def of(cls, S: Floats, weights: Doubles) -> "_Standardized":
        w = weights / max(float(weights.sum()), 1e-300)
        means = S @ w
        scales = np.sqrt(np.square(S - means[:, None]) @ w)
        scales = np.where(scales > 1e-12 * np.abs(means), scales, 1.0)
        return cls((S - means[:, None]) / scales[:, None], means, scales)

    def undone(self, rules: ScoreRules) -> ScoreRules:
        """The rules for the scores as they were."""
        slopes = rules.slopes / self.scales
        return ScoreRules(rules.thresholds * self.scales + self.means, slopes, rules.offsets - slopes * self.means)


def _panels(k: int) -> list[NDArray[np.intp]]:
    return [np.arange(at.start, at.stop) for at in spans(k, _PANEL)]


def _edges(S: Floats, own: Floats) -> Doubles:
    """Where bins begin, but for the first: as many by the scores of rows of the classes as by those of all."""
    parts = [np.quantile(some, np.linspace(0, 1, _BINS // 2)) for some in (own, S.ravel()[:: max(1, S.size >> 18)])]
    return np.unique(np.concatenate(parts)).astype(np.float64)


class _RowsOfClasses:
    """The rows of each class, with the weights of all rows."""

    def __init__(self, labels: LabelLists, k: int, weights: Doubles):
        self.weights = weights
        self._rows = labels.rows[np.argsort(labels.classes, kind="stable")]
        self._ends = np.concatenate([[0], np.cumsum(labels.sizes(k))])

    def of(self, c: int) -> NDArray[np.int64]:
        return self._rows[self._ends[c] : self._ends[c + 1]]


class _Histograms(NamedTuple):
    """Weights of rows by their scores, of m classes; bin 0 is below the first edge, which is the least score."""

    own: Doubles  # (m, b): rows of the class
    all: Doubles  # (m, b): all rows
    edges: Doubles  # (b - 1,)
    centers: Doubles  # (b,): scores that stand for those of a bin

    @classmethod
    def of(cls, S: Floats, classes: NDArray[np.intp], rows: _RowsOfClasses, edges: Doubles) -> "_Histograms":
        m, b = len(S), len(edges) + 1
        own, every = np.zeros((m, b)), np.zeros((m, b))
        for i, c in enumerate(classes):
            bins = np.searchsorted(edges, S[i], side="left")  # a score at an edge is not above it
            mine = rows.of(int(c))
            every[i] = np.bincount(bins, rows.weights, b)
            own[i] = np.bincount(bins[mine], rows.weights[mine], b)
        middles = np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]])
        return cls(own, every, edges, middles)

    def take(self, classes: NDArray[np.bool_]) -> "_Histograms":
        """Those of some of the classes."""
        return self._replace(own=self.own[classes], all=self.all[classes])

    def pooled(self) -> "_Pooled":
        """Those of all classes together."""
        own, every = self.own.sum(axis=0), self.all.sum(axis=0)
        theta, curvature = _logistic(own[None], every[None], self.centers)
        return _Pooled(own / own.sum(), every / own.sum(), theta[0], curvature[0] / own.sum())


class _Pooled(NamedTuple):
    """What is known of the scores of all classes, for one row of a class."""

    own: Doubles  # (b,): its share of each bin
    all: Doubles  # (b,): rows that there are beside it
    theta: Doubles  # (2,): slope and offset
    curvature: Doubles  # (2, 2): of the logistic loss there

    def rules_of(self, some: _Histograms) -> ScoreRules:
        """The rules of some classes."""
        return ScoreRules(self._thresholds(some), *self._slopes(some))

    def _thresholds(self, some: _Histograms) -> Doubles:
        """Those of the largest 2 TP / (rows above + rows of the class), with `PRIOR` rows more of each class."""
        hits, above = (_above(own + PRIOR * more) for own, more in ((some.own, self.own), (some.all, self.all)))
        total = some.own.sum(axis=1, keepdims=True) + PRIOR
        F = np.where(above <= _MOST_ABOVE * total, 2 * hits / (above + total), 0)
        # Where scores say nothing of a class no row is of it.
        return np.asarray(some.edges[np.where(F.max(axis=1) > 0, F.argmax(axis=1), -1)])

    def _slopes(self, some: _Histograms) -> tuple[Doubles, Doubles]:
        """Platt's, where the rows more are what they add to the curvature around those of all classes."""
        theta, _ = _logistic(some.own, some.all, some.centers, self.theta, PRIOR * self.curvature)
        return theta[:, 0], theta[:, 1]


class _Pools:
    """What is known of the scores of classes of about the same size, and of all where those have few rows."""

    def __init__(self, some: _Histograms, sizes: NDArray[np.intp]):
        self._all, self._alike = some.pooled(), {}
        for group in np.unique(_groups(sizes)):
            alike = _groups(sizes) == group
            if sizes[alike].sum() >= _LEAST_POOLED:
                self._alike[int(group)] = some.take(alike).pooled()

    def rules_of(self, some: _Histograms, sizes: NDArray[np.intp]) -> ScoreRules:
        """The rules of some classes."""
        found = np.empty((len(ScoreRules._fields), len(sizes)))
        for group in np.unique(_groups(sizes)):
            alike = _groups(sizes) == group
            found[:, alike] = self._alike.get(int(group), self._all).rules_of(some.take(alike))
        return ScoreRules(*found)


def _groups(sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Classes of up to four times as many rows are of one group."""
    return (np.log2(sizes + 1) / 2).astype(np.intp)


def _above(counts: Doubles) -> Doubles:
    """Sums over the bins above every edge (m, b - 1)."""
    return counts[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]


def _logistic(
    own: Doubles, every: Doubles, s: Doubles, center: Doubles | None = None, curvature: Doubles | None = None
) -> tuple[Doubles, Doubles]:
    """Slope and offset (m, 2) of m logistic regressions on one variable, and the curvature of their losses (m, 2, 2).

    The penalty is the quadratic form of `curvature` around `center`; without one, next to nothing.
    """
    scale = max(float(np.sqrt(np.average(s**2, weights=every.sum(axis=0)))), 1e-12)
    X = np.stack([s / scale, np.ones_like(s)], axis=1)
    unit = np.array([scale, 1.0])  # theta is of s / scale here
    start = np.array([0.0, 0.0]) if center is None else center * unit
    H0 = 1e-6 * np.eye(2) + (0.0 if curvature is None else curvature / np.outer(unit, unit))
    theta = np.tile(start, (len(own), 1))
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(theta @ X.T, -40, 40)))
        gradient = (every * p - own) @ X + (theta - start) @ H0
        hessian = np.einsum("mb,bi,bj->mij", every * p * (1 - p), X, X)
        move = np.linalg.solve(hessian + H0, gradient[:, :, None])[:, :, 0]
        # A step of more than a few units leaves where the quadratic form is worth anything.
        move *= np.minimum(1.0, 4.0 / np.maximum(np.abs(move).max(axis=1, keepdims=True), 1e-300))
        theta -= move
        if np.abs(move).max(initial=0) < 1e-8:
            break
    return theta / unit, hessian * np.outer(unit, unit)

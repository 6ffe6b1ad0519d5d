"""label_errors: which labels are likely wrong, and what they should be, by what all other rows say of each.

Every row is judged by machines and neighbors that have not seen its label (`out_of_sample`), and ranked by how
unlikely it is (`label_noise`). How likely a label is wrong is the mean of what the model of noise says of rows of about
that rank: of all curves that fall with the score, the one that is nearest to it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Labels, ProgressFactory, no_progress
from manyclass.audit.label_noise import LabelNoise, LabelVerdicts
from manyclass.audit.out_of_sample import N_NEIGHBORS, LeftOutMachines, Neighbors, NeighborVotes, View
from manyclass.data.inputs import open_rows
from manyclass.data.matrix import spans
from manyclass.estimators.validation import encode_labels

_BLOCK = 1 << 19  # scores that are worked on at once

_SAMPLE, _FEWEST = 1 << 18, 1024  # scores that the noise is learned from, and rows at least

MOST_COLUMNS = 8192  # columns or rows, of which the fewer count, up to which machines are made


@dataclass(frozen=True)
class LabelErrors:
    """What is known of the label of every row.

    Parameters
    ----------
    probability : ndarray of shape (n,)
        The probability that the label is wrong.
    score : ndarray of shape (n,)
        What rows are ranked by: the lower, the less do all other rows agree with the label.
    given : ndarray of shape (n,)
        The labels.
    proposed : ndarray of shape (n,)
        The best other class.
    disputed : ndarray of shape (n,), bool
        Whether all other rows prefer the proposed class.
    noise : float
        The part of all labels that is wrong, as the model has it.
    """

    probability: Doubles
    score: Doubles
    given: NDArray[Any]
    proposed: NDArray[Any]
    disputed: NDArray[np.bool_]
    noise: float

    @property
    def expected(self) -> float:
        """The number of wrong labels to expect, a float."""
        return float(self.probability.sum())

    def ranked(self, least: float = 0.0) -> NDArray[np.intp]:
        """Rank the rows by how likely their labels are wrong.

        Parameters
        ----------
        least : float, default=0.0
            Leave out rows of lower probability.

        Returns
        -------
        ndarray of intp
            Numbers of rows, the most suspicious first.
        """
        order = np.lexsort((self.score, -self.probability))
        return order[self.probability[order] >= least]


def label_errors(
    X: Any, y: Any, *, n_neighbors: int = N_NEIGHBORS, progress: ProgressFactory | None = None
) -> LabelErrors:
    """Find labels that are likely wrong, with the class that each should have, and how likely it is.

    Nothing is drawn by chance: rows are left out one by one, exactly. Scores of all classes are never held for more
    than a block of rows, so that memory grows with the rows alone.

    Parameters
    ----------
    X : matrix-like of shape (n, d)
        Anything that `as_matrix` takes, codes too.
    y : array-like of shape (n,)
        Labels. A class with one row has no others to judge it by, and its label is taken for as likely wrong as any.
    n_neighbors : int, default=20
        Nearest rows that are asked.
    progress : callable, default=None
        Called as progress("judging labels", "rows") for a context manager that gives a function of (done, total).

    Returns
    -------
    LabelErrors
        Probabilities, scores and proposed classes of all rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["ant", "bee", "cat"], 30)
    >>> X = np.repeat(np.eye(3), 30, axis=0) + 0.2 * rng.normal(size=(90, 3))
    >>> y[7] = "cat"
    >>> found = label_errors(X, y)
    >>> found.ranked(least=0.5), found.proposed[7]
    (array([7]), np.str_('ant'))
    """
    check_count(n_neighbors, "n_neighbors")
    matrix = open_rows(X)
    classes, labels = encode_labels(y, len(matrix))
    n, k = len(matrix), len(classes)
    with (progress or no_progress)("judging labels", "rows") as report:
        views: list[View] = [NeighborVotes(Neighbors(matrix, n_neighbors, lambda done: report(done, 2 * n)), labels, k)]
        if min(matrix.shape) <= MOST_COLUMNS:
            views.insert(0, LeftOutMachines(matrix, labels, k))
        noise = _learn(views, labels, k)
        found = _judge_all(views, noise, labels, lambda done: report(n + done, 2 * n))
    lone = np.bincount(labels)[labels] == 1
    return LabelErrors(
        np.where(lone, noise.noise, _falling(found.wrong, found.score)),
        np.where(lone, np.median(found.score), found.score),
        classes[labels],
        classes[found.proposed],
        (found.own < found.other) & ~lone,
        noise.noise,
    )


def _falling(probabilities: Doubles, scores: Doubles) -> Doubles:
    """The nearest probabilities (n,), by squares, that fall with the scores."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(scores, kind="stable")
    out = np.empty(len(scores))
    out[order] = isotonic_regression(probabilities[order], increasing=False).x
    return np.clip(out, 0, 1)


def _learn(views: list[View], y: Labels, k: int) -> LabelNoise:
    """The noise of labels, from rows that are spread over the classes."""
    n = len(y)
    size = min(n, max(_FEWEST, _SAMPLE // k))
    rows = np.sort(np.argsort(y, kind="stable")[np.linspace(0, n - 1, size).astype(np.intp)])
    parts = spans(size, max(1, _BLOCK // k))
    return LabelNoise.fit([np.concatenate([view.scores(rows[at]) for at in parts]) for view in views], y[rows])


def _judge_all(views: list[View], noise: LabelNoise, y: Labels, report: Callable[[int], None]) -> LabelVerdicts:
    """All rows, a block at a time."""
    blocks, done = spans(len(y), max(1, _BLOCK // noise.k)), 0
    found = []

    def judge(at: slice) -> LabelVerdicts:
        rows = np.arange(at.start, at.stop)
        return noise.judge([view.scores(rows) for view in views], y[at])

    for one in thread_map(judge, blocks):
        found.append(one)
        done += len(one.wrong)
        report(done)
    return LabelVerdicts(*(np.concatenate([getattr(one, name) for one in found]) for name in _PARTS))


_PARTS = ("wrong", "own", "other", "proposed", "score")

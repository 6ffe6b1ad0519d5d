"""Reliability: whether what a classifier says of itself is so: probabilities, and sets that promise to cover."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyclass._core.checks import check_count, check_length
from manyclass.evaluation.proportions import wilson_interval

_RESAMPLES, _SEED = 2000, 0  # of an interval, and the same every time


class ReliabilityBin(NamedTuple):
    """Rows of about the same probability, and how many of them are right.

    Parameters
    ----------
    rows : int
        Number of rows.
    probability : float
        Mean of what was said.
    accuracy : float
        Share that is right.
    low : float
        Lower end of the 95 % interval of that share.
    high : float
        Upper end of it.
    """

    rows: int
    probability: float
    accuracy: float
    low: float
    high: float


class CalibrationError(NamedTuple):
    """Expected calibration error with its interval.

    Parameters
    ----------
    value : float
        Mean distance of probability and accuracy.
    low : float
        Lower end of the 95 % interval, at least 0.
    high : float
        Upper end of it.
    chance : float
        What rows that are right just as often as was said would give on average, so few they are.
    """

    value: float
    low: float
    high: float
    chance: float


class SetCoverage(NamedTuple):
    """How often sets of classes hold the right one, and how large they are.

    Parameters
    ----------
    coverage : float
        Share of the sets that hold the right class.
    low : float
        Lower end of the 95 % interval of that share.
    high : float
        Upper end of it.
    size : float
        Mean number of classes of a set.
    single : float
        Share of the sets of one class.
    """

    coverage: float
    low: float
    high: float
    size: float
    single: float


def reliability_curve(right: ArrayLike, probabilities: ArrayLike, n_bins: int = 15) -> list[ReliabilityBin]:
    """Compare the probabilities that were given to predictions with how often these are right.

    Rows are sorted by their probability and divided into bins of as many rows each, so that every point is as sure.

    Parameters
    ----------
    right : array-like of bool of shape (n,)
        Whether each prediction is right.
    probabilities : array-like of shape (n,)
        Probability of each prediction.
    n_bins : int, default=15
        Number of bins; as many as rows if these are fewer.

    Returns
    -------
    list of ReliabilityBin
        Bins from the least probability on.

    Examples
    --------
    >>> curve = reliability_curve([False, True, True, True], [0.25, 0.75, 0.75, 1.0], n_bins=2)
    >>> [(one.rows, one.probability, one.accuracy) for one in curve]
    [(2, 0.5, 0.5), (2, 0.875, 1.0)]
    """
    hits, sure = _as_said(right, probabilities)
    order = np.argsort(sure, kind="stable")
    return [_bin(hits[part], sure[part]) for part in _parts(order, n_bins)]


def expected_calibration_error(right: ArrayLike, probabilities: ArrayLike, n_bins: int = 15) -> CalibrationError:
    """Compute the mean distance of probability and accuracy over bins of as many rows each.

    Chance alone moves the accuracy of a bin, so that the error of a classifier without fault is above 0 too; `chance`
    says how far. The interval is as of rows drawn again within their bins, moved by what that adds on average.

    Parameters
    ----------
    right : array-like of bool of shape (n,)
        Whether each prediction is right.
    probabilities : array-like of shape (n,)
        Probability of each prediction.
    n_bins : int, default=15
        Number of bins; as many as rows if these are fewer.

    Returns
    -------
    CalibrationError
        Error from 0 to 1, with its interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1, 4000)
    >>> right = rng.uniform(size=4000) < p
    >>> good, bad = (expected_calibration_error(right, said) for said in (p, p**2))
    >>> good.value < 2 * good.chance < bad.low
    True
    """
    hits, sure = _as_said(right, probabilities)
    parts = _parts(np.argsort(sure, kind="stable"), n_bins)
    off, n = hits - sure, len(hits)
    sums = np.array([off[part].sum() for part in parts])
    spreads = np.sqrt([len(part) * off[part].var() for part in parts])
    found = float(np.abs(sums).sum() / n)
    # Sums of many rows are normal, so that nothing need be drawn row by row.
    again = np.abs(np.random.default_rng(_SEED).normal(sums, spreads, (_RESAMPLES, len(parts)))).sum(axis=1) / n
    low, high = np.quantile(again, [0.025, 0.975]) + found - again.mean()
    # Their mean size is sqrt(2 / pi) deviations, here of rows that are each right with their probability.
    chance = np.sqrt([2 / np.pi * (sure[part] * (1 - sure[part])).sum() for part in parts]).sum() / n
    return CalibrationError(found, max(0.0, float(low)), min(1.0, float(high)), float(chance))


def set_coverage(y: ArrayLike, sets: Sequence[Any]) -> SetCoverage:
    """Tell how often sets of classes hold the right one.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels.
    sets : sequence of array-like
        Labels of each row, as `predict_set` gives them.

    Returns
    -------
    SetCoverage
        Shares, with an interval of the first, and the mean size.

    Examples
    --------
    >>> found = set_coverage(["cat", "dog"], [["cat"], ["cat", "owl"]])
    >>> found.coverage, found.size, found.single
    (0.5, 1.5, 0.5)
    """
    labels = np.asarray(y)
    check_length(sets, len(labels), "sets", "y")
    if not len(labels):
        raise ValueError("y must hold at least one label; got none")
    covered = sum(bool(np.any(np.asarray(one) == label)) for label, one in zip(labels, sets, strict=True))
    sizes = np.array([len(one) for one in sets])
    low, high = wilson_interval(covered, len(labels))
    return SetCoverage(covered / len(labels), low, high, float(sizes.mean()), float((sizes == 1).mean()))


def _as_said(right: ArrayLike, probabilities: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    hits, sure = np.asarray(right, bool), np.asarray(probabilities, np.float64)
    if hits.ndim != 1 or not len(hits) or sure.shape != hits.shape:
        raise ValueError(
            f"right and probabilities must be vectors of one length, above 0; got shapes {hits.shape} and {sure.shape}"
        )
    for row in np.flatnonzero(~((sure >= 0) & (sure <= 1 + 1e-6)))[:1]:
        raise ValueError(f"probabilities must be from 0 to 1; got {sure[row]} at row {row}")
    return hits, np.minimum(sure, 1.0)


def _parts(order: NDArray[np.intp], n_bins: int) -> list[NDArray[np.intp]]:
    return np.array_split(order, min(check_count(n_bins, "n_bins"), len(order)))


def _bin(hits: NDArray[np.bool_], sure: NDArray[np.float64]) -> ReliabilityBin:
    right = int(np.count_nonzero(hits))
    return ReliabilityBin(len(hits), float(sure.mean()), right / len(hits), *wilson_interval(right, len(hits)))

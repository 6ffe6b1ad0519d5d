"""Verdicts on what a paper finds, computed from intervals: of differences over seeds, or over queries by bootstrap."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

DRAWS = 10_000  # of a bootstrap


class Verdict(StrEnum):
    """Of a claim."""

    REPRODUCED = "reproduced"
    IN_PART = "reproduced in part"
    NOT_REPRODUCED = "not reproduced"
    NOT_TOLD = "not told"


class Interval(NamedTuple):
    """A mean difference with its 95 % interval.

    >>> Interval(1.0, 0.2, 1.9).shown()
    '+1.0 [+0.2, +1.9]'
    """

    mean: float
    low: float
    high: float

    def shown(self, scale: float = 1.0) -> str:
        """With signs and one decimal, in units of 1 / scale: 100 for percent."""
        return f"{scale * self.mean:+.1f} [{scale * self.low:+.1f}, {scale * self.high:+.1f}]"


def over_seeds(differences: Sequence[float]) -> Interval:
    """Of paired differences, one for each seed, by Student's t.

    >>> over_seeds([1.0, 2.0, 3.0, 2.0, 2.0]).shown()
    '+2.0 [+1.1, +2.9]'
    """
    from scipy.stats import t

    found = np.asarray(differences, float)
    if len(found) < 2:
        raise ValueError(f"differences must be of two seeds at least; got {len(found)}")
    half = float(t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found)))
    return Interval(float(found.mean()), float(found.mean()) - half, float(found.mean()) + half)


def over_queries(differences: Any, seed: int = 0) -> Interval:
    """Of paired differences, one for each query, by bootstrap over the queries; those that are NaN are left out.

    >>> over_queries([0.5] * 20).shown()
    '+0.5 [+0.5, +0.5]'
    """
    found = np.asarray(differences, float)
    found = found[~np.isnan(found)]
    rng, n = np.random.default_rng(seed), len(found)
    means = np.concatenate([found[rng.integers(0, n, (DRAWS // 20, n))].mean(axis=1) for _ in range(20)])
    return Interval(float(found.mean()), *(float(q) for q in np.quantile(means, [0.025, 0.975])))


def above(differences: Sequence[Interval], margin: float = 0.0) -> Verdict:
    """The verdict on "all of these are above -margin": of two methods, that one is better, or no worse by more.

    Each holds if its whole interval is above, and fails if its whole interval is below.

    >>> [above([Interval(1, 0.5, 1.5), Interval(*other)]).value for other in ((1, 0.1, 2), (1, -1, 3), (-1, -2, -0.1))]
    ['reproduced', 'reproduced in part', 'reproduced in part']
    >>> above([Interval(0, -1, 1)]).value, above([Interval(-2, -3, -1)]).value, above([Interval(0, -1, 1)], 1.5).value
    ('not told', 'not reproduced', 'reproduced')
    """
    holds = [one.low > -margin for one in differences]
    fails = [one.high < -margin for one in differences]
    if all(holds):
        return Verdict.REPRODUCED
    if any(holds):
        return Verdict.IN_PART
    return Verdict.NOT_REPRODUCED if any(fails) else Verdict.NOT_TOLD


def alike(differences: Sequence[Interval], margin: float) -> Verdict:
    """The verdict on "all of these are within the margin of zero".

    >>> alike([Interval(0.1, -0.2, 0.4)], 0.5).value, alike([Interval(1, 0.7, 1.3)], 0.5).value
    ('reproduced', 'not reproduced')
    """
    holds = [-margin < one.low and one.high < margin for one in differences]
    fails = [one.high < -margin or one.low > margin for one in differences]
    if all(holds):
        return Verdict.REPRODUCED
    if any(holds):
        return Verdict.IN_PART
    return Verdict.NOT_REPRODUCED if any(fails) else Verdict.NOT_TOLD

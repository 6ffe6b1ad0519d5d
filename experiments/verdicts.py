"""Verdicts on what a paper finds, computed from intervals: of differences over seeds, or over queries by bootstrap."""

from collections.abc import Callable, Mapping, Sequence
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
    >>> Interval(0.7, 0.02, 1.5).shown(), Interval(-0.005, -0.0104, 0.002).shown(100, margin=0.01)
    ('+0.70 [+0.02, +1.50]', '-0.50 [-1.04, +0.20]')
    >>> Interval(0.3, -0.001, 0.7).shown(), Interval(0.0, 0.0, 0.0).shown()
    ('+0.300 [-0.001, +0.700]', '+0.0 [+0.0, +0.0]')
    """

    mean: float
    low: float
    high: float

    def shown(self, scale: float = 1.0, margin: float = 0.0) -> str:
        """With signs, in units of 1 / scale: 100 for percent.

        It has one decimal, or up to three where a bound else rounds to zero or to the margin, on which verdicts hang.
        """

        def hidden(decimals: int) -> bool:
            pairs = [(scale * bound, scale * edge) for bound in self[1:] for edge in (0.0, margin, -margin)]
            return any(a != b and round(a, decimals) == round(b, decimals) for a, b in pairs)

        decimals = next((d for d in (1, 2) if not hidden(d)), 3)
        mean, low, high = (f"{scale * value:+.{decimals}f}" for value in self)
        return f"{mean} [{low}, {high}]"


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


HOLDS, FAILS, OPEN = "holds", "fails", "not told"


def is_above(one: Interval, margin: float = 0.0) -> str:
    """Whether it is above -margin: it holds if the whole interval is, and fails if the whole interval is below.

    >>> [is_above(Interval(*one)) for one in ((1, 0.5, 1.5), (-1, -2, -0.1), (0, -1, 1))]
    ['holds', 'fails', 'not told']
    """
    return HOLDS if one.low > -margin else FAILS if one.high < -margin else OPEN


def is_alike(one: Interval, margin: float) -> str:
    """Whether it is within the margin of zero, in the same way.

    >>> [is_alike(Interval(*one), 1.0) for one in ((0, -0.5, 0.5), (-2, -3, -1.1), (0, -2, 0.5))]
    ['holds', 'fails', 'not told']
    """
    if -margin < one.low and one.high < margin:
        return HOLDS
    return FAILS if one.high < -margin or one.low > margin else OPEN


def above(differences: Sequence[Interval], margin: float = 0.0) -> Verdict:
    """The verdict on "all of these are above -margin": of two methods, that one is better, or no worse by more.

    Where some hold it is in part, even if others fail: `each` says which.

    >>> [above([Interval(1, 0.5, 1.5), Interval(*other)]).value for other in ((1, 0.1, 2), (1, -1, 3), (-1, -2, -0.1))]
    ['reproduced', 'reproduced in part', 'reproduced in part']
    >>> above([Interval(0, -1, 1)]).value, above([Interval(-2, -3, -1)]).value, above([Interval(0, -1, 1)], 1.5).value
    ('not told', 'not reproduced', 'reproduced')
    """
    sides = [is_above(one, margin) for one in differences]
    if HOLDS in sides:
        return Verdict.REPRODUCED if set(sides) == {HOLDS} else Verdict.IN_PART
    return Verdict.NOT_REPRODUCED if FAILS in sides else Verdict.NOT_TOLD


def alike(differences: Sequence[Interval], margin: float) -> Verdict:
    """The verdict on "all of these are within the margin of zero", which one that fails refutes.

    >>> alike([Interval(0.1, -0.2, 0.4)], 0.5).value, alike([Interval(1, 0.7, 1.3)], 0.5).value
    ('reproduced', 'not reproduced')
    >>> [alike([Interval(0, -0.2, 0.2), Interval(*other)], 0.5).value for other in ((1, 0.7, 1.3), (0.4, 0.1, 0.7))]
    ['not reproduced', 'reproduced in part']
    """
    sides = [is_alike(one, margin) for one in differences]
    if FAILS in sides:
        return Verdict.NOT_REPRODUCED
    if HOLDS in sides:
        return Verdict.REPRODUCED if set(sides) == {HOLDS} else Verdict.IN_PART
    return Verdict.NOT_TOLD


def each(differences: Mapping[str, Interval], margin: float = 0.0, side: Callable[..., str] | None = is_above) -> str:
    """All of them by name, in the units they have; where sides differ, with which of them hold and which fail.

    >>> each({"A": Interval(1, 0.5, 1.5), "B": Interval(2, 1, 3)})
    'A +1.0 [+0.5, +1.5], B +2.0 [+1.0, +3.0]'
    >>> each({"A": Interval(1, 0.5, 1.5), "B": Interval(-2, -3, -1)})
    'A +1.0 [+0.5, +1.5] (holds), B -2.0 [-3.0, -1.0] (fails)'
    """
    shown = {name: f"{name} {one.shown(margin=margin)}" for name, one in differences.items()}
    sides = {name: side(one, margin) for name, one in differences.items()} if side else {}
    if len(set(sides.values())) > 1:
        shown = {name: f"{words} ({sides[name]})" for name, words in shown.items()}
    return ", ".join(shown.values())

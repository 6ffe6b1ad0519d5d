"""One draw of rows: every method tuned, its accuracies, and the spectrum of its weights."""

from typing import Any, NamedTuple

import numpy as np

from experiments.spectra import Values, class_means, spectrum, truncated
from experiments.tuned import WAYS, Drawn, best
from experiments.verdicts import Interval

TOPS = (1, 2, 4, 8, 16)
METHODS = (*WAYS, "trace norm")
FIRST = 0.25  # of the singular values: what "the first" of the paper are, in favor of its claim
LESS = 0.5  # of the singular values: those of a matrix of lower rank


class Fitted(NamedTuple):
    """Test accuracies by k, the singular values of W, its rank, and top-1 with half of these values."""

    top: list[float]
    s: Values
    rank: int
    halved: float


class Trial(NamedTuple):
    """Every method, and the singular values of the means of the classes."""

    fitted: dict[str, Fitted]
    means: Values

    def gain(self, way: str, place: int = 0) -> float:
        """By how many points the trace norm is ahead of another method, at a place of TOPS."""
        return 100 * (self.fitted["trace norm"].top[place] - self.fitted[way].top[place])


def trial(train: Drawn, judge: Drawn, test: Drawn) -> Trial:
    """All methods on one draw."""
    fitted = {way: measured(best(way, train, judge), test) for way in METHODS}
    return Trial(fitted, spectrum(class_means(*train)))


def measured(one: Any, test: Drawn) -> Fitted:
    """What a classifier does, and what it is made of; the rank of a trace norm is what the solver says."""
    X, y = test
    W, b = np.asarray(one.coef_, np.float64), one.intercept_
    s = spectrum(W)
    halved = _tops(X @ truncated(W, LESS).T + b, y)[0]
    return Fitted(_tops(X @ W.T + b, y), s, getattr(one, "rank_", len(s)), halved)


def _tops(S: Any, y: Any) -> list[float]:
    """Accuracies by k, means over classes."""
    hits = np.argsort(-S, axis=1)[:, : TOPS[-1]] == y[:, None]
    return [float(np.mean([hits[y == c, :k].any(axis=1).mean() for c in np.unique(y)])) for k in TOPS]


def listed(intervals: dict[str, Interval]) -> str:
    """Each with what it is of.

    >>> listed({"a": Interval(1, 0, 2), "b": Interval(3, 2, 4)})
    '+1.0 [+0.0, +2.0] (a); +3.0 [+2.0, +4.0] (b)'
    """
    return "; ".join(f"{one.shown()} ({name})" for name, one in intervals.items())

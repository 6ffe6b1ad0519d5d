"""How well methods find images of the same class: every image looks for the others of its class."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.cli.fitted_methods import Fitted
from manyclass.cli.labeled_rows import LabeledRows
from manyclass.cli.progress import Report
from manyclass.evaluation import Truth, average_precisions, paired_bootstrap

_MOST_ROWS, _MOST_QUERIES = 20_000, 5000
_TILE = 256  # queries that are ranked at once


@dataclass(frozen=True)
class Trial:
    """A database of labeled rows, and the places in it that ask."""

    rows: LabeledRows
    queries: NDArray[np.intp]
    truth: Truth
    seed: int

    @classmethod
    def of(cls, rows: LabeledRows, seed: int) -> "Trial":
        """At most about 20,000 rows, of whole classes; all that have something to find ask, or 5,000 of them."""
        rows = rows.some(_MOST_ROWS, seed)
        y = np.asarray(rows.y)
        _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
        asking = np.flatnonzero(counts[numbers] > 1)
        if not len(asking):
            raise ValueError("--evaluate needs two images of one class at least, beside the negatives; got none")
        if len(asking) > _MOST_QUERIES:
            asking = np.sort(np.random.default_rng(seed).choice(asking, _MOST_QUERIES, replace=False))
        return cls(rows, asking, Truth.from_labels(y[asking], y, asking.tolist()), seed)

    @property
    def protocol(self) -> str:
        """In words."""
        q, n = len(self.queries), len(self.rows)
        return (
            f"leave-one-out: {q:,} queries against {n:,} images, of which those of the query's class are right and the "
            "query itself does not count; mean average precision by trapezoids, 95 % intervals by the paired bootstrap "
            "over classes"
        )

    def precisions(self, space: Any, C: NDArray[np.float32], report: Report) -> NDArray[np.float64]:
        """The average precision of every query by codes (n, p) of the rows."""
        found = [np.zeros(0)]
        for start in range(0, len(self.queries), _TILE):
            at = np.arange(start, min(len(self.queries), start + _TILE))
            scores = space.similarity(C[self.queries[at]], C)
            found.append(average_precisions(scores, self.truth.take(at), "holidays"))
            report(int(at[-1]) + 1, len(self.queries))
        return np.concatenate(found)


@dataclass(frozen=True)
class Outcome:
    """What one method reached: average precisions per query, and its codes of all rows."""

    method: Fitted
    precisions: NDArray[np.float64]
    codes: NDArray[np.float32]
    seconds: float


def tried(trial: Trial, method: Fitted, report: Report) -> Outcome:
    """Encode the rows and rank them for every query."""
    started = time.perf_counter()
    X = trial.rows.vectors()
    space = method.space(X.shape[1])
    codes = space.transform(X)
    precisions = trial.precisions(space, codes, report)
    return Outcome(method, precisions, codes, method.seconds + time.perf_counter() - started)


def summary(trial: Trial, outcome: Outcome, first: Outcome) -> dict[str, Any]:
    """Mean average precision with its interval, and the difference to the first method with its own."""
    drawn: dict[str, Any] = {"random_state": trial.seed, "groups": np.asarray(trial.rows.y)[trial.queries]}
    mean = paired_bootstrap(outcome.precisions, np.zeros_like(outcome.precisions), **drawn)
    difference = paired_bootstrap(outcome.precisions, first.precisions, **drawn)
    return {
        "name": outcome.method.name,
        "map": min(1.0, mean.difference),
        "low": max(0.0, mean.low),
        "high": min(1.0, mean.high),
        "columns": int(outcome.codes.shape[1]),
        "seconds": outcome.seconds,
        "settings": outcome.method.settings(),
        "tried": outcome.method.tried,
        "against": None if outcome is first else {"method": first.method.name, **difference._asdict()},
    }

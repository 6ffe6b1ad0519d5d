"""How well methods find images of the same class: every image looks for the others of its class.

retrieval.json: what a comparison of encoders found, with some queries and their results.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Report
from manyclass.evaluation import Truth, average_precisions, paired_bootstrap
from manyclass.runs.exemplar_methods import FittedEncoder
from manyclass.runs.negatives import LabeledRows

_MOST_ROWS, _MOST_QUERIES = 20_000, 5000

_TILE = 256  # queries that are ranked at once


@dataclass(frozen=True)
class RetrievalTrial:
    """A database of labeled rows, and the places in it that ask."""

    rows: LabeledRows
    queries: NDArray[np.intp]
    truth: Truth
    seed: int

    @classmethod
    def of(cls, rows: LabeledRows, seed: int) -> "RetrievalTrial":
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
class TrialOutcome:
    """What one method reached: average precisions per query, and its codes of all rows."""

    method: FittedEncoder
    precisions: NDArray[np.float64]
    codes: NDArray[np.float32]
    seconds: float


def run_trial(trial: RetrievalTrial, method: FittedEncoder, report: Report) -> TrialOutcome:
    """Encode the rows and rank them for every query."""
    started = time.perf_counter()
    X = trial.rows.vectors()
    space = method.space(X.shape[1])
    codes = space.transform(X)
    precisions = trial.precisions(space, codes, report)
    return TrialOutcome(method, precisions, codes, method.seconds + time.perf_counter() - started)


def trial_summary(trial: RetrievalTrial, outcome: TrialOutcome, first: TrialOutcome) -> dict[str, Any]:
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


NAME = "retrieval.json"

_QUERIES, _RESULTS = 12, 8


def retrieval_record(
    trial: RetrievalTrial,
    outcomes: list[TrialOutcome],
    ids: list[Any],
    data: list[dict[str, Any]],
    pictures: dict[str, str] | None,
) -> dict[str, Any]:
    """The record of a trial; queries are those of the first method, drawn at random. ids name the rows of the data."""
    return {
        "data": data,
        "protocol": trial.protocol,
        "methods": [trial_summary(trial, outcome, outcomes[0]) for outcome in outcomes],
        "queries": _shown(trial, outcomes[0], [str(ids[row]) for row in trial.rows.rows]),
        "pictures": pictures,
    }


def _shown(trial: RetrievalTrial, outcome: TrialOutcome, names: list[str]) -> list[dict[str, Any]]:
    n = min(_QUERIES, len(trial.queries))
    drawn = np.sort(np.random.default_rng(trial.seed).choice(trial.queries, n, replace=False))
    space = outcome.method.space(trial.rows.X.shape[1])
    scores = space.similarity(outcome.codes[drawn], outcome.codes)
    return [_strip(trial, names, int(query), row) for query, row in zip(drawn, scores, strict=True)]


def _strip(trial: RetrievalTrial, names: list[str], query: int, scores: Any) -> dict[str, Any]:
    y = np.asarray(trial.rows.y)
    order = np.argsort(-scores, kind="stable")
    found = order[order != query][:_RESULTS].tolist()
    results = [
        {"name": names[i], "class": str(y[i]), "score": float(scores[i]), "right": bool(y[i] == y[query])}
        for i in found
    ]
    return {"name": names[query], "class": str(y[query]), "results": results}

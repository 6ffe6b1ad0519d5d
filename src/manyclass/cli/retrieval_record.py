"""retrieval.json: what a comparison of encoders found, with some queries and their results."""

from typing import Any

import numpy as np

from manyclass.cli.retrieval_trial import Outcome, Trial, summary

NAME = "retrieval.json"
_QUERIES, _RESULTS = 12, 8


def retrieval_record(
    trial: Trial, outcomes: list[Outcome], ids: list[Any], data: list[dict[str, Any]], pictures: dict[str, str] | None
) -> dict[str, Any]:
    """The record of a trial; queries are those of the first method, drawn at random. ids name the rows of the data."""
    return {
        "data": data,
        "protocol": trial.protocol,
        "methods": [summary(trial, outcome, outcomes[0]) for outcome in outcomes],
        "queries": _shown(trial, outcomes[0], [str(ids[row]) for row in trial.rows.rows]),
        "pictures": pictures,
    }


def _shown(trial: Trial, outcome: Outcome, names: list[str]) -> list[dict[str, Any]]:
    n = min(_QUERIES, len(trial.queries))
    drawn = np.sort(np.random.default_rng(trial.seed).choice(trial.queries, n, replace=False))
    space = outcome.method.space(trial.rows.X.shape[1])
    scores = space.similarity(outcome.codes[drawn], outcome.codes)
    return [_strip(trial, names, int(query), row) for query, row in zip(drawn, scores, strict=True)]


def _strip(trial: Trial, names: list[str], query: int, scores: Any) -> dict[str, Any]:
    y = np.asarray(trial.rows.y)
    order = np.argsort(-scores, kind="stable")
    found = order[order != query][:_RESULTS].tolist()
    results = [
        {"name": names[i], "class": str(y[i]), "score": float(scores[i]), "right": bool(y[i] == y[query])}
        for i in found
    ]
    return {"name": names[query], "class": str(y[query]), "results": results}

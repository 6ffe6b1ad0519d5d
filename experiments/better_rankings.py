"""Query expansion and re-ranking: do `search --expand` and `--rerank` put more that is right among the ten best?"""

import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.photographs import kept
from experiments.results import Results
from experiments.search_sets import SearchSet, search_sets
from manyclass.evaluation import paired_bootstrap
from manyclass.retrieval import KReciprocal, QueryExpansion

TOP = 10
ALPHA = 3.0  # that of the command
WAYS: dict[str, dict[str, Any]] = {
    "--expand 3": {"expansion": QueryExpansion(3, ALPHA)},
    "--expand 10": {"expansion": QueryExpansion(10, ALPHA)},
    "--rerank 100": {"reranking": KReciprocal(n_candidates=100)},
    "--expand 3 --rerank 100": {
        "expansion": QueryExpansion(3, ALPHA),
        "reranking": KReciprocal(n_candidates=100),
    },
}


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("better_rankings", "Query expansion and re-ranking")
    sets = {key: make for key, make in (search_sets(folder) if folder else {}).items() if key[1] == "network"}
    if not sets:
        results.say("The pictures or the network are not there.")
        return results
    results.say(f"""Pooled features of EfficientNet-Lite0, compared by cosines, and queries that are not in the gallery.
        *Right* is how many of the {TOP} best images show what the query shows, in percent, or of as many best ones as
        there are such images where they are fewer. *Gain* is over plain search, with a 95 % interval by a paired
        bootstrap over queries: better if the whole interval is above nothing, worse if it is below, and not told
        otherwise. Time is that of the processor for a query, one thread. Options are those of `manyclass search`.""")
    rows = [
        row for (name, _), make in sets.items() for row in kept(f"better_rankings-{name}", lambda m=make: _rows(m()))
    ]
    names = [name for name, _ in sets for _ in range(1 + len(WAYS))]
    cells = [[name, *_cells(row)] for name, row in zip(names, rows, strict=True)]
    columns = ["data", "options", "images", "right for a query", "right", "gain", "verdict", "time"]
    results.table("Right among the best", columns, cells)
    results.say(_summary(rows))
    return results


def _rows(found: SearchSet) -> list[dict[str, Any]]:
    gallery = mc.Gallery()
    gallery.add(found.gallery)
    plain, rows = None, []
    for name, better in {"": {}, **WAYS}.items():
        with mc.threads(1):
            started = time.process_time()
            ids = gallery.search(found.queries, k=TOP, **better).ids
            seconds = (time.process_time() - started) / len(ids)
        right = shares(found, ids)
        plain = right if plain is None else plain
        gain = paired_bootstrap(right, plain, random_state=0)
        told = {"gain": gain.difference, "low": gain.low, "high": gain.high}
        sizes = {"images": len(found.gallery), "each": float(np.mean([len(q.easy) for q in found.truth.queries]))}
        rows.append({"way": name, "right": float(right.mean()), "ms": 1e3 * seconds, **sizes, **told})
    return rows


def shares(found: SearchSet, ids: NDArray[Any]) -> NDArray[np.float64]:
    """How many of the first are right, in percent, of every query that has something to find."""
    values = [
        100 * np.isin(some[: len(query.easy)], query.easy).mean()
        for some, query in zip(ids, found.truth.queries, strict=True)
        if len(query.easy)
    ]
    return np.array(values)


def _told(row: dict[str, Any]) -> str:
    if not row["way"]:
        return ""
    return "better" if row["low"] > 0 else "worse" if row["high"] < 0 else "not told"


def _cells(row: dict[str, Any]) -> list[str]:
    gain = f"{row['gain']:+.1f} ({row['low']:+.1f} to {row['high']:+.1f})" if row["way"] else ""
    right = [f"{row['images']:,}", f"{row['each']:.1f}", f"{row['right']:.1f}", gain, _told(row), f"{row['ms']:.2f} ms"]
    return [row["way"] or "none", *right]


def _summary(rows: list[dict[str, Any]]) -> str:
    words = []
    for way in WAYS:
        some = [row for row in rows if row["way"] == way]
        told = [_told(row) for row in some]
        gain = np.mean([row["gain"] for row in some])
        words.append(f"{way} {gain:+.1f} ({told.count('better')} better, {told.count('worse')} worse)")
    return f"On average over {len(rows) // (1 + len(WAYS))} sets, points gained are: {', '.join(words)}."

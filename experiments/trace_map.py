"""Where the trace norm pays: its gain over a ridge by the number of classes, of examples of each, and their rank."""

from pathlib import Path

import numpy as np

import manyclass as mc
from experiments.results import Results
from experiments.tuned import Drawn, best
from experiments.verdicts import Interval, over_seeds

SEEDS = 5
D = 128
CLASSES = (10, 40, 160)
EXAMPLES = (3, 10, 30)
RANKS = (4, 16, 64)
OTHERS = (5, 20)  # rows of a class to choose by, and to test on
NOISE = 0.3  # at which machines err on a fair part of the rows in most places of the map


def run(folder: Path | None, seeds: int = SEEDS) -> Results:
    """The page."""
    results = Results("trace_map", "Where the trace norm pays")
    results.say(f"""Softmax with a trace norm less softmax with a ridge, test accuracy in points, with the 95 % interval
        over {seeds} draws, each strength chosen on {OTHERS[0]} rows of a class that are held out; in brackets the
        accuracy of the ridge. Classes are generated: their means span a subspace of 4 to 64 of {D} dimensions, and
        around them all vary alike. What cannot be told from zero is marked by a dot.""")
    places = [(rank, m, k) for rank in RANKS for m in EXAMPLES for k in CLASSES]
    found = {place: _gain(*place, seeds) for place in places}
    for rank in RANKS:
        rows = [[str(m), *(_cell(*found[rank, m, k]) for k in CLASSES)] for m in EXAMPLES]
        results.table(f"Means of rank {rank}", ["examples of a class", *(f"{k} classes" for k in CLASSES)], rows)
    ahead = {place: one for place, (one, _) in found.items() if one.low > 0}
    behind = {place: one for place, (one, _) in found.items() if one.high < 0}
    results.say(f"""The trace norm is ahead by more than chance in {len(ahead)} of {len(found)} places and behind in
        {len(behind)}. {_where(ahead, found)}""")
    return results


def _where(
    ahead: dict[tuple[int, int, int], Interval], found: dict[tuple[int, int, int], tuple[Interval, float]]
) -> str:
    if not ahead:
        return ""
    rank, m, k = max(ahead, key=lambda place: ahead[place].mean)
    shares = {
        f"means of rank {r}": np.mean([(r, *rest) in ahead for (one, *rest) in found if one == r]) for r in RANKS
    } | {f"{m} examples": np.mean([place in ahead for place in found if place[1] == m]) for m in EXAMPLES}
    shares |= {f"{k} classes": np.mean([place in ahead for place in found if place[2] == k]) for k in CLASSES}
    words = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items())
    return f"""It gains most, {ahead[rank, m, k].shown()}, with {k} classes of {m} examples whose means have rank {rank}.
        Of the places with {words} it is ahead."""


def _cell(gain: Interval, ridge: float) -> str:
    dot = " ·" if gain.low <= 0 <= gain.high else ""
    return f"{gain.shown()}{dot} ({100 * ridge:.0f})"


def _gain(rank: int, m: int, k: int, seeds: int) -> tuple[Interval, float]:
    """The gain over the ridge, in points, and the accuracy of the ridge."""
    found = [_accuracies(*_drawn(rank, m, k, seed)) for seed in range(seeds)]
    return over_seeds([100 * (trace - ridge) for ridge, trace in found]), float(np.mean([ridge for ridge, _ in found]))


def _drawn(rank: int, m: int, k: int, seed: int) -> list[Drawn]:
    """Rows to train on, to choose by and to test on."""
    sizes = np.cumsum([m, *OTHERS]) * k
    made = mc.datasets.low_rank_classes(int(sizes[-1]), D, k, rank=rank, noise=NOISE, random_state=seed)
    X = made.toarray()
    return [(X[a:b], made.y[a:b]) for a, b in zip([0, *sizes], sizes, strict=False)]


def _accuracies(train: Drawn, judge: Drawn, test: Drawn) -> tuple[float, float]:
    fitted = (best(way, train, judge) for way in ("softmax with a ridge", "trace norm"))
    ridge, trace = (float((one.predict(test[0]) == test[1]).mean()) for one in fitted)
    return ridge, trace

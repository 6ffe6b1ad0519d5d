"""Where the trace norm pays: its gain over a ridge by the number of classes, of examples of each, and their rank."""

from pathlib import Path

import numpy as np

import manyclass as mc
from experiments.figures import COLORS, MARKERS, finish, panels
from experiments.results import Results
from experiments.tuned import SETTINGS, Drawn, best
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
    results = Results("trace_map", "Where the trace norm pays, on generated classes")
    results.say(f"""Softmax with a trace norm less softmax with a ridge, test accuracy in points, with the 95 % interval
        over {seeds} draws. Each has {SETTINGS} settings, as on [the page of all classes](trace_classes.md), chosen on
        {OTHERS[0]} rows of a class that are held out. In round brackets the accuracy of the ridge in percent. Classes
        are generated, with what the trace norm looks for: their means lie in a subspace of {RANKS[0]} to {RANKS[-1]} of
        {D} dimensions, called their rank, though fewer classes than that span less of it. Around them all vary alike,
        by {NOISE:g} in every dimension and by 0.5 along a quarter of those of the subspace: one noise, at which
        machines err on a fair part of the rows in most places. A dot marks what cannot be told from zero.""")
    places = [(rank, m, k) for rank in RANKS for m in EXAMPLES for k in CLASSES]
    found = {place: _gain(*place, seeds) for place in places}
    for rank in RANKS:
        rows = [[str(m), *(_cell(*found[rank, m, k]) for k in CLASSES)] for m in EXAMPLES]
        results.table(f"Means of rank {rank}", ["examples of a class", *(f"{k} classes" for k in CLASSES)], rows)
    _figure(results, {place: one for place, (one, _) in found.items()})
    ahead = {place: one for place, (one, _) in found.items() if one.low > 0}
    behind = {place: one for place, (one, _) in found.items() if one.high < 0}
    results.say(f"""The trace norm is ahead by more than chance in {len(ahead)} of {len(found)} places and behind in
        {len(behind)}; were there no difference anywhere, chance would give {0.025 * len(found):.1f} of each.
        {_where(ahead, found)}""")
    return results


Place = tuple[int, int, int]  # rank, examples of a class, classes


def _figure(results: Results, gains: dict[Place, Interval]) -> None:
    drawn, charts = panels([f"means of rank {rank}" for rank in RANKS], "examples of a class", "gain, points")
    for rank, chart in zip(RANKS, charts, strict=True):
        chart.axhline(0, color="black", linewidth=0.8)
        for position, k in enumerate(CLASSES):
            some = [gains[rank, m, k] for m in EXAMPLES]
            doubt = [one.high - one.mean for one in some]
            style = {"color": COLORS[position], "marker": MARKERS[position], "markersize": 4, "capsize": 3}
            # Side by side, so that intervals do not hide one another.
            at = [m * 1.06 ** (position - 1) for m in EXAMPLES]
            chart.errorbar(at, [one.mean for one in some], doubt, label=f"{k} classes", **style)
    results.figure(finish(drawn, charts), "gain of the trace norm over a ridge by examples of a class")


def _where(ahead: dict[Place, Interval], found: dict[Place, tuple[Interval, float]]) -> str:
    if not ahead:
        return ""
    rank, m, k = best_place = max(ahead, key=lambda place: ahead[place].mean)
    axes = (("means of rank {}", RANKS), ("{} examples of a class", EXAMPLES), ("{} classes", CLASSES))
    shares = [
        f"{words.format(value)} {100 * np.mean([place in ahead for place in found if place[axis] == value]):.0f} %"
        for axis, (words, values) in enumerate(axes)
        for value in values
    ]
    return f"""It gains most with {k} classes of {m} examples and means of rank {rank}, {ahead[best_place].shown()}.
        It is ahead in these parts of the places: {", ".join(shares)}."""


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

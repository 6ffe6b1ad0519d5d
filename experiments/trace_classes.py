"""Figures 1 and 2 of Harchaoui et al. (CVPR 2012): the spectrum of one-vs-rest, and the trace norm as classes grow."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.figures import curve, finish, panels
from experiments.results import Results, percent
from experiments.sources import Rows
from experiments.trace_sources import Source, available
from experiments.tuned import STRENGTHS, WAYS, Drawn, best
from experiments.verdicts import Interval, Verdict, above, over_seeds

SEEDS = 5
TOPS = (1, 2, 4, 8, 16)
METHODS = (*WAYS, "trace norm")
LAST_HALF = 0.1  # of the squares: more than that in the last half of singular values is no fast decay


class Fitted(NamedTuple):
    """Of one draw: test accuracies by k, the singular values of W, and the rank that the solver says."""

    top: list[float]
    spectrum: Rows
    rank: int


def run(folder: Path | None, seeds: int = SEEDS) -> Results:
    """The page."""
    results = Results("trace_classes", "One-vs-rest against the trace norm")
    results.say(f"""Test accuracy in percent, mean over classes, then mean and standard error over {seeds} draws of
        classes and rows. One-vs-rest is liblinear (`LinearSVC`), one of {STRENGTHS} strengths from 0.1 to 10^4, as in
        the paper; softmax has a ridge, one of {STRENGTHS}; the trace norm one of {2 * STRENGTHS - 1}, and a ridge
        beside it or none. All are chosen on the same rows held out. The paper has 134 to 262 classes of ImageNet with
        hundreds of pictures each, which are not at hand.""")
    gains, shares = {}, {}
    for name, source in available(folder).items():
        found = {count: [_fit_all(*source.draw(count, seed)) for seed in range(seeds)] for count in source.counts}
        gains[name] = _by_classes(results, name, source, found)
        _by_top(results, name, found[source.counts[-1]])
        shares[name] = _by_spectrum(results, name, found[source.counts[-1]])
    _verdicts(results, gains, shares)
    return results


def _fit_all(train: Drawn, judge: Drawn, test: Drawn) -> dict[str, Fitted]:
    return {way: _fitted(best(way, train, judge), test) for way in METHODS}


def _fitted(one: Any, test: Drawn) -> Fitted:
    X, y = test
    order = np.argsort(-one.decision_function(X), axis=1)[:, : TOPS[-1]] if len(one.classes_) > 2 else None
    hits = one.predict(X)[:, None] == y[:, None] if order is None else one.classes_[order] == y[:, None]
    each = [np.mean([hits[y == c, :k].any(axis=1).mean() for c in np.unique(y)]) for k in TOPS]
    s = np.linalg.svd(np.asarray(one.coef_, np.float64), compute_uv=False)
    return Fitted([float(value) for value in each], s.astype(np.float32), int((s > 1e-6 * s[0]).sum()))


Found = list[dict[str, Fitted]]


def _by_classes(results: Results, name: str, source: Source, found: dict[int, Found]) -> dict[str, list[Interval]]:
    """The table of Figure 2, top; by how much the trace norm is ahead of each of the others, for every count."""
    drawn, charts = panels([name], "classes", "top-1, %")
    rows = []
    for position, way in enumerate(METHODS):
        values = [[one[way].top[0] for one in found[count]] for count in found]
        curve(charts[0], position, list(found), [float(np.mean(each)) for each in values], way)
        rows.append([way, *map(percent, values)])
    gains = {
        way: [
            over_seeds([100 * (one["trace norm"].top[0] - one[way].top[0]) for one in each]) for each in found.values()
        ]
        for way in WAYS
    }
    rows += [[f"trace norm, ahead of {way}", *(gain.shown() for gain in each)] for way, each in gains.items()]
    rows.append(
        [
            "rank of the trace norm",
            *(f"{np.mean([one['trace norm'].rank for one in each]):.0f}" for each in found.values()),
        ]
    )
    results.figure(finish(drawn, charts), f"accuracy against the number of classes, {name}")
    results.table(
        f"{name}, {source.each[0]} rows of a class to train on, by the number of classes",
        ["classes", *map(str, found)],
        rows,
    )
    return gains


def _by_top(results: Results, name: str, found: Found) -> None:
    drawn, charts = panels([name], "k", "top-k, %")
    for position, way in enumerate(METHODS):
        curve(charts[0], position, TOPS, np.mean([one[way].top for one in found], axis=0), way)
    results.figure(finish(drawn, charts), f"top-k accuracy against k, {name}")
    rows = [[way, *(percent([one[way].top[i] for one in found]) for i in range(len(TOPS)))] for way in METHODS]
    results.table(f"{name}, all classes, top-k", ["k", *map(str, TOPS)], rows)


def _by_spectrum(results: Results, name: str, found: Found) -> Interval:
    """The spectrum of one-vs-rest; what the last half of its values holds of the squares, less what is allowed."""
    k = len(found[0]["one-vs-rest"].spectrum)
    at = sorted({0, k // 20, k // 10, k // 4, k // 2, 3 * k // 4, k - 1})
    rows = []
    for way in METHODS:
        values = np.mean([one[way].spectrum / one[way].spectrum[0] for one in found], axis=0)
        rows.append([way, *(f"{values[i]:.3f}" for i in at)])
    results.table(f"{name}: singular values of W, the first being 1", ["", *(str(i + 1) for i in at)], rows)
    spectra = [one["one-vs-rest"].spectrum.astype(float) ** 2 for one in found]
    return over_seeds([100 * (LAST_HALF - s[len(s) // 2 :].sum() / s.sum()) for s in spectra])


def _verdicts(results: Results, gains: dict[str, dict[str, list[Interval]]], shares: dict[str, Interval]) -> None:
    held = "; ".join(f"{name} {100 * LAST_HALF - one.mean:.0f} %" for name, one in shares.items())
    results.finding(
        "Figure 1",
        "The singular values of one-vs-rest's W fall exponentially: the first hold most of the energy.",
        above(list(shares.values())),
        f"it would be so if the last half of them held less than {100 * LAST_HALF:.0f} % of the squares; they hold "
        f"{held}.",
    )
    grown = {name: _grown(each["one-vs-rest"]) for name, each in gains.items()}
    results.finding(
        "Figure 2, top",
        "The gain of the trace norm over one-vs-rest grows with the number of classes.",
        above(list(grown.values())),
        "from the fewest to the most classes it grows by "
        + "; ".join(f"{one.shown()} ({n})" for n, one in grown.items()),
    )
    last = {name: each["one-vs-rest"][-1] for name, each in gains.items()}
    results.finding(
        "Figure 2, bottom",
        "With all classes the trace norm is ahead of one-vs-rest.",
        above(list(last.values())),
        "by " + "; ".join(f"{one.shown()} ({name})" for name, one in last.items()),
    )
    ridge = {name: each["softmax with a ridge"][-1] for name, each in gains.items()}
    words = {Verdict.REPRODUCED: "everywhere", Verdict.IN_PART: "on some", Verdict.NOT_REPRODUCED: "nowhere"}
    results.say(f"""Against softmax with a ridge, which the paper does not try, it is ahead with all classes
        {words.get(above(list(ridge.values())), "by no more than chance")}:
        {"; ".join(f"{one.shown()} ({name})" for name, one in ridge.items())}.""")


def _grown(gains: list[Interval]) -> Interval:
    """By how much the last is above the first: they are of other draws, so their doubts add as squares."""
    first, last = gains[0], gains[-1]
    half = float(np.hypot(first.high - first.mean, last.high - last.mean))
    return Interval(last.mean - first.mean, last.mean - first.mean - half, last.mean - first.mean + half)

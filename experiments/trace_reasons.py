"""What makes the spectrum of one-vs-rest fall, and the trace norm gain: rows of a class, and its strength."""

from dataclasses import replace

import numpy as np

from experiments.results import Results, percent
from experiments.spectra import count, energy, fallen
from experiments.trace_sources import Source
from experiments.trace_trials import FIRST, METHODS, Trial, measured, trial
from experiments.tuned import COSTS, WAYS, one_vs_rest
from experiments.verdicts import over_seeds

CLASSES = 25
SIZES = (5, 20, 80)  # rows of a class to train on


def by_rows(results: Results, name: str, source: Source, seeds: int) -> None:
    """The same classes, with few and many rows of each."""
    found = {
        m: [trial(*replace(source, each=(m, *source.each[1:])).draw(CLASSES, seed)) for seed in range(seeds)]
        for m in SIZES
    }
    rows = []
    for m, trials in found.items():
        right = [percent([one.fitted[way].top[0] for one in trials]) for way in METHODS]
        gains = [over_seeds([one.gain(way) for one in trials]).shown() for way in WAYS]
        shares = [[_own(one) for one in trials], [energy(one.means, FIRST) for one in trials]]
        rows.append([str(m), *right, *gains, *(f"{100 * np.mean(share):.0f} %" for share in shares)])
    first = f"energy of the first {100 * FIRST:.0f} %"
    results.table(
        f"{name}, {CLASSES} classes, by the rows of a class to train on",
        [
            "rows",
            *METHODS,
            *(f"trace norm, ahead of {way}" for way in WAYS),
            f"one-vs-rest: {first}",
            f"means: {first}",
        ],
        rows,
    )
    pairs = list(zip(found[SIZES[0]], found[SIZES[-1]], strict=True))
    steeper = over_seeds([100 * (_own(many) - _own(few)) for few, many in pairs])
    more = over_seeds([many.gain("one-vs-rest") - few.gain("one-vs-rest") for few, many in pairs])
    results.say(f"""From {SIZES[0]} to {SIZES[-1]} rows of a class the energy of the first values of one-vs-rest's W
        changes by {steeper.shown()} points, and the gain of the trace norm over it by {more.shown()} points. Of the
        means of the classes the first values hold {rows[-1][-1]} there, of W {rows[-1][-2]}, where a flat spectrum
        would have {100 * count(np.ones(CLASSES), FIRST) / CLASSES:.0f}.""")


def _own(one: Trial) -> float:
    return energy(one.fitted["one-vs-rest"].s, FIRST)


def by_strength(results: Results, name: str, source: Source, seeds: int) -> None:
    """One-vs-rest with every C, positives as they are."""
    drawn = [source.draw(CLASSES, seed) for seed in range(seeds)]
    found = [[measured(one, test) for one in list(one_vs_rest(train))[: len(COSTS)]] for train, _, test in drawn]
    by_cost = list(zip(*found, strict=True))
    share = [f"{100 * np.mean([energy(one.s, FIRST) for one in some]):.0f} %" for some in by_cost]
    results.table(
        f"{name}, {CLASSES} classes, one-vs-rest by its strength",
        ["C", *(f"{C:g}" for C in COSTS)],
        [
            ["top-1", *(percent([one.top[0] for one in some]) for some in by_cost)],
            [f"energy of the first {100 * FIRST:.0f} %", *share],
            [f"value after {100 * FIRST:.0f} %", *(f"{np.mean([fallen(o.s, FIRST) for o in s]):.2f}" for s in by_cost)],
            ["top-1 with half of the values", *(percent([one.halved for one in some]) for some in by_cost)],
        ],
    )

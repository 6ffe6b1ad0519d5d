"""Figure 3 of Harchaoui et al. (CVPR 2012): one-vs-rest and the trace norm, trained and tested on codes."""

from pathlib import Path

import numpy as np

import manyclass as mc
from experiments.results import Results, percent
from experiments.trace_sources import Source, available, in_coordinates
from experiments.tuned import best
from experiments.verdicts import Interval, above, over_seeds

SEEDS = 5
COUNT = 10  # classes, as in the paper's V10
BLOCK = 16  # columns for one byte: 64 times fewer bytes, as in the paper
METHODS = ("one-vs-rest", "trace norm")
KINDS = ("full", "compressed", "half-compressed")


def run(folder: Path | None, seeds: int = SEEDS) -> Results:
    """The page."""
    results = Results("trace_codes", "One-vs-rest and the trace norm on codes")
    results.say(f"""{COUNT} classes, drawn {seeds} times, Fisher vectors of 4,096 numbers in {4096 // BLOCK} bytes: test
        accuracy in percent (mean and standard error) of machines that are trained and tested on rows as they are
        (full), on codes (compressed), and trained on codes but tested on rows as they are (half-compressed). Codes are
        of a product quantizer that learns from the rows that are not tested on; strengths are chosen as on
        [the other page](trace_classes.md).""")
    losses: list[Interval] = []
    returns: list[Interval] = []
    for name, source in available(folder).items():
        if "Fisher" not in name:
            continue
        found = [_accuracies(source, seed) for seed in range(seeds)]
        rows = [[way, *(percent([one[way][i] for one in found]) for i in range(len(KINDS)))] for way in METHODS]
        results.table(name, ["method", *KINDS], rows)
        losses += [over_seeds([100 * (one[way][0] - one[way][1]) for one in found]) for way in METHODS]
        returns += [over_seeds([100 * (one[way][2] - one[way][1]) for one in found]) for way in METHODS]
    if losses:
        _verdicts(results, losses, returns)
    return results


def _verdicts(results: Results, losses: list[Interval], returns: list[Interval]) -> None:
    results.finding(
        "Figure 3",
        "Codes of 64 times fewer bytes cost accuracy.",
        above(losses),
        "full less compressed, in points: " + ", ".join(one.shown() for one in losses) + ".",
    )
    results.finding(
        "Figure 3",
        "Testing on rows as they are gets almost half of that back.",
        above(returns),
        "half-compressed less compressed, in points: "
        + ", ".join(one.shown() for one in returns)
        + f"; of the mean loss of {np.mean([one.mean for one in losses]):.1f} points it is "
        f"{np.mean([one.mean for one in returns]):+.1f}.",
    )


def _accuracies(source: Source, seed: int) -> dict[str, list[float]]:
    """Of each method, in the order of KINDS."""
    X, places = source.load()[0], source.places(COUNT, seed)
    quantizer = mc.ProductQuantizer(BLOCK, random_state=seed).fit(X[np.setdiff1d(np.arange(len(X)), places.test)])
    train, judge, test = (X[at] for at in places[:3])
    y_train, y_judge, y_test = (places.labels[at] for at in places[:3])
    found: dict[str, list[float]] = {way: [] for way in METHODS}
    coded, judged, tested = (quantizer.encode(rows).toarray() for rows in (train, judge, test))
    full = in_coordinates(train, judge, test)
    codes = in_coordinates(coded, judged, tested, test)
    for way in METHODS:
        exact = best(way, (full[0], y_train), (full[1], y_judge))
        rough = best(way, (codes[0], y_train), (codes[1], y_judge))
        found[way] = [
            float((one.predict(rows) == y_test).mean())
            for one, rows in ((exact, full[2]), (rough, codes[2]), (rough, codes[3]))
        ]
    return found

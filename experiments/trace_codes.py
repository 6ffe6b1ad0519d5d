"""Figure 3 of Harchaoui et al. (CVPR 2012): one-vs-rest and the trace norm, trained and tested on codes."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import manyclass as mc
from experiments.results import Results, percent
from experiments.trace_sources import Source, available, in_coordinates
from experiments.tuned import SETTINGS, best
from experiments.verdicts import Interval, above, over_seeds

SEEDS = 8
COUNT = 10  # classes, as in the paper's V10
BLOCK = 16  # columns for one byte: 64 times fewer bytes, as in the paper
SAMPLE = 4096  # rows that codebooks are learned from, at most
METHODS = ("one-vs-rest", "trace norm")
ALMOST_HALF = 0.4  # of the loss, at least


class Accuracies(NamedTuple):
    """Of machines trained and tested on rows as they are, on codes, and trained on codes but tested on rows."""

    full: float
    compressed: float
    half: float

    @property
    def lost(self) -> float:
        """By codes, in points."""
        return 100 * (self.full - self.compressed)

    @property
    def returned(self) -> float:
        """By testing on rows as they are, in points."""
        return 100 * (self.half - self.compressed)


Found = dict[str, list[Accuracies]]  # of each method, by draws


def run(folder: Path | None, seeds: int = SEEDS) -> Results:
    """The page."""
    results = Results("trace_codes", "One-vs-rest and the trace norm on codes")
    results.say(f"""{COUNT} classes, drawn {seeds} times with their rows, Fisher vectors of 4,096 numbers in
        {4096 // BLOCK} bytes: test accuracy over all rows in percent (mean and standard error) of machines that are
        trained and tested on rows as they are (full), on codes (compressed), and trained on codes but tested on rows as
        they are (half-compressed). Codes are of a product quantizer that learns from at most {SAMPLE:,} rows of all
        classes, not of the {COUNT} alone, that are not tested on. Rows to train on, settings ({SETTINGS} of each
        method) and steps are those of [the page of all classes](trace_classes.md), with what that page tells of them;
        settings are chosen on rows held out that are as those to train on. Lost is full less compressed, returned is
        half-compressed less compressed; in brackets 95 % intervals over the draws. The paper has ten classes of
        vehicles, and Fisher vectors of 65,536 numbers beside these, which have not been run.""")
    found: dict[str, Found] = {}
    for name, source in available(folder).items():
        if "Fisher" in name:
            drawn = [accuracies(source, seed) for seed in range(seeds)]
            found[name] = {way: [one[way] for one in drawn] for way in METHODS}
            _table(results, name, found[name])
    if found:
        _verdicts(results, found)
    else:
        results.say("The photographs are not there, and nothing was run.")
    return results


def accuracies(source: Source, seed: int) -> dict[str, Accuracies]:
    """Of each method, on one draw."""
    X, places = source.load()[0], source.places(COUNT, seed)
    known = np.setdiff1d(np.arange(len(X)), places.test)
    quantizer = mc.ProductQuantizer(BLOCK, sample=SAMPLE, random_state=seed).fit(X[known])
    train, judge, test = (X[at] for at in places[:3])
    y, y_judge, y_test = (places.labels[at] for at in places[:3])
    coded, judged, tested = (quantizer.encode(rows).toarray() for rows in (train, judge, test))
    full = in_coordinates(train, judge, test)
    codes = in_coordinates(coded, judged, tested, test)
    found = {}
    for way in METHODS:
        exact, rough = (best(way, (rows[0], y), (rows[1], y_judge)) for rows in (full, codes))
        pairs = ((exact, full[2]), (rough, codes[2]), (rough, codes[3]))
        found[way] = Accuracies(*(float((one.predict(rows) == y_test).mean()) for one, rows in pairs))
    return found


def _table(results: Results, name: str, found: Found) -> None:
    rows = []
    for way, some in found.items():
        lost, returned = (over_seeds(values).shown() for values in _changes(some))
        rows.append([way, *(percent(values) for values in zip(*some, strict=True)), lost, returned])
    columns = ["method", "full", "compressed", "half-compressed", "lost, points", "returned, points"]
    results.table(name, columns, rows)


def _changes(some: Sequence[Accuracies]) -> tuple[list[float], list[float]]:
    """What is lost and what returned in each draw."""
    return [one.lost for one in some], [one.returned for one in some]


def beyond(some: Sequence[Accuracies], part: float) -> Interval:
    """By how much what is returned is above a part of what is lost: no quotient, whose divisor may be near zero."""
    return over_seeds([one.returned - part * one.lost for one in some])


def _verdicts(results: Results, found: dict[str, Found]) -> None:
    for name, ways in found.items():
        losses = {way: over_seeds(_changes(some)[0]) for way, some in ways.items()}
        results.finding(
            "Figure 3",
            f"Codes of 64 times fewer bytes cost accuracy ({name.split(', ')[0]}).",
            above(list(losses.values())),
            f"full less compressed: {_listed(losses)}",
        )
    for name, ways in found.items():
        back = {way: beyond(some, ALMOST_HALF) for way, some in ways.items()}
        shares = "; ".join(f"{way} {_share(some)}" for way, some in ways.items())
        open_ = [way for way, some in ways.items() if over_seeds(_changes(some)[0]).low <= 0]
        doubt = f" The loss itself is not told from zero: {', '.join(open_)}." if open_ else ""
        results.finding(
            "Figure 3",
            f"""Testing on rows as they are gets almost half of that back (at least {ALMOST_HALF:g} of it,
            {name.split(", ")[0]}).""",
            above(list(back.values())),
            f"of the mean loss what returns is: {shares}; less {ALMOST_HALF:g} of the loss, it is: {_listed(back)}"
            f"{doubt}",
        )


def _share(some: Sequence[Accuracies]) -> str:
    lost, returned = (float(np.mean(values)) for values in _changes(some))
    return f"{returned / lost:.2f}" if lost > 0 else "no loss"


def _listed(intervals: dict[str, Interval]) -> str:
    return "; ".join(f"{name} {one.shown()} points" for name, one in intervals.items()) + "."

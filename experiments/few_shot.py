"""Few examples of each class, and weights that are known before: a ridge towards them in place of one towards zero.

Five minutes on one core.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.long_tail import standard, unit_rows
from experiments.results import Results, percent
from experiments.sources import Labels, Rows, one, unit
from experiments.train_sets import read_caltech, read_table
from experiments.verdicts import Interval, above, each, over_seeds

SEEDS = range(10)
SHOTS = (1, 2, 4, 8, 16)
MOST_TESTED = 100  # rows of a class
NO_WORSE = 0.5  # points

NONE, MEANS, OLD = "no center", "center: means of others", "center: older model"
MEANS_ALONE, OLD_ALONE = "means of others alone", "older model alone"


class Source(NamedTuple):
    """A set, with how many rows of a class are the others, of which only a center is known."""

    X: Rows
    y: Labels
    others: int

    def shots(self) -> tuple[int, ...]:
        """Numbers of examples that leave three rows of every class to test on."""
        left = int(np.bincount(self.y).min()) - self.others - 3
        return tuple(shots for shots in SHOTS if shots <= left)


def sources(folder: Path) -> dict[str, Callable[[], Source]]:
    """Those at hand."""
    found: dict[str, Callable[[], Source]] = {}
    if any(folder.rglob("caltech*.npz")):
        found["Caltech, network"] = lambda: Source(*unit_rows(read_caltech(folder)), 10)
    if any(folder.rglob("letter*.csv")):
        found["letters"] = lambda: Source(*standard(read_table(one(folder, "letter*.csv"), 0, 1)), 50)
    if any(folder.rglob("leaf99*.csv")):
        found["leaves"] = lambda: Source(*standard(read_table(one(folder, "leaf99*.csv"), 1, 2)), 3)
    return found


def run(folder: Path | None, seeds: range = SEEDS) -> Results:
    """The page."""
    results = Results("few_shot", "Few examples, and weights that are known before")
    sets = sources(folder) if folder else {}
    if not sets:
        results.say("None of the sets is there.")
        return results
    results.say(f"""Accuracy in percent, mean over classes, then mean and standard error over {len(seeds)} seeds, of
        `SquareLossClassifier` on so many examples of each class. Of some other rows of every class, as many as a table
        names, only a center is known: their means, less the mean of these and made of length 1, or the weights of a
        `SquareLossClassifier` fitted on them. They stand in for embeddings of the names of classes and for last
        month's model; the rows themselves are not seen again. Strength and scale of the center are chosen by exact
        leave-one-out. What the others say alone, without the examples, is on the last rows: the class of highest
        product with such a mean, and what the older model predicts. At most {MOST_TESTED} rows of a class are tested.
        Columns of tables have mean 0 and deviation 1; rows of the network have length 1.""")
    gains: dict[str, dict[str, Interval]] = {}
    for name, make in sets.items():
        _show(results, name, make(), seeds, gains)
    _judge(results, gains)
    return results


def _show(results: Results, name: str, source: Source, seeds: range, gains: dict[str, dict[str, Interval]]) -> None:
    shots = source.shots()
    found: dict[tuple[str, int], list[float]] = {}
    for seed in seeds:
        for key, accuracy in _measure(source, seed).items():
            found.setdefault(key, []).append(accuracy)
    rows = [[way, *(percent(found[way, some]) for some in shots)] for way in (NONE, MEANS, OLD)]
    rows += [[way, *(percent(found[way, 0]) for _ in shots)] for way in (MEANS_ALONE, OLD_ALONE)]
    caption = f"{name}, {int(source.y.max()) + 1} classes, {source.others} others of each"
    results.table(caption, ["", *map(str, shots)], rows)

    def ahead(way: str, of: str, some: int) -> Interval:
        rivals = found[of, 0 if of in (MEANS_ALONE, OLD_ALONE) else some]
        return over_seeds([100 * (a - b) for a, b in zip(found[way, some], rivals, strict=True)])

    for way, alone in ((MEANS, MEANS_ALONE), (OLD, OLD_ALONE)):
        on_none = {f"{some}": ahead(way, NONE, some) for some in shots}
        on_center = {f"{some}": ahead(way, alone, some) for some in shots}
        center = way.replace("center: ", "a center of ").replace("older", "an older")
        results.say(f"""Points that {center} gains, by the number of examples: on no center {each(on_none, side=None)};
            on the {alone} {each(on_center, side=None)}.""")
        for what, some in ((f"{way}, none", on_none), (f"{way}, alone", on_center)):
            gains.setdefault(what, {}).update({f"{count} on {name}": one for count, one in some.items()})


def _judge(results: Results, gains: dict[str, dict[str, Interval]]) -> None:
    for way, words in ((MEANS, "means of others"), (OLD, "an older model")):
        better, no_worse = gains[f"{way}, none"], gains[f"{way}, alone"]
        results.finding(
            f"No center, {words}",
            f"A ridge towards {words} is better than one towards zero, with few examples and with more.",
            above(list(better.values())),
            f"in points, {each(better)}.",
        )
        results.finding(
            f"Center alone, {words}",
            f"With the examples it is no worse than what the others say alone, by more than {NO_WORSE} points.",
            above(list(no_worse.values()), NO_WORSE),
            f"in points, {each(no_worse, NO_WORSE)}.",
        )


def _measure(source: Source, seed: int) -> dict[tuple[str, int], float]:
    """Accuracies by way and number of examples; 0 examples for what the others say alone."""
    others, pool, test = drawn(source, seed)
    X, y, k = source.X, source.y, int(source.y.max()) + 1
    means = np.stack([X[others][y[others] == c].mean(axis=0) for c in range(k)])
    old = mc.SquareLossClassifier(keep_sums=False).fit(X[others], y[others])

    def accuracy(predicted: NDArray[Any]) -> float:
        return mc.evaluation.accuracy(y[test], predicted)

    directions = unit(means - means.mean(axis=0))
    alone = (X[test] @ directions.T).argmax(axis=1)
    found = {(MEANS_ALONE, 0): accuracy(alone), (OLD_ALONE, 0): accuracy(old.predict(X[test]))}
    for shots in source.shots():
        rows = pool[:, :shots].ravel()
        for way, center in ((NONE, None), (MEANS, directions), (OLD, old.coef_)):
            clf = mc.SquareLossClassifier(center=center, keep_sums=False).fit(X[rows], y[rows])
            found[way, shots] = accuracy(clf.predict(X[test]))
    return found


def drawn(source: Source, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """The others, examples to learn from (k, most) of which the first are taken, and rows to test on."""
    most, rng, y = source.shots()[-1], np.random.default_rng(seed), source.y
    others, pool, test = [], [], []
    for c in range(int(y.max()) + 1):
        rows = rng.permutation(np.flatnonzero(y == c))
        others.append(rows[: source.others])
        pool.append(rows[source.others : source.others + most])
        test.append(rows[source.others + most :][:MOST_TESTED])
    return np.concatenate(others), np.stack(pool), np.concatenate(test)

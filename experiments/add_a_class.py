"""A class from a few pictures: every way to add it, what is found of it, and what becomes of the others.

A quarter of an hour on one core.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import manyclass as mc
from experiments.results import Results, listed, percent
from experiments.sources import Labels, Rows, Split, caltech, unit
from experiments.train_sets import train_sets
from experiments.verdicts import FAILS, HOLDS, OPEN, Interval, each, is_above, over_seeds

COUNTS = (1, 2, 5, 10, 20)
FIVE = 5
NEW = 10  # classes that come later, together
DRAWS = {"leaves": 20}  # small, and quickly done
USUAL_DRAWS = 5
RETRAINED = (5, 20)  # pictures for which everything is trained again
LOSS = 1.0  # points of accuracy on old classes that the default may cost

PLAIN, EXACT, AGAIN, TRAINED = "nearest mean", "closed form, exact", "trained again", "one-vs-rest, trained"
DEFAULTS = ("closed form, imprinted", "one-vs-rest, imprinted", "softmax, imprinted", "trace norm, imprinted")
WITH_ROWS = "one-vs-rest, imprinted, with old rows"
LATENT = "trace norm, imprinted, in the shared space"
WAYS = (*DEFAULTS, LATENT, WITH_ROWS, TRAINED, EXACT, AGAIN, PLAIN)

ABOUT = {
    DEFAULTS[0]: "`imprint_classes` of `SquareLossClassifier`, against the sums that it has",
    DEFAULTS[1]: "`add_classes` of `StochasticClassifier`, with no old rows: against the 128 rows that it has kept",
    DEFAULTS[2]: "the same of `LinearClassifier` with a ridge",
    DEFAULTS[3]: "the same of `TraceNormClassifier`, whose rank grows by one for each",
    LATENT: "the same with rows in the space that the old classes share, so that the rank stays",
    WITH_ROWS: "the second, with all old rows beside the new ones",
    TRAINED: "new machines trained by stochastic gradient against all old rows, old ones as they are",
    EXACT: "`add_classes` of `SquareLossClassifier`: the machines of a fit on all rows",
    AGAIN: "a new `StochasticClassifier` on all rows",
    PLAIN: "the class whose mean has the largest cosine",
}


@dataclass
class Task:
    """Rows to train on and to test on, and the classes that come later."""

    split: Split
    new: Labels

    def __post_init__(self) -> None:
        self.old = ~np.isin(self.split.y, self.new)

    @property
    def before(self) -> tuple[Rows, Labels]:
        """Rows of the old classes."""
        return self.split.X[self.old], self.split.y[self.old]

    def few(self, count: int) -> tuple[Rows, Labels]:
        """So many rows of each of the new classes, the first of them."""
        places = np.concatenate([np.flatnonzero(self.split.y == c)[:count] for c in self.new])
        return self.split.X[places], self.split.y[places]

    def together(self, count: int) -> tuple[Rows, Labels]:
        """The old rows and those."""
        (X, y), (few, labels) = self.before, self.few(count)
        return np.concatenate([X, few]), np.concatenate([y, labels])

    def judge(self, predict: Callable[[Rows], Any]) -> tuple[float, float]:
        """Accuracy on test rows of new classes and of old ones, among all classes."""
        found, is_new = predict(self.split.X_test) == self.split.y_test, np.isin(self.split.y_test, self.new)
        return float(found[is_new].mean()), float(found[~is_new].mean())


@dataclass
class Found:
    """Accuracies on new and old classes, by way and number of pictures, one for each draw."""

    new: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    old: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    before: dict[str, list[float]] = field(default_factory=dict)

    def add(self, way: str, count: int, judged: tuple[float, float]) -> None:
        """One draw more."""
        for table, value in zip((self.new, self.old), judged, strict=True):
            table.setdefault((way, count), []).append(value)

    def both(self, way: str, count: int) -> Any:
        """The mean of the two, for each draw."""
        return (np.array(self.new[way, count]) + np.array(self.old[way, count])) / 2


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("add_a_class", "A class from a few pictures")
    results.say(f"""{NEW} classes drawn by chance are left out of a fit and come later, together, with {_listed()}
        pictures of each. Accuracy in percent is on test rows of the new classes, and on those of the old ones, among
        all classes; mean and standard error over {USUAL_DRAWS} draws, of leaves {DRAWS["leaves"]}.""")
    results.say("The ways: " + "; ".join(f"*{way}*, {about}" for way, about in ABOUT.items()) + ".")
    results.say("""How loud an imprinted machine is, by the mean and the spread of its scores, was chosen by what it
        gave on the features of Caltech and on drawn characters: for that rule these two are no test.""")
    found = {}
    for name, make in sets(folder).items():
        found[name] = measure(make, range(DRAWS.get(name, USUAL_DRAWS)))
        show(results, name, found[name])
    conclude(results, found)
    return results


def _listed() -> str:
    return f"{', '.join(map(str, COUNTS[:-1]))} or {COUNTS[-1]}"


def sets(folder: Path | None) -> dict[str, Callable[[int], Split]]:
    """Those at hand, each drawn by a seed."""
    found: dict[str, Callable[[int], Split]] = {}
    if folder and any(folder.rglob("caltech*.npz")):
        found["Caltech features"] = lambda _: caltech(folder)
    found["drawn characters"] = lambda _: characters()
    if folder and any(folder.rglob("leaf99*.csv")):
        found["leaves"] = lambda seed: scaled(train_sets(folder)["leaves", "192 shares"](seed))
    return found


def characters() -> Split:
    """Histograms of gradients of 200 characters: 15 of each to train on, 5 to test on."""
    drawn = mc.datasets.glyphs(200)
    X, train = mc.datasets.glyph_features(drawn.images), np.asarray(drawn.split) == "train"
    return Split(X[train], drawn.y[train], X[~train], drawn.y[~train])


def scaled(split: Split) -> Split:
    """Columns of one mean and variance, and then rows of unit length."""
    mean, scale = split.X.mean(axis=0), split.X.std(axis=0) + 1e-12
    X, X_test = (unit((rows - mean) / scale) for rows in (split.X, split.X_test))
    return Split(X, split.y, X_test, split.y_test)


def measure(make: Callable[[int], Split], draws: range) -> Found:
    """All ways on all draws."""
    found = Found()
    for seed in draws:
        split, rng = make(seed), np.random.default_rng(seed)
        order = rng.permutation(len(split.y))
        split = Split(split.X[order], split.y[order], split.X_test, split.y_test)
        task = Task(split, rng.permutation(split.n_classes)[:NEW])
        smallest = int(np.bincount(split.y)[task.new].min())
        fitted = {name: fit(*task.before) for name, fit in FITS.items()}
        for name, model in fitted.items():
            found.before.setdefault(name, []).append(task.judge(model.predict)[1])
        for count in (count for count in COUNTS if count <= smallest):
            for way, predict in ways(task, count, fitted):
                found.add(way, count, task.judge(predict))
    return found


FITS: dict[str, Callable[..., Any]] = {
    "closed form": lambda X, y: mc.SquareLossClassifier().fit(X, y),
    "one-vs-rest": lambda X, y: mc.StochasticClassifier("ovr", random_state=0).fit(X, y),
    "softmax": lambda X, y: mc.LinearClassifier(penalty=mc.Ridge(1e-5), tolerance=1e-3).fit(X, y),
    "trace norm": lambda X, y: mc.TraceNormClassifier(1e-4, 1e-5, tolerance=1e-2).fit(X, y),
}


def ways(task: Task, count: int, fitted: dict[str, Any]) -> Iterator[tuple[str, Callable[[Rows], Any]]]:
    """Every way with its classifier of all classes."""
    few = task.few(count)
    for way in DEFAULTS:
        yield way, copy.deepcopy(fitted[way.partition(",")[0]]).imprint_classes(*few).predict
    yield LATENT, in_shared_space(copy.deepcopy(fitted["trace norm"]), *few).predict
    yield WITH_ROWS, copy.deepcopy(fitted["one-vs-rest"]).imprint_classes(*task.together(count)).predict
    with patch("manyclass.estimators._incremental._ENOUGH", 0.0):  # however few they are
        yield TRAINED, copy.deepcopy(fitted["one-vs-rest"]).add_classes(*task.together(count)).predict
    if hasattr(fitted["closed form"], "scatter_"):
        yield EXACT, copy.deepcopy(fitted["closed form"]).add_classes(*few).predict
    if count in RETRAINED:
        yield AGAIN, FITS["one-vs-rest"](*task.together(count)).predict
    yield PLAIN, nearest_mean(*task.together(count))


def in_shared_space(model: Any, X: Rows, y: Labels) -> Any:
    """A classifier by the trace norm with new classes whose machines are sums of what the old ones share."""
    U = model.factors_[0]
    model.negatives_ = model.negatives_ @ U @ U.T
    return model.imprint_classes(X @ U @ U.T, y)


def nearest_mean(X: Rows, y: Labels) -> Callable[[Rows], Any]:
    """The class whose mean has the largest cosine."""
    classes = np.unique(y)
    means = unit(np.stack([X[y == c].mean(axis=0) for c in classes]))
    return lambda rows: classes[(rows @ means.T).argmax(axis=1)]


def show(results: Results, name: str, found: Found) -> None:
    """Tables of a set."""
    before = ", ".join(f"{kind} {percent(values)}" for kind, values in found.before.items())
    counts = [count for count in COUNTS if (PLAIN, count) in found.new]
    head = ["", *(f"{count} picture{'s' * (count > 1)}" for count in counts)]
    for what, table in (("new classes", found.new), ("old classes", found.old)):
        rows = [[way, *(percent(table[way, n]) if (way, n) in table else "" for n in counts)] for way in WAYS]
        results.table(f"{name}, {what}", head, [row for row in rows if any(row[1:])])
    results.say(f"Before any class came, accuracy on the old ones was, in percent: {before}.")


def conclude(results: Results, found: dict[str, Found]) -> None:
    """What holds on all sets."""
    ahead, kept, trained = {}, {}, {}
    for name, one in found.items():
        for way in DEFAULTS:
            key = f"{name}: {way.partition(',')[0]}"
            ahead[key] = interval(one.both(way, FIVE) - one.both(PLAIN, FIVE))
            kept[key] = interval(np.array(one.old[way, FIVE]) - one.before[way.partition(",")[0]])
        trained[name] = interval(one.both(DEFAULTS[1], FIVE) - one.both(TRAINED, FIVE))
    results.say(f"""With {FIVE} pictures, the mean of both accuracies is above that of nearest means, however classes
        were fitted: {judged(ahead)}. In points: {each(ahead)}.""")
    results.say(f"""The {NEW} classes of {FIVE} pictures cost the old ones at most {LOSS:g} point of accuracy together:
        {judged(kept, LOSS)}. In points: {each(kept, LOSS)}.""")
    results.say(f"""With {FIVE} pictures, the mean of both accuracies of one-vs-rest is above that of machines that were
        trained on them and all old rows: {judged(trained)}. In points: {each(trained)}.""")


def judged(differences: dict[str, Interval], margin: float = 0.0) -> str:
    """Whether all are above -margin, in words.

    >>> judged({"A": Interval(1, 0.5, 1.5), "B": Interval(0, -1, 1)})
    'it holds for 1 of 2, and is not told for B'
    """
    sides = {name: is_above(one, margin) for name, one in differences.items()}
    holding = list(sides.values()).count(HOLDS)
    if holding == len(sides):
        return "it holds for all"
    others = [
        f"{word} for {listed(n for n, side in sides.items() if side == which)}"
        for word, which in (("fails", FAILS), ("is not told", OPEN))
        if which in sides.values()
    ]
    return f"it holds for {holding} of {len(sides)}, and {' and '.join(others)}"


def interval(differences: Any) -> Interval:
    """In points."""
    return over_seeds([100 * float(one) for one in differences])

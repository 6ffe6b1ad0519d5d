"""Classes of a long tail: weights, sampling, or a uniform prior after training (Menon et al., ICLR 2021).

Ten minutes on one core.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.results import Results, percent
from experiments.sources import Labels, Rows, one, unit
from experiments.train_sets import read_caltech, read_table
from experiments.verdicts import Interval, above, each, over_seeds

SEEDS = range(10)
PLAIN, WEIGHTED, DRAWN, PRIOR = "plain", "class_weight balanced", "sampling balanced", "prior uniform"
STRENGTHS = (1.0, 10.0, 100.0, 1000.0)  # C of LogisticRegression
NO_WORSE = 0.5  # points

Ways = dict[str, Any]


class Tail(NamedTuple):
    """A set of which so many rows of the largest and of the smallest class are learned from; others are to test on."""

    X: Rows
    y: Labels
    largest: int
    smallest: int


class Shares(NamedTuple):
    """Of one fit: the mean over classes, that of the smallest third, and what a test as skewed as training says."""

    mean: float
    few: float
    skewed: float


def tails(folder: Path) -> dict[str, Callable[[], Tail]]:
    """Those at hand."""
    found: dict[str, Callable[[], Tail]] = {}
    if any(folder.rglob("caltech*.npz")):
        found["Caltech, network"] = lambda: Tail(*unit_rows(read_caltech(folder)), 30, 2)
    if any(folder.rglob("letter*.csv")):
        found["letters"] = lambda: Tail(*standard(read_table(one(folder, "letter*.csv"), 0, 1)), 500, 5)
    if any(folder.rglob("leaf99*.csv")):
        found["leaves"] = lambda: Tail(*standard(read_table(one(folder, "leaf99*.csv"), 1, 2)), 7, 2)
    return found


def unit_rows(data: tuple[Rows, Labels]) -> tuple[Rows, Labels]:
    """Rows of length 1."""
    return unit(data[0]), data[1]


def standard(data: tuple[Rows, Labels]) -> tuple[Rows, Labels]:
    """Columns of mean 0 and deviation 1, over all rows."""
    X, y = data
    return ((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-6)).astype(np.float32), y


def run(folder: Path | None, seeds: range = SEEDS) -> Results:
    """The page."""
    results = Results("long_tail", "Rare classes: weights, sampling, or a prior after training")
    sets = tails(folder) if folder else {}
    if not sets:
        results.say("None of the sets is there.")
        return results
    results.say(f"""Accuracy in percent, mean and standard error over {len(seeds)} seeds. Logarithms of the sizes of
        classes to learn from are evenly spread, from the largest to the smallest that a table names, and which class is
        how large is drawn by the seed; rows beyond as many as the largest has are to test on, the same number whatever
        the size. *Mean of classes* counts every class alike, *few* the smallest third of them. *As skewed* is what a
        test would say in which classes are as frequent as in training: their accuracies, weighted by that. Softmax and
        one-vs-rest are `StochasticClassifier`, the closed form is `SquareLossClassifier`, with all else by default;
        LogisticRegression is scikit-learn's, with C of {", ".join(f"{C:g}" for C in STRENGTHS)} chosen on a third of
        the rows to learn from, for the first seed, by plain accuracy. *{PRIOR}* is the plain fit after
        `set_prior("uniform")`; of LogisticRegression, its probabilities divided by the frequencies of training. That
        scores of softmax are moved in their own units, and not in those of the temperature, was chosen by what it gave
        on letters. Columns of tables have mean 0 and deviation 1; rows of the network have length 1.""")
    gains = {name: _show(results, name, make(), seeds) for name, make in sets.items()}
    _judge(results, gains)
    return results


Gains = dict[str, dict[str, Interval]]  # of what, for each machine


def _show(results: Results, name: str, tail: Tail, seeds: range) -> Gains:
    found: dict[str, dict[str, list[Shares]]] = {}
    C = _chosen(tail, seeds[0])
    for seed in seeds:
        for machine, ways in _measure(tail, seed, C).items():
            for way, shares in ways.items():
                found.setdefault(machine, {}).setdefault(way, []).append(shares)
    rows = [
        [machine, way, *(percent([one[i] for one in some]) for i in range(3))]
        for machine, ways in found.items()
        for way, some in ways.items()
    ]
    k = int(tail.y.max()) + 1
    caption = f"{name}, {k} classes of {tail.largest} to {tail.smallest} rows"
    results.table(caption, ["machine", "way", "mean of classes", "few", "as skewed"], rows)
    gains: Gains = {}
    for machine, ways in found.items():
        for what, other, i in (
            ("mean", PLAIN, 0),
            ("few", PLAIN, 1),
            ("skewed", PLAIN, 2),
            ("weights", WEIGHTED, 0),
            ("draws", DRAWN, 0),
        ):
            if other in ways:
                pairs = zip(ways[PRIOR], ways[other], strict=True)
                gains.setdefault(what, {})[machine] = over_seeds([100 * (a[i] - b[i]) for a, b in pairs])
    results.say(f"""Points that a uniform prior gains on the plain fit, with 95 % intervals: mean of classes
        {each(gains["mean"], side=None)}; few {each(gains["few"], side=None)}; as skewed
        {each(gains["skewed"], side=None)}. What it gains on weights, mean of classes:
        {each(gains["weights"], side=None)}.""")
    return gains


def _judge(results: Results, gains: dict[str, Gains]) -> None:
    def over_sets(what: str) -> dict[str, Interval]:
        return {f"{machine} on {name}": one for name, some in gains.items() for machine, one in some[what].items()}

    for item, claim, what, margin in (
        (
            "Mean of classes",
            "A uniform prior after training raises the mean over classes.",
            "mean",
            0.0,
        ),
        ("Few", "It raises the accuracy of the smallest third of the classes.", "few", 0.0),
        ("Weights", f"It is no worse than class weights, by more than {NO_WORSE} points.", "weights", NO_WORSE),
        ("Sampling", f"It is no worse than classes drawn alike, by more than {NO_WORSE} points.", "draws", NO_WORSE),
    ):
        found = over_sets(what)
        results.finding(item, claim, above(list(found.values()), margin), f"in points, {each(found, margin)}.")
    lost = {name: Interval(-one.mean, -one.high, -one.low) for name, one in over_sets("skewed").items()}
    claim = "Where rows to test on are as skewed as those to learn from, it costs accuracy."
    results.finding("As skewed", claim, above(list(lost.values())), f"lost, in points, {each(lost)}.")


def _measure(tail: Tail, seed: int, C: float) -> dict[str, dict[str, Shares]]:
    """Of each machine, each way; C is that of LogisticRegression."""
    learn, test, sizes = drawn(tail, seed)
    X, y, X_test, y_test = tail.X[learn], tail.y[learn], tail.X[test], tail.y[test]

    def judge(predicted: NDArray[Any]) -> Shares:
        right = np.bincount(y_test, predicted == y_test) / np.bincount(y_test)
        counts = dict(enumerate(sizes.tolist()))
        few = mc.evaluation.accuracy_by_class_size(y_test, predicted, counts)[-1]
        return Shares(float(right.mean()), few.accuracy, float(right @ sizes / sizes.sum()))

    found = {}
    for machine, ways in _machines(seed).items():
        shown = {way: judge(clf.fit(X, y).predict(X_test)) for way, clf in ways.items()}
        found[machine] = {**shown, PRIOR: judge(ways[PLAIN].set_prior("uniform").predict(X_test))}
    return found | {"LogisticRegression": _peer(C, (X, y), X_test, sizes, judge)}


def _machines(seed: int) -> dict[str, Ways]:
    def stochastic(objective: str) -> Ways:
        ways = {PLAIN: {}, WEIGHTED: {"class_weight": "balanced"}, DRAWN: {"sampling": "balanced"}}
        return {way: mc.StochasticClassifier(objective, random_state=seed, **more) for way, more in ways.items()}

    closed = {PLAIN: mc.SquareLossClassifier(), WEIGHTED: mc.SquareLossClassifier(class_weight="balanced")}
    return {"softmax": stochastic("softmax"), "one-vs-rest": stochastic("ovr"), "closed form": closed}


def _chosen(tail: Tail, seed: int) -> float:
    """The C of LogisticRegression."""
    learn, _, _ = drawn(tail, seed)
    held = np.random.default_rng(seed).random(len(learn)) < 1 / 3
    rest, judged = ((tail.X[rows], tail.y[rows]) for rows in (learn[~held], learn[held]))
    return max(STRENGTHS, key=lambda C: float(_logistic(C, *rest).score(*judged)))


def _logistic(C: float, X: Rows, y: Labels, **more: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LogisticRegression(C=C, max_iter=100, **more).fit(X, y)


def _peer(
    C: float, data: tuple[Rows, Labels], X_test: Rows, sizes: NDArray[Any], judge: Callable[[NDArray[Any]], Shares]
) -> dict[str, Shares]:
    plain, weighted = _logistic(C, *data), _logistic(C, *data, class_weight="balanced")
    even = (plain.predict_proba(X_test) / sizes).argmax(axis=1)
    return {PLAIN: judge(plain.predict(X_test)), WEIGHTED: judge(weighted.predict(X_test)), PRIOR: judge(even)}


def drawn(tail: Tail, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int64]]:
    """Rows to learn from, rows to test on, and how many each class has of the former."""
    rng, k = np.random.default_rng(seed), int(tail.y.max()) + 1
    sizes = rng.permutation(np.rint(np.geomspace(tail.largest, tail.smallest, k)).astype(np.int64))
    order = rng.permutation(len(tail.y))
    order = order[np.argsort(tail.y[order], kind="stable")]
    counts = np.bincount(tail.y)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[rank < sizes[tail.y[order]]], order[rank >= tail.largest], sizes

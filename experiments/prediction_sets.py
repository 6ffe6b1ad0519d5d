"""Do sets of classes hold the right one as often as they promise, how large are they, and are probabilities so?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.photographs import kept
from experiments.results import Results, listed, mean_error
from experiments.sources import Rows, Split
from experiments.train_sets import few, split, train_sets
from experiments.verdicts import Interval, over_seeds

SPLITS, PROMISED, ALLOWED = 20, (0.9, 0.95), 1.0  # points that coverage may be off on average
MOST = 150  # rows of a class to train on, where there are thousands
SETS = (("Caltech", "network"), ("letters", "16 counts"), ("leaves", "192 shares"))
MANY = ("Omniglot", "gradients")  # of which the closed form alone is fitted, and fewer splits are drawn
FEW_SPLITS = 5
METHODS = ("lac", "aps", "raps")  # of MAPIE


class Judged(NamedTuple):
    """One kind of set on the test rows of a split: the share that hold the right class, the mean size, the mean over
    classes of how far their share is from the promise, and how often the best class is right; in percent but the size.
    """

    covered: float
    size: float
    gap: float
    accuracy: float


Key = tuple[str, str, str, float]  # data, way, by, promised


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("prediction_sets", "Sets of classes, and probabilities")
    results.say(f"""A third of every class is test rows, drawn anew for each of {SPLITS} splits ({FEW_SPLITS} of
        Omniglot); of letters {MOST} of a class are trained on. *Fit* are sets by what the fit held out: those rows by
        which StochasticClassifier, with its defaults, stopped, before it was refitted with them, and rows that
        SquareLossClassifier left out one by one. *Calibrate* has a closed form fitted on three quarters of the rows,
        and calibrated on the others. The best class is in every set, so that sets are expected to hold the right one
        as often as promised or, where that is more, as the best class is right. Percent, mean and standard error.""")
    sets = {name: make for name, make in train_sets(folder).items() if name in (*SETS, MANY)}
    found: dict[Key, list[Judged]] = {}
    peers: dict[Key, list[Judged]] = {}
    errors: dict[str, list[list[float]]] = {}
    for name, make in sets.items():
        for seed in range(FEW_SPLITS if name == MANY else SPLITS):
            known = known_split(name, make, seed)
            for into, some in ((found, known["found"]), (peers, known["peers"])):
                for way, by, promised, judged in some:
                    into.setdefault((name[0], way, by, promised), []).append(Judged(*judged))
            if known["errors"]:
                errors.setdefault(name[0], []).append(known["errors"])
    _say_coverage(results, found)
    _say_clusters(results, found)
    if peers:
        _say_peers(results, found, peers)
    _say_errors(results, errors)
    return results


def known_split(name: tuple[str, str], make: Callable[[int], Split], seed: int) -> dict[str, Any]:
    """What was measured on a split, read where it is known."""
    known: dict[str, Any] = kept(f"prediction_sets-{name[0]}-{seed}", lambda: _judge_split(name, make(seed), seed))
    return known


def _judge_split(name: tuple[str, str], whole: Split, seed: int) -> dict[str, Any]:
    drawn = few(whole, MOST)
    fits: dict[str, Callable[[], Any]] = {"closed form, fit": lambda: mc.SquareLossClassifier().fit(drawn.X, drawn.y)}
    if name != MANY:
        fits["stochastic, fit"] = lambda: mc.StochasticClassifier(random_state=seed).fit(drawn.X, drawn.y)
    part = split(drawn.X, drawn.y, seed, 0.25)
    fits["closed form, calibrate"] = lambda: mc.SquareLossClassifier().fit(part.X, part.y).calibrate(*_held(part))
    found, peers = [], []
    for way, fit in fits.items():
        fitted = fit()
        right = 100 * float(fitted.score(drawn.X_test, drawn.y_test))
        for promised in PROMISED:
            for by in ("all", "cluster"):
                sets = fitted.predict_set(drawn.X_test, promised, by=by)
                found.append((way, by, promised, _judged(drawn, sets, promised, right)))
        if way == "closed form, calibrate":
            for method, promised, sets in _mapie(fitted, part, drawn.X_test):
                peers.append((method, "all", promised, _judged(drawn, sets, promised, right)))
    print(name, seed, [f"{one[0]} {one[2]} {one[3].covered:.1f}" for one in found if one[1] == "all"], flush=True)
    return {"found": found, "peers": peers, "errors": None if name == MANY else _calibration_errors(drawn, seed)}


def _held(part: Split) -> tuple[Rows, NDArray[np.intp]]:
    return part.X_test, part.y_test


def _judged(drawn: Split, sets: list[Any], promised: float, right: float) -> Judged:
    about = mc.evaluation.set_coverage(drawn.y_test, sets)
    held = np.array([label in one for label, one in zip(drawn.y_test, sets, strict=True)])
    counts = np.bincount(drawn.y_test)
    shares = np.bincount(drawn.y_test, held)[counts > 0] / counts[counts > 0]
    return Judged(100 * about.coverage, about.size, 100 * float(np.abs(shares - promised).mean()), right)


class _Known:
    """A classifier whose rows are its probabilities, as MAPIE takes one."""

    def __init__(self, classes: NDArray[Any]):
        self.classes_, self.n_features_in_ = classes, len(classes)

    def fit(self, X: Any, y: Any) -> "_Known":
        return self

    def predict_proba(self, X: Any) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(X, axis=1)]


def _mapie(fitted: Any, part: Split, X_test: Rows) -> list[tuple[str, float, list[Any]]]:
    """(method, promised, sets) by MAPIE, where it is installed, of the same probabilities and held-out rows."""
    try:
        from mapie.classification import SplitConformalClassifier
    except ImportError:
        return []
    found = []
    held, asked = (fitted.predict_proba(X).astype(np.float64) for X in (part.X_test, X_test))
    held, asked = (P / P.sum(axis=1, keepdims=True) for P in (held, asked))
    for method in METHODS:
        peer = SplitConformalClassifier(
            _Known(fitted.classes_), list(PROMISED), conformity_score=method, prefit=True, random_state=0
        )
        try:
            sets = peer.conformalize(held, part.y_test).predict_set(asked)[1]
        except ValueError:  # raps divides the held-out rows, of which every class must have some
            continue
        for i, promised in enumerate(PROMISED):
            found.append((method, promised, [fitted.classes_[row] for row in sets[:, :, i]]))
    return found


def _calibration_errors(drawn: Split, seed: int) -> tuple[float, float, float, float]:
    """Of softmax, in percent: accuracy, and the expected calibration error without and with the temperature of the
    held-out rows, beside that of chance."""
    fitted = mc.StochasticClassifier("softmax", random_state=seed).fit(drawn.X, drawn.y)
    right = fitted.predict(drawn.X_test) == drawn.y_test
    after = mc.evaluation.expected_calibration_error(right, fitted.predict_proba(drawn.X_test).max(axis=1))
    del fitted.temperature_
    before = mc.evaluation.expected_calibration_error(right, fitted.predict_proba(drawn.X_test).max(axis=1))
    return 100 * float(right.mean()), 100 * before.value, 100 * after.value, 100 * after.chance


def _cell(values: Any, decimals: int = 1) -> str:
    mean, error = mean_error(list(values))
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def _off(some: list[Judged], promised: float) -> Interval:
    """How far the coverage is from what is to be expected."""
    return over_seeds([one.covered - max(100 * promised, one.accuracy) for one in some])


def _say_coverage(results: Results, found: dict[Key, list[Judged]]) -> None:
    rows, off = [], {}
    for (data, way, by, promised), some in found.items():
        if by == "all":
            off[f"{data}, {way}, {100 * promised:g} %"] = _off(some, promised)
            cells = (_cell([one.accuracy for one in some]), _cell([one.covered for one in some]))
            size = _cell([one.size for one in some], 2)
            rows.append([data, way, f"{100 * promised:g}", *cells, size, _off(some, promised).shown()])
    columns = ["data", "held-out rows", "promised", "best class right", "sets hold the right class", "classes in a set"]
    results.table("Coverage", [*columns, "off, points"], rows)
    others = [f"{name} ({one.shown()})" for name, one in off.items() if abs(one.mean) > ALLOWED]
    told = f"; farther off are {listed(others)}" if others else ""
    overall = float(np.mean([one.mean for one in off.values()]))
    results.say(f"""*Off* is by how many points coverage is from what is expected, with a 95 % interval over the splits.
        Coverage is within {ALLOWED:g} point of what is expected, on average over splits, in {len(off) - len(others)} of
        {len(off)} cases, and {overall:+.1f} points off on average over all{told}. A row that is left out is missing
        among those of its class, so that classes of few rows are judged as harder than they are.""")


def _say_clusters(results: Results, found: dict[Key, list[Judged]]) -> None:
    rows = []
    for (data, way, by, promised), some in found.items():
        if by == "all" and promised == PROMISED[0]:
            other = found[data, way, "cluster", promised]
            gain = over_seeds([a.gap - b.gap for a, b in zip(some, other, strict=True)])
            cells = [_cell([one.gap for one in these]) for these in (some, other)]
            sizes = [_cell([one.size for one in these], 2) for these in (some, other)]
            rows.append([data, way, *cells, gain.shown(), *sizes])
    columns = ["data", "held-out rows", "gap, all", "gap, cluster", "less by", "size, all", "size, cluster"]
    results.table(f"Class by class, {100 * PROMISED[0]:g} % promised", columns, rows)
    results.say("""*Gap* is the mean over classes of how far the share of their sets that hold the class is from the
        promise, in points; chance alone makes some of it where a class has few test rows. Clusters need some twenty
        held-out rows of a class, and are the same as one threshold for all where there are fewer.""")


def _say_peers(results: Results, found: dict[Key, list[Judged]], peers: dict[Key, list[Judged]]) -> None:
    rows = []
    for (data, method, _, promised), some in peers.items():
        ours = found[data, "closed form, calibrate", "all", promised]
        less = over_seeds([a.size - b.size for a, b in zip(some, ours, strict=True)])
        cells = [_cell([one.covered for one in these]) for these in (ours, some)]
        sizes = [_cell([one.size for one in these], 2) for these in (ours, some)]
        rows.append([data, f"{100 * promised:g}", method, cells[0], sizes[0], cells[1], sizes[1], less.shown()])
    columns = ["data", "promised", "MAPIE's score", "manyclass covers", "size", "MAPIE covers", "size", "larger by"]
    results.table("Beside MAPIE, on the same probabilities and held-out rows", columns, rows)
    results.say("""MAPIE's lac takes the same score, 1 less the probability, but leaves sets empty where no class is
        above the threshold; aps and raps add up probabilities from the best class on; raps refuses
        held-out rows that are few for so many classes. *Larger by* is how many classes
        more its sets have, with a 95 % interval over the splits.""")


def _say_errors(results: Results, errors: dict[str, list[list[float]]]) -> None:
    rows, gains = [], {}
    for data, some in errors.items():
        accuracy, before, after, chance = zip(*some, strict=True)
        gains[data] = over_seeds([a - b for a, b in zip(before, after, strict=True)])
        rows.append([data, _cell(accuracy), _cell(before), _cell(after), _cell(chance), gains[data].shown()])
    columns = ["data", "accuracy", "without a temperature", "by default", "chance alone", "less by"]
    results.table("Calibration error of softmax", columns, rows)
    results.say("""Expected calibration error of the best class, in points, over 15 bins of as many test rows each.
        StochasticClassifier(objective="softmax") finds a temperature on the rows it stops by; without it,
        probabilities are those of the link.""")

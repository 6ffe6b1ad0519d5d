"""Labels that people give one by one: accuracy by each way to choose the next picture, and keys per label.

A session of `manyclass.runs.labeling` as the page has it, with the right label for an answer. Ten minutes on one core,
and as many for features of a network.
"""

import tarfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from experiments.figures import curve, finish, panels
from experiments.networks import efficientnet
from experiments.photographs import encoded, photographs
from experiments.results import Results, listed, percent
from experiments.search_sets import TINY
from experiments.sources import Labels, Rows, omniglot_features, one, unit
from experiments.train_sets import read_caltech, split
from experiments.verdicts import Interval, above, each, over_seeds
from manyclass.runs.labeling import LabelingSession, LabelLog

SEEDS = range(5)
SHOWN = (50, 100, 200, 500)
REACHED = (200, 500)  # labels of random choice, whose accuracy is to be reached with fewer
RATIO = 1.3
NO_WORSE = 0.5  # points
PROPOSED = 5

RANDOM, MIXED = "random", "mixed"
WAYS = (RANDOM, "uncertain", "typical", "rare", MIXED)

# Labels after which the session learns; the page does so every 20 labels at least.
LEARNED = (10, 20, 30, 40, 50, 65, 80, 100, 120, 140, 160, 180, 200, 230, 260, 300, 350, 400, 450, 500)


@dataclass(frozen=True)
class Pictures:
    """Rows X (n, d) with classes y, numbers of names."""

    X: Rows
    y: Labels
    names: list[str]


@dataclass(frozen=True)
class Trial:
    """Accuracies by the number of labels, and of every label whether it was typed, and its keys."""

    accuracy: dict[int, float]
    place: list[int]  # of the right class among those proposed, from 0; -1 if it was none of them
    keys: list[int]
    typed: list[int]  # keys without proposals


def sources(folder: Path) -> dict[str, Callable[[], Pictures]]:
    """Those at hand."""
    found: dict[str, Callable[[], Pictures]] = {}
    if any(folder.rglob("caltech*.npz")):
        found["Caltech"] = lambda: _caltech(folder)
    if any(folder.rglob("omniglot*.tar.gz")):
        found["Omniglot"] = lambda: _omniglot(folder)
    if any(folder.rglob(TINY)) and efficientnet():
        found["Tiny-ImageNet"] = lambda: _tiny(folder)
    return found


def _caltech(folder: Path) -> Pictures:
    X, y = read_caltech(folder)
    with np.load(one(folder, "caltech*.npz"), allow_pickle=False) as file:
        return Pictures(unit(X), y, [str(name) for name in file["classes"]])


def _omniglot(folder: Path) -> Pictures:
    X, y = omniglot_features(folder)
    with tarfile.open(one(folder, "omniglot*.tar.gz")) as archive:
        parents = sorted({str(Path(name).parent) for name in archive.getnames() if name.endswith(".png")})
    return Pictures(X, y, [" ".join(Path(parent).parts[-2:]).replace("character", "") for parent in parents])


def _tiny(folder: Path) -> Pictures:
    images = photographs(folder, TINY)
    X = next(iter(efficientnet().values()))
    return Pictures(unit(encoded(images, X).X.toarray().astype(np.float32)), images.y, tiny_names(folder))


def tiny_names(folder: Path) -> list[str]:
    """What classes are called, in the order of their folders; each once."""
    with tarfile.open(one(folder, TINY)) as archive:
        members = {Path(name).name: name for name in archive.getnames()}
        stream = archive.extractfile(members["words.txt"])
        lines = stream.read().decode().splitlines() if stream else []
    words = {code: text.split(",")[0] for code, _, text in (line.partition("\t") for line in lines) if code in members}
    counts = Counter(words.values())
    return [name if counts[name] == 1 else f"{name} {code}" for code, name in sorted(words.items())]


def run(folder: Path | None, seeds: range = SEEDS) -> Results:
    """The page."""
    results = Results("labeling", "Which picture to label next")
    sets = sources(folder) if folder else {}
    if not sets:
        results.say("None of the sets is there.")
        return results
    results.say(f"""Somebody labels pictures one by one, beginning with none, and always rightly; a `LabelingSession`
        says which picture comes next, and learns after {listed(LEARNED[:3])} labels and so on. Accuracy in percent, the
        share of rows that are no part of the session, then mean and standard error over {len(seeds)} seeds, by which a
        third of the rows of every class is drawn to test on. All ways learn in the same manner; in the ways
        "uncertain", "typical" and "rare" all pictures are chosen so, in "random" none, and "mixed", which is the
        default, has one in five by chance, and otherwise pictures that stand for many over which the model hesitates.
        Caltech and Tiny-ImageNet are features of a network, which was trained on photographs of ImageNet, from which
        Tiny-ImageNet is drawn; Omniglot is histograms of gradients, of 659 characters: 500 labels cannot show all of
        them. Settings of the session were chosen on Caltech, Omniglot and letters; nothing was changed after
        Tiny-ImageNet was seen.""")
    found = {name: measured(name, make(), seeds) for name, make in sets.items()}
    for name, trials in found.items():
        _show(results, name, trials)
    _draw(results, found)
    _judge(results, found)
    _keys(results, found)
    return results


Trials = dict[str, list[Trial]]  # by the way to choose


def measured(name: str, pictures: Pictures, seeds: range) -> Trials:
    """Trials by way and seed."""
    found: Trials = {way: [] for way in WAYS}
    for seed in seeds:
        for way in WAYS:
            found[way].append(trial(pictures, way, seed))
            print(name, way, seed, {n: round(100 * found[way][-1].accuracy[n], 1) for n in SHOWN}, flush=True)
    return found


def trial(pictures: Pictures, way: str, seed: int) -> Trial:
    """One person, who labels as many pictures as are shown at most, in the order of a way to choose."""
    data = split(pictures.X, pictures.y, seed)
    names = np.array(pictures.names)
    ids = [str(i) for i in range(len(data.y))]
    found = Trial({}, [], [], [])
    by_chance = np.random.default_rng([seed, 1]).permutation(len(ids)).tolist()
    with TemporaryDirectory() as folder, LabelLog(Path(folder) / "labels.jsonl") as log:
        session = LabelingSession(data.X, ids, log, seed=seed)
        done = 0
        for labels in SHOWN if way == RANDOM else LEARNED:
            count = labels - done
            chosen = by_chance[done:labels] if way == RANDOM else [one.position for one in session.next(way, count)]
            proposals = session.proposals(chosen, PROPOSED)
            for position, some in zip(chosen, proposals, strict=True):
                name = str(names[data.y[position]])
                _count_keys(found, name, [one.label for one in some], set(log.labels.values()))
                log.append([ids[position]], name, proposed=some[0].label if some else None, source="label")
            done += len(chosen)
            session.train()
            classifier = session.classifier()
            predicted = names[:0] if classifier is None else classifier.predict(data.X_test)
            found.accuracy[labels] = float(np.mean(predicted == names[data.y_test])) if len(predicted) else 0.0
    return found


def _count_keys(found: Trial, name: str, proposed: list[str], known: set[str]) -> None:
    typed = typing_keys(name, known)
    place = proposed.index(name) if name in proposed else -1
    found.place.append(place)
    found.keys.append(typed if place < 0 else 1)
    found.typed.append(typed)


def typing_keys(name: str, known: set[str]) -> int:
    """Letters until no other known name begins so, and Enter; a name that is new is typed to its end.

    >>> typing_keys("cat", {"cat", "car", "dog"}), typing_keys("dog", {"cat", "dog"}), typing_keys("eel", {"dog"})
    (4, 2, 4)
    """
    if name not in known:
        return len(name) + 1
    others = [other for other in known if other != name]
    alone = (i for i in range(1, len(name)) if not any(other.startswith(name[:i]) for other in others))
    return next(alone, len(name)) + 1


def _show(results: Results, name: str, trials: Trials) -> None:
    rows = [[way, *(percent([one.accuracy[n] for one in trials[way]]) for n in SHOWN)] for way in WAYS]
    results.table(f"{name}, accuracy by the number of labels", ["", *map(str, SHOWN)], rows)


def labels_needed(trial: Trial, accuracy: float) -> float:
    """Labels from which on a way has an accuracy, by lines between the numbers at which it was judged.

    What is judged goes up and down by chance; of all curves that never fall the nearest one counts.

    >>> labels_needed(Trial({5: 0.1, 10: 0.3, 20: 0.2, 30: 0.5}, [], [], []), 0.35)
    24.0
    >>> labels_needed(Trial({5: 0.1, 10: 0.3}, [], [], []), 0.4)
    inf
    """
    from scipy.optimize import isotonic_regression

    numbers, values = list(trial.accuracy), isotonic_regression(list(trial.accuracy.values())).x
    i = int(np.searchsorted(values, accuracy))
    if i == len(numbers):
        return float("inf")
    part = (accuracy - values[i - 1]) / (values[i] - values[i - 1]) if i else 1.0
    return float(round(numbers[max(0, i - 1)] + part * (numbers[i] - numbers[max(0, i - 1)]), 9))


def _ratios(trials: Trials, way: str, labels: int) -> Interval:
    """How many times fewer labels, over seeds, each with its own random choice; 0 for what is never as good."""
    pairs = zip(trials[way], trials[RANDOM], strict=True)
    return over_seeds([labels / labels_needed(one, random.accuracy[labels]) for one, random in pairs])


def _draw(results: Results, found: dict[str, Trials]) -> None:
    drawn, charts = panels(list(found), "labels", "accuracy, %")
    for chart, trials in zip(charts, found.values(), strict=True):
        for position, way in enumerate(WAYS):
            numbers = [n for n in trials[way][0].accuracy if n >= 20]
            means = [float(np.mean([one.accuracy[n] for one in trials[way]])) for n in numbers]
            curve(chart, position, numbers, means, way, markersize=2)
    results.figure(finish(drawn, charts), "Accuracy by the number of labels, of every way to choose the next picture")


def _judge(results: Results, found: dict[str, Trials]) -> None:
    rows = []
    for name, trials in found.items():
        for way in WAYS[1:]:
            ratios = [_ratios(trials, way, labels) for labels in REACHED]
            rows.append([name, way, *(f"{one.mean:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in ratios)])
    results.say(f"""Labels that a way needs are told on the curve that never falls and is nearest to its accuracies, at
        the accuracy that random choice has with the same seed; what is not as good with {SHOWN[-1]} labels counts as
        never. Means over seeds, and their 95 % intervals.""")
    columns = ["", "", *(f"accuracy of {labels} random labels" for labels in REACHED)]
    results.table("How many times fewer labels than random choice, for the same accuracy", columns, rows)
    for labels in REACHED:
        beyond = {name: _moved(_ratios(trials, MIXED, labels), -RATIO) for name, trials in found.items()}
        shown = {name: _ratios(trials, MIXED, labels) for name, trials in found.items()}
        passed = [name for name, one in beyond.items() if one.low > 0]
        results.finding(
            f"Fewer labels than {labels} random ones",
            f"The default needs at least {RATIO} times fewer labels than random choice for the same accuracy.",
            above(list(beyond.values())),
            f"""{", ".join(f"{name} {one.mean:.2f} [{one.low:.2f}, {one.high:.2f}]" for name, one in shown.items())}
            times fewer; {len(passed)} of {len(found)} sets are surely above {RATIO}.""",
        )
    ahead = {
        f"{labels} on {name}": over_seeds(
            [
                100 * (a.accuracy[labels] - b.accuracy[labels])
                for a, b in zip(trials[MIXED], trials[RANDOM], strict=True)
            ]
        )
        for name, trials in found.items()
        for labels in SHOWN
    }
    results.finding(
        "No worse than random choice",
        f"The default is nowhere worse than random choice, by more than {NO_WORSE} points.",
        above(list(ahead.values()), NO_WORSE),
        f"in points, {each(ahead, NO_WORSE)}.",
    )


def _moved(one: Interval, by: float) -> Interval:
    return Interval(one.mean + by, one.low + by, one.high + by)


def _keys(results: Results, found: dict[str, Trials]) -> None:
    results.say(f"""Keys per label in the default way, with {PROPOSED} proposals: Enter if the first is right, a digit
        if one of the others is, and otherwise letters until no other class that was named before begins so, and Enter;
        the name of a new class is typed to its end. The last column is what typing alone would take.""")
    rows = []
    for name, trials in found.items():
        for start, stop in zip((0, *SHOWN), SHOWN, strict=False):
            place = np.array([one.place[start:stop] for one in trials[MIXED]])
            shares = [percent(list(share.mean(axis=1))) for share in (place == 0, place > 0, place < 0)]
            keys, typed = (
                f"{np.mean([getattr(one, what)[start:stop] for one in trials[MIXED]]):.2f}"
                for what in ("keys", "typed")
            )
            rows.append([name, f"{start + 1} to {stop}", *shares, keys, typed])
    columns = ["", "labels", "first, %", f"among {PROPOSED}, %", "typed, %", "keys per label", "without proposals"]
    results.table("Keys per label", columns, rows)

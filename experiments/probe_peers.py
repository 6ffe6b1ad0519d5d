"""Is `manyclass probe` as accurate as LogisticRegression and KNeighborsClassifier with settings that are swept?

What was found is kept in the folder that MANYCLASS_CACHE names, if it does.
"""

import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from benchmarks.page import machine
from benchmarks.timing import all_threads
from experiments.photographs import kept
from experiments.results import Results
from experiments.sources import Split, one
from experiments.train_sets import train_sets
from experiments.verdicts import FAILS, HOLDS, OPEN, Interval, is_above
from manyclass._core.text import format_number
from manyclass.evaluation.proportions import paired_difference, wilson_interval
from manyclass.runs.probing.probe_data import ProbeTask, read_probe_data
from manyclass.runs.probing.probe_methods import choose_probe_methods

ALLOWED = 0.5  # points below a peer
POWERS = (-6, -4, -2, 0, 2, 4, 6)  # of ten, where the sweep of C begins
FINEST = 0.5  # powers of ten, where it ends
ITERATIONS = 1000
NEIGHBORS = (1, 5, 20)
LOGISTIC, NEAREST, DEFAULT = (
    "LogisticRegression, C swept",
    "KNeighborsClassifier, swept",
    "KNeighborsClassifier, as it is",
)
PAIRS = (("linear probe", LOGISTIC), ("neighbors, chosen", NEAREST), ("neighbors, chosen", DEFAULT))
TABLES = ("letters", "leaves")

Found = dict[str, tuple[list[bool], float, str]]  # by method: which rows are right, processor time, settings


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("probe_peers", "A probe of embeddings, against scikit-learn")
    results.say(f"""What `manyclass probe` makes of a file, with no settings, and what scikit-learn's classifiers make
        of the same rows. LogisticRegression is swept as CLIP does it (Radford et al., 2021): C by powers of a hundred
        from 1e-6 to 1e6, then by halves of the steps around the best, down to half a power of ten, with at most
        {ITERATIONS} iterations of L-BFGS. KNeighborsClassifier takes 5 neighbors as it is; swept,
        {", ".join(map(str, NEIGHBORS[:-1]))} or {NEIGHBORS[-1]} that vote by distance, of rows as they are or of unit
        length. Peers choose by the rows that the probe chooses by, a fifth of every class of those to learn from, and
        learn from all of them in the end. Times are those of the processor, with one thread, from rows to answers, with
        all that was tried on the way. {machine()}""")
    found = {name: kept(f"probe_peers-{name}", partial(_measure, make)) for name, make in _sets(folder).items()}
    for name, (about, answers) in found.items():
        results.table(f"{name}, {about}", ["method", "top-1", "95 % interval", "time", "chosen"], _rows(answers))
    rows = []
    for name, (_, answers) in found.items():
        for ours, peer in PAIRS:
            apart = _difference(answers, ours, peer)
            rows.append([name, ours, peer, apart.shown(margin=ALLOWED), is_above(apart, ALLOWED)])
    columns = ["data", "probe", "peer", "points, probe less peer", f"no more than {ALLOWED} below"]
    results.table("On the same rows", columns, rows)
    told = [row[-1] for row in rows]
    results.say(f"""The probe is no more than {ALLOWED} points below scikit-learn, by the whole of an interval of 95 %,
        in {told.count(HOLDS)} of {len(told)} comparisons; in {told.count(OPEN)} so few rows do not tell, and in
        {told.count(FAILS)} it is behind.""")
    times = [f"{_ratio(answers):.1f} on {name}" for name, (_, answers) in found.items()]
    results.say(f"""LogisticRegression with its sweep takes, in times of the linear probe: {"; ".join(times)}.""")
    return results


def _sets(folder: Path | None) -> dict[str, Callable[[Path], Path]]:
    """Files that are written into a folder, by the name of the data."""
    known = train_sets(folder)
    tables = {name: known[key] for name in TABLES for key in known if key[0] == name}
    found: dict[str, Callable[[Path], Path]] = {}
    if folder and any(folder.rglob("caltech*.npz")):
        found["Caltech features"] = lambda _: one(folder, "caltech*.npz")
    found |= {name: partial(_written, make(0)) for name, make in tables.items()}
    return found or {"digits": partial(_written, known["digits", "64 pixels"](0))}


def _written(data: Split, folder: Path) -> Path:
    path = folder / "data.npz"
    split = np.repeat(["train", "test"], [len(data.y), len(data.y_test)])
    np.savez(path, X=np.vstack([data.X, data.X_test]), y=np.concatenate([data.y, data.y_test]), split=split)
    return path


def _measure(make: Callable[[Path], Path]) -> tuple[str, Found]:
    """What the data is, and what everybody finds."""
    with tempfile.TemporaryDirectory() as passing, mc.threads(1), all_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = read_probe_data([make(Path(passing))], None, None, None, 0, print)
        task, y = data.task(0), data.y_test
        found: Found = {}
        for method in choose_probe_methods(None):
            answer, seconds = _timed(partial(method.answer, task))
            chosen = ", ".join(f"{key} {format_number(value)}" for key, value in answer.settings.items())
            found[method.title] = (answer.top[:, 0] == y).tolist(), seconds, chosen
        for name, fit in ((LOGISTIC, _logistic), (NEAREST, _swept_neighbors), (DEFAULT, _neighbors)):
            (answers, chosen), seconds = _timed(partial(fit, task))
            found[name] = (answers == y).tolist(), seconds, chosen
    (n, d), m = task.X.shape, len(y)
    return f"{n:,} rows of {d:,} columns and {task.k:,} classes, {m:,} to judge by", found


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    started = time.process_time()
    found = work()
    return found, time.process_time() - started


def _parts(task: ProbeTask) -> tuple[Any, ...]:
    X = task.X.toarray().astype(np.float32)
    return X[task.learned], task.y[task.learned], X[task.held_out], task.y[task.held_out], X


def _logistic(task: ProbeTask) -> tuple[NDArray[Any], str]:
    from sklearn.linear_model import LogisticRegression

    X, y, X_held_out, y_held_out, whole = _parts(task)

    def accuracy(power: float) -> float:
        return float(LogisticRegression(C=10.0**power, max_iter=ITERATIONS).fit(X, y).score(X_held_out, y_held_out))

    power = halving_search(accuracy, POWERS, FINEST)
    best = LogisticRegression(C=10.0**power, max_iter=ITERATIONS).fit(whole, task.y)
    return best.predict(task.X_test.toarray().astype(np.float32)), f"C {10.0**power:.3g}"


def halving_search(score: Callable[[float], float], points: Iterable[float], finest: float) -> float:
    """The point of the highest score, of equals the first: of these, and of others at half the distance, and so on.

    >>> halving_search(lambda x: -abs(x - 2.6), (0, 2, 4), 0.5)
    2.5
    """
    known = {float(point): score(point) for point in points}
    step = min(abs(a - b) for a in known for b in known if a != b) / 2
    while step >= finest:
        best = max(known, key=lambda point: known[point])
        known |= {point: score(point) for point in (best - step, best + step) if point not in known}
        step /= 2
    return max(known, key=lambda point: known[point])


def _neighbors(task: ProbeTask) -> tuple[NDArray[Any], str]:
    from sklearn.neighbors import KNeighborsClassifier

    X, X_test = (part.toarray().astype(np.float32) for part in (task.X, task.X_test))
    return KNeighborsClassifier().fit(X, task.y).predict(X_test), "5 neighbors"


def _swept_neighbors(task: ProbeTask) -> tuple[NDArray[Any], str]:
    from sklearn.neighbors import KNeighborsClassifier

    X, y, X_held_out, y_held_out, whole = _parts(task)
    scale: dict[str, Callable[[Any], Any]] = {"as they are": lambda rows: rows, "of unit length": _unit}
    tried = {}
    for k in NEIGHBORS:
        for words, scaled in scale.items():
            model = KNeighborsClassifier(min(k, len(y)), weights="distance").fit(scaled(X), y)
            tried[k, words] = model.score(scaled(X_held_out), y_held_out)
    k, words = max(tried, key=lambda one: tried[one])
    model = KNeighborsClassifier(k, weights="distance").fit(scale[words](whole), task.y)
    return model.predict(scale[words](task.X_test.toarray().astype(np.float32))), f"{k} neighbors, rows {words}"


def _unit(rows: Any) -> Any:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def _rows(found: Found) -> list[list[str]]:
    rows = []
    for name, (right, seconds, chosen) in found.items():
        low, high = (100 * end for end in wilson_interval(sum(right), len(right)))
        share = 100 * sum(right) / len(right)
        rows.append([name, f"{share:.1f}", f"{low:.1f} to {high:.1f}", f"{seconds:.1f} s", chosen])
    return rows


def _difference(found: Found, ours: str, peer: str) -> Interval:
    """In points, on the same rows."""
    a, b = (np.array(found[name][0]) for name in (ours, peer))
    apart = paired_difference(int(np.sum(a & ~b)), int(np.sum(b & ~a)), len(a))
    return Interval(100 * apart.difference, 100 * apart.low, 100 * apart.high)


def _ratio(found: Found) -> float:
    return found[LOGISTIC][1] / found["linear probe"][1]

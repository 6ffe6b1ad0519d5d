"""Does `manyclass train` without options learn as well as tuned LinearSVC and LogisticRegression? Every labeled set.

What was found is kept in the folder that MANYCLASS_CACHE names, if it does: rows of the table, for this state of the
code, and answers of the peers, for any.
"""

import tempfile
import warnings
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.photographs import kept, room
from experiments.results import BEHIND, OPEN, WITHIN, Results, verdict
from experiments.sources import Rows, Split
from experiments.train_sets import MakeSplit, train_sets

ALLOWED = 0.5  # points below the better peer
SPLITS = 3
LARGE, HUGE = 1 << 26, 1 << 30  # rows x columns x classes
FOLDS, ITERATIONS = 3, 200
PEERS = ("LinearSVC", "LogisticRegression")
STRENGTHS = tuple(10.0**e for e in range(-2, 4))  # C of both peers
MOST_TO_TUNE = 1500  # rows that cross-validation sees

Right = NDArray[np.bool_]


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("train_defaults", "Training with no options, against tuned peers")
    results.say(f"""Accuracy in percent on rows that were held out: a third of every class, drawn anew for each of
        {SPLITS} splits, or for one where rows x columns x classes are more than {LARGE:,}. *manyclass* is what
        `manyclass train DATA -o run` makes of a file, with no settings; *chose* is the objective that it took. The
        peers are scikit-learn's with C from {STRENGTHS[0]:g} to {STRENGTHS[-1]:g} by powers of ten, chosen by
        cross-validation with {FOLDS} folds on at most {MOST_TO_TUNE:,} of the rows to train on, with at most
        {ITERATIONS} iterations of LogisticRegression. Where rows x columns x classes are more than {HUGE:,}, these are
        all rows of some of the classes, and LinearSVC solves the dual problem, which is faster there; what was chosen
        is fitted to all rows and classes. Not
        measured: Tiny-ImageNet by Fisher vectors, of which LinearSVC was stopped unfinished, and Omniglot by them or by
        the network, which was not tried. All get the same numbers as they are, and nobody
        scales them for the peers. Where rows are fewer than columns, peers see them in their own span, which changes no
        optimum. The network is EfficientNet-Lite0, pooled; Fisher vectors have 16 Gaussians of dense SIFT.
        *Below* is by how many points manyclass is below the better of the two peers, with a
        95 % interval by the rows on which one of them is right alone: {WITHIN} if that is at most {ALLOWED}, {BEHIND}
        if the whole interval is above it, and {OPEN} otherwise. What is compared for tables, and by how much it must be
        ahead, was chosen on the tables and generated rows here; the step of the multiclass hinge that is tried for many
        classes, on this split of Omniglot, drawn glyphs and other generated rows.""")
    sets = train_sets(folder).items()
    rows = [kept(f"train_defaults-{'-'.join(name)}", partial(_measured_row, name, make)) for name, make in sets]
    columns = ["data", "features", "rows", "columns", "classes", *PEERS, "manyclass", "chose", "below", "verdict"]
    results.table("Accuracy", columns, rows)
    verdicts = [row[-1] for row in rows]
    for told in (OPEN, BEHIND):
        named = [f"{row[0]} ({row[1]})" for row in rows if row[-1] == told]
        if named:
            results.say(f"""{told.capitalize()}: {"; ".join(named)}.""")
    results.say(f"""The default is within {ALLOWED} points of the better peer, or above it, on {verdicts.count(WITHIN)}
        of {len(rows)} sets; on {verdicts.count(OPEN)} so few rows do not tell, and on {verdicts.count(BEHIND)} it is
        behind.""")
    return results


def _measure(make: MakeSplit) -> dict[str, Any]:
    """Which rows each is right on, over splits."""
    found: dict[str, Any] = {"ours": [], "chose": []} | {peer: [] for peer in PEERS}
    for seed in range(SPLITS):
        data = make(seed)
        right, objective = _ours(data)
        found["ours"].append(right)
        found["chose"].append(objective)
        for peer, answers in _peers(data).items():
            found[peer].append(answers == data.y_test)
        found["shape"] = len(data.X), data.X.shape[1], data.n_classes
        if np.prod(found["shape"]) > LARGE:
            break
    return found


def _measured_row(name: tuple[str, str], make: MakeSplit) -> list[str]:
    return _row(name, _measure(make))


def _row(name: tuple[str, str], found: dict[str, Any]) -> list[str]:
    right = {who: np.concatenate(found[who]) for who in ("ours", *PEERS)}
    best = right[max(PEERS, key=lambda peer: float(right[peer].mean()))]
    below, half = interval(best, right["ours"])
    shares = [f"{100 * right[who].mean():.1f}" for who in (*PEERS, "ours")]
    chose = ", ".join(sorted(set(found["chose"])))
    told = [f"{below:+.1f} ± {half:.1f}", verdict(below, half, ALLOWED)]
    row = [*name, *(f"{size:,}" for size in found["shape"]), *shares, chose, *told]
    print(row, flush=True)
    return row


def interval(best: Right, ours: Right) -> tuple[float, float]:
    """By how many points the second is below the first, and half of a 95 % interval, by rows that one has alone.

    >>> interval(np.array([True, True, False, True]), np.array([True, False, False, True]))
    (25.0, 49.0)
    """
    gains = best.astype(float) - ours
    return 100 * float(gains.mean()), 196 * float(np.sqrt((gains**2).sum())) / len(gains)


def _ours(data: Split) -> tuple[Right, str]:
    """What `manyclass train` makes of a file: which test rows are right, and the objective that it chose."""
    with tempfile.TemporaryDirectory() as passing:
        path = Path(passing) / "data.npz"
        np.savez(path, X=data.X, y=data.y)
        trained = mc.runs.train(path, Path(passing) / "run", warn=print)
        return trained.model.predict(data.X_test) == data.y_test, str(trained.record["model"]["objective"])


def _peers(data: Split) -> dict[str, NDArray[np.intp]]:
    """Answers of both peers; those that are known already are read."""
    name = sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in (data.X, data.y, data.X_test)))
    path = room() / f"peers-{name.hexdigest()[:16]}.npz"
    if not path.exists():
        np.savez(path, **_answers(data))
    with np.load(path) as kept:
        return {peer: kept[peer] for peer in PEERS}


def _answers(data: Split) -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    X, X_test = _rotated(data.X, data.X_test)
    huge = len(X) * X.shape[1] * data.n_classes > HUGE
    some = _of_some_classes(data.y) if huge else np.random.default_rng(0).permutation(len(X))[:MOST_TO_TUNE]
    found: dict[str, Any] = {}
    for peer, make in (
        ("LinearSVC", lambda C: LinearSVC(C=C, dual=True if huge else "auto", random_state=0)),
        ("LogisticRegression", lambda C: LogisticRegression(C=C, max_iter=ITERATIONS)),
    ):
        best = _tuned(make, X[some], data.y[some])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[peer] = make(best).fit(X, data.y).predict(X_test)
        found[f"C of {peer}"] = best
    return found


def _of_some_classes(y: NDArray[np.intp]) -> NDArray[np.intp]:
    """All rows of as many classes, drawn, as cross-validation may see."""
    drawn = np.random.default_rng(0).permutation(int(y.max()) + 1)
    kept = drawn[np.cumsum(np.bincount(y)[drawn]) <= MOST_TO_TUNE]
    return np.flatnonzero(np.isin(y, kept))


def _tuned(make: Any, X: Rows, y: NDArray[np.intp]) -> float:
    """The C of the best mean accuracy in cross-validation; from the smallest on, until two are worse than the best."""
    from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

    enough = np.bincount(y)[np.unique(y)].min() >= FOLDS
    folds = (StratifiedKFold if enough else KFold)(FOLDS, shuffle=True, random_state=0)
    scores: list[float] = []
    for C in STRENGTHS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores.append(float(cross_val_score(make(C), X, y, cv=folds).mean()))
        if len(scores) - 1 - int(np.argmax(scores)) >= 2 and max(scores) > 1.5 * np.bincount(y).max() / len(y):
            break
    return STRENGTHS[int(np.argmax(scores))]


def _rotated(X: Rows, X_test: Rows) -> tuple[Rows, Rows]:
    """Fewer rows than columns in their own span, where both peers have the same optimum."""
    if X.shape[1] <= len(X):
        return X, X_test
    Q = np.linalg.qr(X.T)[0]
    return X @ Q, X_test @ Q

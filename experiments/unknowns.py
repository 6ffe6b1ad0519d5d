"""Rows of none of the classes: how well scores tell them, and whether as many known ones are refused as is promised."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import manyclass as mc
from experiments.photographs import kept
from experiments.results import Results, listed, mean_error
from experiments.sources import Labels, Rows, Split, unit
from experiments.train_sets import MakeSplit, few, split, train_sets
from experiments.verdicts import over_seeds

SPLITS = {("Caltech", "network"): 10, ("leaves", "192 shares"): 10, ("letters", "16 counts"): 10}
MANY = {("Tiny-ImageNet", "network"): 5, ("Omniglot", "gradients"): 3}
MOST, ASKED, SHARE = 150, 2000, 0.05
OURS, PLAIN = "p-values with known rows", "best probability"
SHRUNK = "the same, shrunk"
RIVALS = (PLAIN, "best score", "energy", "nearest neighbor", "Mahalanobis", "Mahalanobis, unit rows", SHRUNK)

Scores = dict[str, NDArray[Any]]
Measured = dict[str, tuple[float, float]]  # two shares in percent, by score


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("unknowns", "Rows of none of the classes")
    results.say(f"""A quarter of the classes is left out, drawn anew for each split, and so is a third of the rows of
        the others; of letters at most {MOST} rows of a class are taken. StochasticClassifier, with its defaults, is
        fitted on three quarters of what is left, and calibrated on the rest. It is asked by test rows of the classes
        that it knows, and by rows of those left out, at most {ASKED:,} of each. *{OURS}* is `unknown_p_values` after
        `calibrate(X, y, known=(X_train, y_train))`. It goes by the probability of the best class and by relative
        Mahalanobis distances of unit rows, or by the distance to the nearest of them in the metric of rows of a class:
        which of the two, and how much the probability counts, is decided anew for every split, by held-out rows of
        known classes whose own class is left out, and no row of an unknown one. *{PLAIN}* is what it goes by without
        `known`. Energy is at the temperature
        of the probabilities; neighbors are by cosine among the rows that were fitted; plain Mahalanobis distances are
        of rows as they are, with a covariance shrunk by a hundredth of its mean variance, those of unit rows by a
        tenth, and by ten times as much as it is (*{SHRUNK}*). The two distances, the rule that decides between them,
        and the last of these scores were chosen on other splits of Caltech, leaves, letters and Omniglot; Tiny-ImageNet
        had no part in it, and is the test of that choice. Percent, mean and standard error over the splits.""")
    sets = train_sets(folder)
    drawn = {name: number for name, number in {**SPLITS, **MANY}.items() if name in sets}
    found: dict[str, list[Measured]] = {}
    alarms: dict[str, list[Measured]] = {}
    for name, number in drawn.items():
        for seed in range(number):
            measured, alarm = known_split(name, sets[name], seed)
            found.setdefault(name[0], []).append(measured)
            alarms.setdefault(name[0], []).append(alarm)
    for place, what in enumerate(("AUROC", "False positives where 95 % of known rows are kept")):
        _say_scores(results, found, place, what)
    _say_best(results, found)
    _say_alarms(results, alarms)
    return results


def known_split(name: tuple[str, str], make: MakeSplit, seed: int) -> tuple[Measured, Measured]:
    """What was measured on a split, read where it is known."""
    measured, alarm = kept(f"unknowns-{name[0]}-{seed}", lambda: _judge(make(seed), seed))
    return measured, alarm


def _judge(whole: Split, seed: int) -> tuple[Measured, Measured]:
    rng = np.random.default_rng(seed)
    X, y = np.concatenate([whole.X, whole.X_test]), np.concatenate([whole.y, whole.y_test])
    known = np.isin(y, rng.permutation(np.unique(y))[: 3 * len(np.unique(y)) // 4])
    strangers = X[rng.permutation(np.flatnonzero(~known))[:ASKED]]
    drawn = few(split(X[known], np.unique(y[known], return_inverse=True)[1], seed), MOST)
    part = split(drawn.X, drawn.y, seed, 0.25)
    asked = drawn.X_test[rng.permutation(len(drawn.X_test))[:ASKED]]
    fitted = mc.StochasticClassifier(random_state=seed).fit(part.X, part.y)
    alarm, scores = {}, ({}, {})
    for name, learned in ((PLAIN, None), (OURS, (part.X, part.y))):
        fitted.calibrate(part.X_test, part.y_test, known=learned)
        for some, rows in zip(scores, (asked, strangers), strict=True):
            some[name] = fitted.unknown_p_values(rows)
        alarm[name] = tuple(100 * float((some[name] <= SHARE).mean()) for some in scores)
    for some, rows in zip(scores, (asked, strangers), strict=True):
        some |= _by_scores(fitted, rows) | _by_rows(part.X, part.y, rows)
    evaluation = mc.evaluation
    pairs = {name: (scores[0][name], scores[1][name]) for name in (OURS, *RIVALS)}
    measured = {
        name: (100 * evaluation.auroc(*pair), 100 * evaluation.false_positive_rate(*pair))
        for name, pair in pairs.items()
    }
    print(seed, {name: f"{one[0]:.1f}" for name, one in measured.items()}, flush=True)
    return measured, alarm


def _by_scores(fitted: Any, rows: Rows) -> Scores:
    """What the scores of all classes tell."""
    S = fitted.decision_function(rows).astype(np.float64) / fitted.temperature_
    best = S.max(axis=1)
    energy = best + np.log(np.exp(S - best[:, None]).sum(axis=1))
    return {PLAIN: best - energy, "best score": best, "energy": energy}


def _by_rows(X: Rows, y: Labels, rows: Rows) -> Scores:
    """What the rows that were fitted tell."""
    near = (unit(rows) @ unit(X).T).max(axis=1)
    shrinkages = {"Mahalanobis, unit rows": 0.1, SHRUNK: 10.0}
    unit_rows = {name: _mahalanobis(unit(X), y, unit(rows), shrinkage) for name, shrinkage in shrinkages.items()}
    return {"nearest neighbor": near, "Mahalanobis": _mahalanobis(X, y, rows, 0.01), **unit_rows}


def _mahalanobis(X: Rows, y: Labels, rows: Rows, shrinkage: float) -> NDArray[Any]:
    """The negative squared distance to the nearest mean, by the covariance around all means."""
    from scipy.linalg import solve_triangular

    shares = np.zeros((y.max() + 1, len(y)))
    shares[y, np.arange(len(y))] = 1 / np.bincount(y)[y]
    means = shares @ X.astype(np.float64)
    R = X - means[y]
    A = R.T @ R / len(R)
    L = np.linalg.cholesky(A + (shrinkage * A.trace() / len(A)) * np.eye(len(A)))
    Z, M = (solve_triangular(L, Y.T, lower=True).T for Y in (rows.astype(np.float64), means))
    found: NDArray[Any] = (2 * Z @ M.T - (M * M).sum(axis=1)).max(axis=1) - (Z * Z).sum(axis=1)
    return found


def _cell(values: Any) -> str:
    return "{:.1f} ± {:.1f}".format(*mean_error(list(values)))


def _say_scores(results: Results, found: dict[str, list[Measured]], place: int, what: str) -> None:
    scores = (OURS, *RIVALS)
    rows = [[data, *(_cell([one[score][place] for one in some]) for score in scores)] for data, some in found.items()]
    each = [[np.mean([one[score][place] for one in some]) for some in found.values()] for score in scores]
    results.table(what, ["data", *scores], [*rows, ["mean", *(f"{np.mean(some):.1f}" for some in each)]])


def _say_best(results: Results, found: dict[str, list[Measured]]) -> None:
    """Where ours is ahead of each rival, over splits, in AUROC."""
    ahead, behind = [], []
    for data, some in found.items():
        for rival in RIVALS:
            gain = over_seeds([one[OURS][0] - one[rival][0] for one in some])
            if gain.low > 0:
                ahead.append(f"{rival} on {data}")
            elif gain.high < 0:
                behind.append(f"{rival} on {data} ({gain.shown()})")
    results.say(f"""In AUROC {OURS} are ahead in {len(ahead)} of {len(RIVALS) * len(found)} comparisons, by the 95 %
        interval over splits, and behind in {len(behind)}{": " + listed(behind) if behind else ""}.""")
    best = {data: max(RIVALS, key=lambda r: np.mean([one[r][0] for one in some])) for data, some in found.items()}
    results.say("Against the best rival of each set: " + listed([
        f"{data} {over_seeds([one[OURS][0] - one[best[data]][0] for one in some]).shown()} ({best[data]})"
        for data, some in found.items()
    ]) + ".")  # fmt: skip


def _say_alarms(results: Results, alarms: dict[str, list[Measured]]) -> None:
    rows = [
        [data, score, *(_cell([one[score][i] for one in some]) for i in (0, 1))]
        for data, some in alarms.items()
        for score in (OURS, PLAIN)
    ]
    columns = ["data", "score", "known rows", "rows of classes left out"]
    results.table(f"Called unknown, where {100 * SHARE:g} % of known rows are promised", columns, rows)

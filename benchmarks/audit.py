"""Wrong labels found by `mc.audit.label_errors`, against cleanlab; near-duplicates; and the memory that both take.

Some labels of each set are flipped, to any other class or to that of the nearest class mean; three times, by seeds that
are used here alone. The constants of `label_errors` were chosen on other flips of the first three sets, which flatters
it a little there; Tiny-ImageNet had no part in it. Precision is the part of flips among as many rows as are flipped,
the most suspicious first; labels that were wrong before count against everybody. Columns are means over the three.
"Said / were" is of rows whose label is wrong with a probability of 0.5 or more: the mean of it, and the part of them
that was flipped. A set that has wrong labels of its own, or classes that no one can tell, is said to have more.

cleanlab is given probabilities of five folds of scikit-learn's LogisticRegression as it is, with C=1, its usual recipe;
and, in a line of its own, with that C of 0.01, 0.1, 1 and 10 whose folds have most labels of the first draw right, as
somebody has it who wants its best. Ours has nothing to choose, and is the same in both lines. cleanlab ranks rows by
each of its scores and by `find_label_issues`; the ranking that is best by the truth stands in the table. It is also
given our held-out probabilities. The difference is of the flips of all three draws that only one of the two finds, ours
less its best, with an interval of 95 %, and the verdict is told by that. Seconds are those of one thread of the
processor, all folds included, and those of every C where one is chosen.

Memory is what a call adds to what is held before, in a process of its own. That of cleanlab is of `find_label_issues`
alone, with the probabilities that it needs, and grows with rows times classes.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.contender import forget_peak, peak
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.written import read_page
from manyclass.evaluation.proportions import paired_difference

PARTS = ("labels", "memory", "duplicates")
SCORES = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")
FILTERS = ("prune_by_noise_rate", "both", "confident_learning")
STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # of which cleanlab may have the best
SEEDS = (101, 102, 103)  # of flips; those from 0 on have chosen the constants
_COLUMNS = ["flips", "ours", "right class proposed", "expected / flipped", "said / were", "seconds",
            "cleanlab, its best of 6", "its ranking", "cleanlab, `find_label_issues`", "cleanlab on ours",
            "seconds of cleanlab", "times as long", "difference", "verdict"]  # fmt: skip


def flipped(X: Any, y: Any, kind: str, rate: float, seed: int = 0) -> tuple[Any, Any]:
    """Labels of which some are flipped, and which."""
    rng = np.random.default_rng([seed, round(1000 * rate)])
    n, k = len(y), int(y.max()) + 1
    rows, z, wrong = rng.permutation(n)[: round(rate * n)], y.copy(), np.zeros(n, bool)
    if kind == "any class":
        z[rows] = (y[rows] + rng.integers(1, k, len(rows))) % k
    else:
        means = np.stack([X[y == c].mean(axis=0, dtype=np.float64) for c in range(k)])
        squares = (means**2).sum(axis=1)
        apart = squares[:, None] + squares - 2 * means @ means.T
        np.fill_diagonal(apart, np.inf)
        z[rows] = apart.argmin(axis=1)[y[rows]]
    wrong[rows] = True
    return z, wrong


def probabilities(X: Any, y: Any) -> Any:
    """All that `label_errors` makes of every row, in one matrix, which it never does."""
    from manyclass.audit.mislabeled import _learn
    from manyclass.audit.out_of_sample import LeftOutMachines, Neighbors, NeighborVotes

    matrix, k = mc.DenseMatrix(X), int(y.max()) + 1
    labels = y.astype(np.int32)
    views = [LeftOutMachines(matrix, labels, k), NeighborVotes(Neighbors(matrix), labels, k)]
    noise = _learn(views, labels, k)
    every = np.arange(len(y))
    P = np.exp(noise.log_q([view.scores(every) for view in views]).astype(np.float64))
    return P / P.sum(axis=1, keepdims=True)


def logistic(X: Any, y: Any, C: float = 1.0) -> Any:
    """Probabilities of five folds, with the strength that it has by default or another."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    return cross_val_predict(LogisticRegression(C=C, max_iter=1000), X, y, method="predict_proba", cv=5)


def cleanlab_rankings(y: Any, P: Any) -> dict[str, Any]:
    """Rows by each ranking, the most suspicious first; those that a filter leaves out come after it in no order."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    found = {score: np.argsort(get_label_quality_scores(y, P, method=score), kind="stable") for score in SCORES}
    for name in FILTERS:
        found[name] = find_label_issues(
            y, P, filter_by=name, return_indices_ranked_by="self_confidence", n_jobs=1, verbose=False
        )
    return found


@dataclass(frozen=True)
class Draw:
    """What both make of one draw of flips: rows that are flipped, what we found, and all rankings."""

    truth: Any
    labels: Any
    wrong: Any
    found: mc.audit.LabelErrors
    seconds: float
    rankings: dict[str, Any]
    rankings_on_ours: dict[str, Any]
    seconds_of_cleanlab: float

    @classmethod
    def of(cls, X: Any, y: Any, kind: str, rate: float, seed: int) -> "Draw":
        z, wrong = flipped(X, y, kind, rate, seed)
        seconds, found = timed(lambda: mc.audit.label_errors(X, z))
        on_ours = cleanlab_rankings(z, probabilities(X, z))
        theirs, rankings = timed(lambda: cleanlab_rankings(z, logistic(X, z)))
        return cls(y, z, wrong, found, seconds, rankings, on_ours, theirs)

    def hits(self, order: Any) -> Any:
        """Which rows are flipped, and among as many of the first."""
        first = np.zeros(len(self.wrong), bool)
        first[order[: self.wrong.sum()]] = True
        return first & self.wrong


def precision(draws: list[Draw], orders: list[Any]) -> float:
    """The mean over draws of the part of flips among the first of a ranking."""
    return float(np.mean([one.hits(order).sum() / one.wrong.sum() for one, order in zip(draws, orders, strict=True)]))


def best_ranking(draws: list[Draw], rankings: list[dict[str, Any]]) -> tuple[float, str]:
    """The best of the rankings of every draw, by the truth, and its name."""
    return max((precision(draws, [one[name] for one in rankings]), name) for name in (*SCORES, *FILTERS))


def difference(draws: list[Draw], name: str) -> Any:
    """Flips that only we find, less those that only this ranking finds, with its interval."""
    pairs = [(one.hits(one.found.ranked()), one.hits(one.rankings[name])) for one in draws]
    alone = [sum(int((first & ~second).sum()) for first, second in which)
             for which in (pairs, [pair[::-1] for pair in pairs])]  # fmt: skip
    return paired_difference(*alone, sum(int(one.wrong.sum()) for one in draws))


def with_chosen_strength(X: Any, draws: list[Draw]) -> tuple[float, list[Draw]]:
    """The best C by the labels of the first draw, and what cleanlab makes of all of them with it."""
    y = draws[0].labels

    def choose() -> float:
        right = {C: float((logistic(X, y, C).argmax(axis=1) == y).mean()) for C in STRENGTHS}
        return max(right, key=lambda C: right[C])

    seconds, C = timed(choose)
    if C == 1.0:
        return C, [replace(one, seconds_of_cleanlab=seconds) for one in draws]
    found = [cleanlab_rankings(one.labels, logistic(X, one.labels, C)) for one in draws]
    return C, [replace(one, rankings=each, seconds_of_cleanlab=seconds)
               for one, each in zip(draws, found, strict=True)]  # fmt: skip


def said_and_were(draws: list[Draw]) -> str:
    """Of labels that are likely wrong, how likely, and how many of them are."""
    said = np.concatenate([one.found.probability for one in draws])
    wrong = np.concatenate([one.wrong for one in draws])
    return f"{said[said >= 0.5].mean():.2f} / {wrong[said >= 0.5].mean():.2f}"


def _warm_up() -> None:
    """Load all that both need, so that it is not counted."""
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 3
    mc.audit.label_errors(X, y)
    cleanlab_rankings(y, logistic(X, y))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and what came of it."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def compare(page: Page, name: str, X: Any, y: Any, rates: tuple[float, ...]) -> None:
    """A table for a set, with a line for every kind of flips."""
    lines = []
    for rate in rates:
        for kind in ("any class", "most similar class"):
            draws = [Draw.of(X, y, kind, rate, seed) for seed in SEEDS]
            lines.append([f"{rate:.0%} to {kind}", *_cells(draws)])
            print(name, lines[-1], file=sys.stderr, flush=True)
            C, chosen = with_chosen_strength(X, draws)
            lines.append([f"{rate:.0%} to {kind}; its C is chosen: {C:g}", *_cells(chosen)])
            print(name, lines[-1], file=sys.stderr, flush=True)
    n, d = X.shape
    page.table(f"{name}: {n} x {d}, {int(y.max()) + 1} classes, one thread", _COLUMNS, lines)


def _cells(draws: list[Draw]) -> list[str]:
    best, ranking = best_ranking(draws, [one.rankings for one in draws])
    usual = precision(draws, [one.rankings["prune_by_noise_rate"] for one in draws])
    on_ours = best_ranking(draws, [one.rankings_on_ours for one in draws])[0]
    proposed = np.mean([(one.found.proposed == one.truth)[one.wrong].mean() for one in draws])
    expected = np.mean([one.found.expected for one in draws])
    seconds, theirs = (np.mean([getattr(one, key) for one in draws]) for key in ("seconds", "seconds_of_cleanlab"))
    apart = difference(draws, ranking)
    return [
        f"{precision(draws, [one.found.ranked() for one in draws]):.3f}", f"{proposed:.3f}",
        f"{expected:.0f} / {draws[0].wrong.sum()}", said_and_were(draws), f"{seconds:.2f}", f"{best:.3f}", ranking,
        f"{usual:.3f}", f"{on_ours:.3f}", f"{theirs:.1f}", f"{theirs / seconds:.1f}",
        f"{apart.difference:+.3f} [{apart.low:+.3f}, {apart.high:+.3f}]",
        "ours" if apart.low > 0 else "cleanlab" if apart.high < 0 else "alike",
    ]  # fmt: skip


SETS = ("Caltech features", "Omniglot, 200 characters", "letters", "Tiny-ImageNet features")


def sets(folder: Path | None, tiny: str, omniglot: str) -> dict[str, tuple[Any, Any]]:
    """Those at hand: X and y, in the order of `SETS`."""
    from experiments.sources import omniglot_features, one
    from experiments.train_sets import read_table

    found: dict[str, tuple[Any, Any]] = {}
    if folder and any(folder.rglob("caltech*.npz")):
        found["Caltech features"] = _features(one(folder, "caltech*.npz"))
    if omniglot or (folder and any(folder.rglob("omniglot*.tar.gz"))):
        X, y = _features(Path(omniglot)) if omniglot else omniglot_features(folder)
        found["Omniglot, 200 characters"] = (X[y < 200], y[y < 200].astype(np.intp))
    if folder and any(folder.rglob("letter*.csv")):
        found["letters"] = read_table(one(folder, "letter*.csv"), 0, 1)
    if tiny:
        found["Tiny-ImageNet features"] = _features(Path(tiny))
    return found


def some(X: Any, y: Any, most: int) -> tuple[Any, Any]:
    """So many rows at most, the same part of every class."""
    rows = np.sort(np.argsort(y, kind="stable")[np.linspace(0, len(y) - 1, min(len(y), most)).astype(np.intp)])
    return X[rows], y[rows]


def _features(path: Path) -> tuple[Any, Any]:
    found = mc.datasets.read_features(path)
    return found.X.toarray().astype(np.float32), np.unique(found.y, return_inverse=True)[1]


def memory(what: str, n: int, d: int, k: int) -> dict[str, float]:
    """MiB that a call adds, and its seconds, in this process; small calls before it load what it needs."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    if what == "ours":
        X = rng.standard_normal((k, d), np.float32)[y] + rng.standard_normal((n, d), np.float32)
        mc.audit.label_errors(X[: 4 * k : 7], y[: 4 * k : 7] % 5)
        held, (seconds, _) = forget_peak(), timed(lambda: mc.audit.label_errors(X, y))
        return {"MiB": peak() - held, "seconds": seconds}
    from cleanlab.filter import find_label_issues

    find_label_issues(np.arange(40) % 4, rng.dirichlet(np.ones(4), 40), n_jobs=1)
    held = forget_peak()
    P = rng.random((n, k))
    P[np.arange(n), y] += 1
    P /= P.sum(axis=1, keepdims=True)
    held_with = forget_peak()
    seconds, _ = timed(lambda: find_label_issues(y, P, return_indices_ranked_by="self_confidence", n_jobs=1))
    return {"MiB": peak() - held, "seconds": seconds, "probabilities": held_with - held}


def in_process(what: str, n: int, d: int, k: int) -> dict[str, float]:
    """The same in a process of its own, with one thread."""
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.audit", what, str(n), str(d), str(k)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | one_thread)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare_memory(page: Page, n: int, k: int, d: int) -> None:
    """Ours at the full shape, cleanlab at a hundredth of it, and what that is at the full one."""
    ours = in_process("ours", n, d, k)
    small = in_process("cleanlab", n // 10, d, k // 10)
    full = 100 * small["MiB"]
    page.table(
        f"Memory, {n} rows of {k} classes",
        ["what", "shape", "added", "seconds", "at the full shape", "times ours"],
        [
            ["`label_errors`", f"{n} x {d}, {k} classes", f"{ours['MiB']:.0f} MiB", f"{ours['seconds']:.0f}", "", ""],
            [
                "cleanlab `find_label_issues`", f"{n // 10} rows, {k // 10} classes", f"{small['MiB']:.0f} MiB",
                f"{small['seconds']:.1f}", f"{full:.0f} MiB", f"{full / ours['MiB']:.0f}",
            ],
        ],
    )  # fmt: skip


def planted(n: int, d: int, pairs: int, seed: int = 0) -> tuple[Any, Any]:
    """Random rows of which some are near copies of others, at a cosine of 0.97, and those pairs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d), np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    places = rng.permutation(n)[: 2 * pairs].reshape(-1, 2)
    noise = rng.standard_normal((pairs, d), np.float32)
    noise -= np.einsum("ij,ij->i", noise, X[places[:, 0]])[:, None] * X[places[:, 0]]
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    X[places[:, 1]] = 0.97 * X[places[:, 0]] + np.sqrt(1 - 0.97**2) * noise
    return X, np.sort(places, axis=1)


def find_duplicates(page: Page, n: int, d: int, n_threads: int) -> None:
    """Whether all planted pairs are found, and the time: by the clock, and of the processor, free of other work."""
    X, places = planted(n, d, min(1000, n // 2))
    started = time.perf_counter()
    with mc.threads(n_threads):
        of_processor, found = timed(lambda: mc.audit.duplicates(X))
    seconds = time.perf_counter() - started
    known = set(map(tuple, places.tolist()))
    hit = len(known & set(map(tuple, found.pairs.tolist())))
    cells = {
        "planted pairs": f"{len(known)}", "found": f"{hit}", "others found": f"{len(found) - hit}",
        "seconds": f"{seconds:.1f}", "seconds of all cores": f"{of_processor:.1f}",
    }  # fmt: skip
    if n != 1_000_000:
        cells["of a million rows, by their pairs"] = f"{of_processor * (1e6 / n) ** 2:.0f}"
    page.table(f"Near-duplicates, {n} x {d}, {n_threads} threads", list(cells), [list(cells.values())])


def run(
    folder: str = os.environ.get("MANYCLASS_DATA", ""), tiny: str = "", omniglot: str = "", rows: int = 1_000_000,
    n: int = 200_000, k: int = 5_000, d: int = 16, only: str = ",".join(PARTS), rates: str = "5,10", most: int = 5_000,
    named: str = "",
) -> Page:  # fmt: skip
    """The page; `tiny` are features of Tiny-ImageNet with labels, as `manyclass features` writes them.

    So may be `omniglot`, which else are made of the drawings. Of each set, so many rows at `most` are taken, and so
    many percent of them are flipped. Duplicates are sought among so many `rows`: `only=duplicates rows=200000` does
    nothing else, and `only=labels named=letters` sets whose names begin so. Tables of what is not asked for stay as the
    page has them.
    """
    if unknown := set(only.split(",")) - set(PARTS):
        raise SystemExit(f"`only` must be some of {', '.join(PARTS)}, with commas; got {', '.join(sorted(unknown))}")
    page = Page("audit", "Wrong labels and duplicates", f"{__doc__}\n{load()}")
    written = Path("docs/benchmarks/audit.md")
    kept = read_page(written).tables if written.exists() else []
    asked = [one for one in SETS if one.startswith(named)] if "labels" in only else []
    page.tables += [
        (one.caption, one.columns, one.rows)
        for one in kept
        if (_set(one.caption) not in asked if _part(one.caption) == "labels" else _part(one.caption) not in only)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if "labels" in only:
            with mc.threads(1):
                _warm_up()
                for name, (X, y) in sets(Path(folder) if folder else None, tiny, omniglot).items():
                    if name not in asked:
                        continue
                    compare(page, name, *some(X, y, most), tuple(int(one) / 100 for one in str(rates).split(",")))
        if "memory" in only:
            compare_memory(page, n, k, d)
    if "duplicates" in only:
        find_duplicates(page, rows, 256, mc.get_threads())
    page.tables.sort(key=lambda table: (PARTS.index(_part(table[0])), [*SETS, ""].index(_set(table[0]))))
    return page


def _part(caption: str) -> str:
    """Which part of the benchmark a table is of."""
    return "memory" if caption.startswith("Memory") else "duplicates" if caption.startswith("Near") else "labels"


def _set(caption: str) -> str:
    """Which set a table is of, or none."""
    return next((name for name in SETS if caption.startswith(name)), "")


if __name__ == "__main__":
    print(json.dumps(memory(sys.argv[1], *map(int, sys.argv[2:]))))

"""Figure 5 of Amit et al. (ICML 2007): what sharing gains, against the number of examples of a class.

Takes about two minutes.
"""

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import manyclass as mc
from experiments.figures import COLORS, MARKERS, finish, panels
from experiments.results import Results, listed, percent
from experiments.shared_path import PENALTIES, Parts, best_on_held
from experiments.sources import omniglot_features, unit
from experiments.verdicts import Interval, above, over_seeds

N_CLASSES = 100  # at most: all species of leaves
CHARACTERS = 75  # of Omniglot, whose rows are longer
SEEDS = 10
TOLERANCE = 2e-2
STRENGTHS = {
    "frobenius": tuple(2.0**e for e in range(-2, 9, 2)),
    "trace": tuple(2.0**e for e in range(-2, 4)),
}


class Source(NamedTuple):
    """Rows with labels, class sizes to train with, how many rows of a class are held out and tested, and classes."""

    X: Any
    y: Any
    sizes: tuple[int, ...]
    others: int
    n_classes: int = N_CLASSES


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("shared_class_size", "Gain against the size of a class")
    found = sources(folder)
    counts = listed(f"{min(one.n_classes, len(np.unique(one.y)))} ({name})" for name, one in found.items())
    results.say(f"""Classes get different numbers of examples to train on, each number for as many of {counts} classes;
        which class gets which is drawn anew {SEEDS} times. C is chosen on rows held out, of six
        values for either norm
        ({", ".join(f"{PENALTIES[p]} {some[0]:g} to {some[-1]:g}" for p, some in STRENGTHS.items())}); fits are within
        {100 * TOLERANCE:g} % of the optimum. Errors in percent are those on the test rows of the classes of a size,
        mean and standard error over drawings; the gain is by how much the trace norm errs less than Frobenius', in
        points, with its interval of 95 %.""")
    drawn, charts = panels(list(found), "examples of a class", "gain, points")
    for position, (chart, (name, source)) in enumerate(zip(charts, found.items(), strict=True)):
        gains = _table(results, name, source)
        means = np.array([100 * gain.mean for gain in gains])
        style = {"color": COLORS[position], "marker": MARKERS[position], "capsize": 3}
        halves = [100 * (gain.high - gain.mean) for gain in gains]
        chart.errorbar(source.sizes, means, halves, label="trace norm over Frobenius", **style)
        chart.axhline(0, color="black", linewidth=0.8)
    results.figure(finish(drawn, charts), "gain of the trace norm against examples of a class")
    return results


def sources(folder: Path | None) -> dict[str, Source]:
    """Data by name; characters drawn here if there are none of the folder."""
    found = {}
    if folder and (tables := sorted(folder.rglob("leaf99.csv"))):
        found["leaves"] = Source(*read_leaves(tables[0]), (1, 2, 3, 4, 6), 2)
    if folder and any(folder.rglob("omniglot*.tar.gz")):
        found["Omniglot"] = Source(*omniglot_features(folder), (1, 2, 4, 8, 12), 4, CHARACTERS)
    if not found:
        drawn = mc.datasets.glyphs(N_CLASSES)
        found["glyphs"] = Source(mc.datasets.glyph_features(drawn.images), np.asarray(drawn.y), (1, 2, 4, 8, 12), 4)
    return found


def read_leaves(path: Path) -> tuple[Any, Any]:
    """(X of unit rows, after scaling every column to variance 1, species)."""
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    X = np.array([row[2:] for row in rows], float)
    return unit((X - X.mean(axis=0)) / X.std(axis=0)), np.unique([row[1] for row in rows], return_inverse=True)[1]


def _table(results: Results, name: str, source: Source) -> list[Interval]:
    """Adds the table of one source and the finding on it; gives the gain for every size."""
    errors = [_errors(source, seed) for seed in range(SEEDS)]
    found = {p: np.array([one[p] for one in errors]) for p in PENALTIES}
    gains = found["frobenius"] - found["trace"]
    told = [over_seeds(gain) for gain in gains.T]
    rows = [
        [str(size), *(percent(found[p][:, at]) for p in PENALTIES), told[at].shown(100)]
        for at, size in enumerate(source.sizes)
    ]
    results.table(f"Errors, {name}", ["examples", *PENALTIES.values(), "gain"], rows)
    few, many = source.sizes[0], source.sizes[-1]
    more, overall = over_seeds(gains[:, 0] - gains[:, -1]), over_seeds(gains.mean(axis=1))
    results.finding(
        "Figure 5",
        f"The fewer examples a class has, the more it gains from the trace norm ({name}).",
        above([more]),
        f"classes of {few} gain {more.shown(100)} points more than those of {many}, over {SEEDS} drawings; all sizes "
        f"together gain {overall.shown(100)}.",
    )
    return told


def _errors(source: Source, seed: int) -> dict[str, list[float]]:
    """For each penalty the test errors of the classes of each size."""
    parts, sizes = divided(source, seed)
    X, y = parts.test
    errors = {}
    for penalty in PENALTIES:
        wrong = best_on_held(parts, penalty, STRENGTHS[penalty], tolerance=TOLERANCE)[1].predict(X) != y
        errors[penalty] = [float(wrong[sizes[y] == size].mean()) for size in source.sizes]
    return errors


def divided(source: Source, seed: int) -> tuple[Parts, Any]:
    """(parts, the number of rows to train on for each class, numbered from 0)."""
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.unique(source.y))[: source.n_classes]
    sizes = np.resize(source.sizes, len(classes))
    chosen: list[list[Any]] = [[], [], []]
    for label, size in zip(classes, sizes, strict=True):
        rows = rng.permutation(np.flatnonzero(source.y == label))
        ends = np.cumsum([source.others, source.others, size])
        held, test, train = np.split(rows[: ends[-1]], ends[:-1])
        for part, found in zip(chosen, (train, held, test), strict=True):
            part.append(found)
    number = np.zeros(source.y.max() + 1, np.intp)
    number[classes] = np.arange(len(classes))
    at = [np.concatenate(part) for part in chosen]
    return Parts(*((source.X[rows].astype(float), number[source.y[rows]]) for rows in at)), sizes

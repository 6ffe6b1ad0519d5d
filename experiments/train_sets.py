"""Labeled sets to train on, as users have them: pictures' features, tables in their own units, and generated rows."""

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.photographs import encoded, photographs
from experiments.search_sets import ARCHIVES, TINY, encoders, labels_of
from experiments.sources import Labels, Rows, Split, omniglot_features, one

MakeSplit = Callable[[int], Split]

TO_TEST = 1 / 3  # of the rows of a class, where nothing else is said
NETWORK = "network"


def train_sets(folder: Path | None) -> dict[tuple[str, str], MakeSplit]:
    """Those at hand by name and features; each draws rows to train on and to test on by a seed."""
    found = _tables(folder) | _of_scikit_learn() | _generated() if folder else _of_scikit_learn() | _generated()
    return found | _pictures(folder) if folder else found


def _pictures(folder: Path) -> dict[tuple[str, str], MakeSplit]:
    found: dict[tuple[str, str], MakeSplit] = {}
    for name, pattern in {**ARCHIVES, "Tiny-ImageNet": TINY}.items():
        # Frames of the corridor have no labels; 659 characters were not tried by more columns than gradients'.
        known = name not in ("corridor", "Omniglot") and any(folder.rglob(pattern))
        if known and any(folder.rglob(ARCHIVES["Caltech"])):
            # Peers did not finish by Fisher vectors of Tiny-ImageNet.
            left_out = ("VLAD", "Fisher") if pattern == TINY else ("VLAD",)
            for kind in (kind for kind in encoders(folder) if kind not in left_out):
                found[name, kind] = lambda seed, n=name, p=pattern, k=kind: split(*_features(folder, n, p, k), seed)
    if any(folder.rglob("caltech*.npz")):
        found["Caltech", NETWORK] = lambda seed: split(*read_caltech(folder), seed)
    if any(folder.rglob(ARCHIVES["Omniglot"])):
        found["Omniglot", "gradients"] = lambda seed: split(*omniglot_features(folder), seed)
    return found


@cache
def _features(folder: Path, name: str, pattern: str, kind: str) -> tuple[Rows, Labels]:
    """As `manyclass features` writes them; what they are learned from is Caltech-101."""
    images, world = photographs(folder, pattern), photographs(folder, ARCHIVES["Caltech"])
    X = encoded(images, encoders(folder)[kind], learn_from=world).X.toarray().astype(np.float32)
    return X, labels_of(images, name) if name in ARCHIVES else images.y


@cache
def read_caltech(folder: Path) -> tuple[Rows, Labels]:
    found = mc.datasets.read_features(one(folder, "caltech*.npz"))
    return found.X.toarray().astype(np.float32), np.asarray(found.y, np.intp)


def _tables(folder: Path) -> dict[tuple[str, str], MakeSplit]:
    found: dict[tuple[str, str], MakeSplit] = {}
    if any(folder.rglob("letter*.csv")):
        letters = lambda seed: split(*read_table(one(folder, "letter*.csv"), 0, 1), seed)  # noqa: E731
        found["letters", "16 counts"] = letters
        found["letters, 20 of each", "16 counts"] = lambda seed: few(letters(seed), 20)
    if any(folder.rglob("leaf99*.csv")):
        found["leaves", "192 shares"] = lambda seed: split(*read_table(one(folder, "leaf99*.csv"), 1, 2), seed)
    return found


@cache
def read_table(path: Path, label: int, first: int) -> tuple[Rows, Labels]:
    """Columns from the first one on, and numbers of the labels."""
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    return np.array([row[first:] for row in rows], np.float32), np.unique(
        [r[label] for r in rows], return_inverse=True
    )[1]


def _of_scikit_learn() -> dict[tuple[str, str], MakeSplit]:
    from sklearn import datasets

    def load(name: str) -> MakeSplit:
        return lambda seed: split(*_as_rows(getattr(datasets, f"load_{name}")(return_X_y=True)), seed)

    shapes = {"digits": "64 pixels", "wine": "13 measures", "iris": "4 measures", "breast_cancer": "30 measures"}
    return {(name.replace("_", " "), shape): load(name) for name, shape in shapes.items()}


def _as_rows(data: Any) -> tuple[Rows, Labels]:
    X, y = data
    return np.asarray(X, np.float32), np.asarray(y, np.intp)


def _generated() -> dict[tuple[str, str], MakeSplit]:
    """Rows of unit length, and what users do to them."""

    def low_rank(seed: int, n: int = 2000, d: int = 64, k: int = 40, **settings: Any) -> Split:
        found = mc.datasets.low_rank_classes(n + 2000, d, k, random_state=seed, **{"noise": 0.25, **settings})
        X = found.rows(slice(None))
        return Split(X[:n], found.y[:n], X[n:], found.y[n:])

    def changed(split: Split, scale: Any = 1.0, shift: Any = 0.0) -> Split:
        X, X_test = ((rows * scale + shift).astype(np.float32) for rows in (split.X, split.X_test))
        return Split(X, split.y, X_test, split.y_test)

    def scales(d: int) -> Any:
        return np.exp(np.random.default_rng(0).normal(size=d))

    return {
        ("generated", "unit rows"): low_rank,
        ("generated", "not centered"): lambda seed: changed(low_rank(seed), shift=0.3),
        ("generated", "columns of unlike scale"): lambda seed: changed(low_rank(seed), scale=scales(64)),
        ("generated", "in thousands, not centered"): lambda seed: changed(low_rank(seed), 3000, 1000),
        ("generated, long tail", "unit rows"): lambda seed: low_rank(seed, imbalance=1.0),
        ("generated, 2 classes", "unit rows"): lambda seed: low_rank(seed, 1000, 32, 2, noise=0.4),
        ("generated, 3 of each", "unit rows"): lambda seed: low_rank(seed, 120),
    }


def split(X: Rows, y: Labels, seed: int, fraction: float = TO_TEST) -> Split:
    """A fraction of every class to test on, and at least one."""
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    counts = np.bincount(y)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(counts) - counts, counts)
    tests = np.zeros(len(y), bool)
    tests[order[rank < np.maximum(1, np.rint(fraction * counts))[y[order]]]] = True
    return Split(X[~tests], y[~tests], X[tests], y[tests])


def few(whole: Split, number: int) -> Split:
    """So many of each class alone to train on, the first ones."""
    order = np.argsort(whole.y, kind="stable")
    counts = np.bincount(whole.y)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = np.sort(order[rank < number])
    return Split(whole.X[kept], whole.y[kept], whole.X_test, whole.y_test)

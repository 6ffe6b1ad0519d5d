"""Exemplar machines of many images: the closed form against one LinearSVC of scikit-learn for each image.

Ours counts everything: the statistics of the negatives, their factor, and the codes of all images. LinearSVC is fitted
for a few images, one against all negatives, and counted as if for all. Seconds are those of the processor, one thread.
Each LinearSVC has hinge loss, C = 1 / (n lambda) for a negative and n times that for the image, as in the objective of
`ExemplarSVM`; its tolerance is the default. Both machines then score the same images, and the ranks of these scores
are compared (Spearman).
"""

import time

import numpy as np
from scipy.stats import spearmanr
from sklearn.svm import LinearSVC

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.timing import all_threads, best_of

STRENGTHS = (1e-3, 1e-2, 1e-1)


def _features(n: int, d: int) -> np.ndarray:
    """Rows of unit length with class structure, classes of ten."""
    X = mc.datasets.low_rank_classes(n, d, n // 10).rows(slice(0, n))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def _support_vectors(x: np.ndarray, negatives: np.ndarray, strength: float) -> tuple[float, np.ndarray]:
    """Seconds and the weights of one image's machine."""
    n = len(negatives)
    rows, y = np.concatenate([x[None], negatives]), np.r_[1, -np.ones(n)]
    machine = LinearSVC(loss="hinge", C=1 / (n * strength), class_weight={1: n, -1: 1}, random_state=0, max_iter=10_000)
    started = time.process_time()
    machine.fit(rows, y)
    return time.process_time() - started, machine.coef_[0]


def run(n: int = 10_000, d: int = 512, negatives: int = 10_000, images: int = 3) -> Page:
    """The table: one row for each strength."""
    page = Page("exemplar", "Exemplar machines of many images", f"{__doc__}\n{load()}")
    rows = _features(n + negatives, d)
    X, world = rows[:n], rows[n:]
    table = []
    with all_threads(1):
        for strength in STRENGTHS:
            encoder = mc.SquareLossExemplar(strength, random_state=0)
            ours = best_of(3, {"ours": lambda encoder=encoder: encoder.fit(world).transform(X)}, time.process_time)
            fits = [_support_vectors(x, world, strength) for x in X[:images]]
            theirs = float(np.mean([seconds for seconds, _ in fits]))
            W = encoder.transform(X[:images])
            alike = [spearmanr(X @ w, X @ own).statistic for w, (_, own) in zip(W, fits, strict=True)]
            each = ours["ours"] / n
            cells = [f"{ours['ours']:.2f} s", f"{1e6 * each:.0f} us", f"{theirs:.2f} s", f"{theirs / each:,.0f}"]
            table.append([f"{strength:g}", *cells, f"{np.mean(alike):.2f}"])
    columns = ["lambda", "all images", "an image", "LinearSVC, an image", "times", "ranks correlated"]
    page.table(f"{n} images, {d} dimensions, {negatives} negatives", columns, table)
    return page

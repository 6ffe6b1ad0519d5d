"""Classifiers with the strengths that are best on rows held out: every method has as many settings to choose from."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import manyclass as mc
from experiments.sources import Labels, Rows
from experiments.squared_hinge import SquaredHinges

Drawn = tuple[Rows, Labels]
STRENGTHS, BESIDE = 6, 2  # of the main setting, and of the one beside it
SETTINGS = STRENGTHS * BESIDE
COSTS = np.geomspace(1e-1, 1e4, STRENGTHS)  # C of one-vs-rest, the range of Harchaoui et al.
RIDGES = (1e-5, 1e-7)  # beside a trace norm
STEPS = 100  # for each setting; heavy positives with C from 10 on leave a gap that changes accuracy by 0.1 at most


def one_vs_rest(train: Drawn) -> Iterator[Any]:
    """Support vector machines: six C, positives as they are or as heavy as the rest."""
    n, k = len(train[1]), len(np.unique(train[1]))
    for weight in (1.0, k - 1.0):
        yield from _fitted(train, SquaredHinges(weight), 1 / (2 * n * COSTS))


def ridge(train: Drawn) -> Iterator[Any]:
    """Softmax with a ridge."""
    yield from _fitted(train, "softmax", np.geomspace(1e-2, 1e-8, SETTINGS))


def _fitted(train: Drawn, loss: Any, strengths: Iterable[float]) -> Iterator[Any]:
    """With one ridge after another, from the strongest on, each from where the one before ended."""
    one = mc.LinearClassifier(loss, warm_start=True, tolerance=1e-3, max_iter=STEPS, n_threads=1)
    for strength in strengths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            one.set_params(penalty=mc.Ridge(float(strength))).fit(*train)
        yield deepcopy(one)


WAYS: dict[str, Callable[[Drawn], Iterator[Any]]] = {"one-vs-rest": one_vs_rest, "softmax with a ridge": ridge}


def trace_norm(train: Drawn, judge: Drawn) -> Any:
    """Softmax with a trace norm and a ridge beside it, along the path of Harchaoui et al."""
    path = mc.TraceNormPath(STRENGTHS, RIDGES, tolerance=1e-3, n_threads=1)
    return path.fit(*train, validation=judge).best_


def best(way: str, train: Drawn, judge: Drawn) -> Any:
    """Of the candidates of a way, the one that is right most often on the rows held out; of equals, the first."""
    if way == "trace norm":
        return trace_norm(train, judge)
    return max(WAYS[way](train), key=lambda one: float((one.predict(judge[0]) == judge[1]).mean()))

"""Classifiers with the strengths that are best on rows held out: every method has as many settings to choose from."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import manyclass as mc
from experiments.sources import Labels, Rows
from experiments.squared_hinge import SquaredHinges

Drawn = tuple[Rows, Labels]
STRENGTHS, BESIDE = 6, 2  # of the main setting, and of the one beside it
SETTINGS = STRENGTHS * BESIDE
_HOW = {"tolerance": 1e-3, "n_threads": 1}


def one_vs_rest(train: Drawn) -> Iterator[Any]:
    """Support vector machines: C from 0.1 to 10^4 (Harchaoui et al.), positives as they are or as heavy as the rest."""
    n, k = len(train[1]), len(np.unique(train[1]))
    for C in np.geomspace(1e-1, 1e4, STRENGTHS):
        for weight in (1.0, k - 1.0):
            yield mc.LinearClassifier(SquaredHinges(weight), mc.Ridge(float(1 / (2 * C * n))), **_HOW)


def ridge(train: Drawn) -> Iterator[Any]:
    """Softmax with a ridge."""
    for strength in np.geomspace(1e-2, 1e-8, SETTINGS):
        yield mc.LinearClassifier(penalty=mc.Ridge(float(strength)), **_HOW)


WAYS: dict[str, Callable[[Drawn], Iterator[Any]]] = {"one-vs-rest": one_vs_rest, "softmax with a ridge": ridge}


def trace_norm(train: Drawn, judge: Drawn) -> Any:
    """Softmax with a trace norm and a ridge beside it, by the path of Harchaoui et al."""
    return mc.TraceNormPath(STRENGTHS, BESIDE, **_HOW).fit(*train, validation=judge).best_


def best(way: str, train: Drawn, judge: Drawn) -> Any:
    """Of the candidates of a way, the one that is right most often on the rows held out; of equals, the strongest."""
    if way == "trace norm":
        return trace_norm(train, judge)
    fitted = [one.fit(*train) for one in WAYS[way](train)]
    return max(fitted, key=lambda one: float((one.predict(judge[0]) == judge[1]).mean()))

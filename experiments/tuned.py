"""Classifiers with the strengths that are best on rows held out: every method has as many to choose from."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import manyclass as mc
from experiments.sources import Labels, Rows

Drawn = tuple[Rows, Labels]
STRENGTHS = 5  # that every method may choose from, but for the ridges that go with a trace norm


def one_vs_rest(train: Drawn) -> Iterator[Any]:
    """LinearSVC by the five strengths of Harchaoui et al., from 0.1 to 10^4."""
    from sklearn.svm import LinearSVC

    n, d = train[0].shape
    for C in np.geomspace(1e-1, 1e4, STRENGTHS):
        # The same optimum; which way is the faster one depends on the shape.
        yield LinearSVC(C=float(C), dual=bool(2 * d > n), random_state=0, max_iter=2000, tol=1e-3)


def ridge(train: Drawn) -> Iterator[Any]:
    """Softmax with a ridge."""
    for strength in np.geomspace(1e-3, 1e-8, STRENGTHS):
        yield mc.LinearClassifier(penalty=mc.Ridge(float(strength)), tolerance=1e-3, n_threads=1)


WAYS: dict[str, Callable[[Drawn], Iterator[Any]]] = {"one-vs-rest": one_vs_rest, "softmax with a ridge": ridge}


def trace_norm(train: Drawn, judge: Drawn) -> Any:
    """Softmax with a trace norm, and a ridge or none beside it."""
    ridges = [1e-5, 1e-7, 0.0]
    traces = np.geomspace(1e-2, 1e-6, 2 * STRENGTHS - 1)
    return mc.TraceNormPath(traces, ridges, tolerance=1e-3, n_threads=1).fit(*train, validation=judge)


def best(way: str, train: Drawn, judge: Drawn) -> Any:
    """Of the candidates of a way, the one that is right most often on the rows held out."""
    if way == "trace norm":
        return trace_norm(train, judge)
    fitted = [one.fit(*train) for one in WAYS[way](train)]
    return max(fitted, key=lambda one: float((one.predict(judge[0]) == judge[1]).mean()))

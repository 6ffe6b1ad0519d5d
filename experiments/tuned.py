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
from manyclass.losses.multiclass import Softmax
from manyclass.solvers.batch.null_model import alpha_max
from manyclass.solvers.problem import Objective, Problem

Drawn = tuple[Rows, Labels]
STRENGTHS, BESIDE = 6, 2  # of the main setting, and of the one beside it
SETTINGS = STRENGTHS * BESIDE
COSTS = np.geomspace(1e-1, 1e4, STRENGTHS)  # C of one-vs-rest, the range of Harchaoui et al.
# From where little of W is left to where the norm does next to nothing, in parts of the trace at which W = 0: where the
# path of `TraceNormPath` ends, at 2e-3, Caltech's Fisher vectors were 1.2 points behind a ridge.
TRACES = (0.3, 1e-4)
RIDGES = (1e-6, 1e-8)  # beside a trace norm
STEPS = 60  # for each setting, from where the one before ended; the largest C with heavy positives leave a gap


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
    """Softmax with a trace norm and a ridge beside it, along a path as that of Harchaoui et al."""
    X, y = train
    made = Objective(Problem.whole(mc.DenseMatrix(X), y, int(y.max()) + 1), Softmax(), mc.TraceNorm(1.0))
    with mc.threads(1):
        traces = alpha_max(made) * np.geomspace(*TRACES, STRENGTHS)
    return mc.TraceNormPath(traces, RIDGES, tolerance=1e-3, n_threads=1).fit(*train, validation=judge).best_


def best(way: str, train: Drawn, judge: Drawn) -> Any:
    """Of the candidates of a way, the one that is right most often on the rows held out; of equals, the first."""
    if way == "trace norm":
        return trace_norm(train, judge)
    return max(WAYS[way](train), key=lambda one: float((one.predict(judge[0]) == judge[1]).mean()))

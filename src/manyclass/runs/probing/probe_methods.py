"""The methods of a probe by name: how each learns, what it chose and keeps, and about how much it computes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from manyclass._core.errors import SettingsError
from manyclass._core.text import did_you_mean
from manyclass._core.typing import Labels
from manyclass.data.matrix import spans
from manyclass.data.views import RowSelection
from manyclass.runs.probing.linear_probe import fit_linear_probe
from manyclass.runs.probing.nearest_neighbors import NearestNeighbors
from manyclass.runs.probing.probe_data import ProbeTask

TOP = 5

_BLOCK = 16384  # rows that are predicted at once


class TopPredictor(Protocol):
    """Whatever names the best classes of rows."""

    def predict_top(self, X: Any, k: int) -> Any:
        """The k best classes of each row, the best first."""


@dataclass(frozen=True)
class Learned:
    """A classifier, the settings that it was learned with, and the bytes that have to be kept to use it."""

    model: TopPredictor
    settings: dict[str, Any]
    nbytes: int


@dataclass(frozen=True)
class Answer:
    """The classes (m, 5) that a method names for the rows to judge by, the best first, and what that took."""

    top: Labels
    settings: dict[str, Any]
    nbytes: int
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class ProbeMethod:
    """A way to learn classes from embeddings.

    Parameters
    ----------
    name : str
        As users choose it.
    title : str
        As tables call it.
    learn : callable
        What turns a ProbeTask into a Learned.
    work : callable
        About how many multiplications (n, m, d, k) take, of n rows, m to judge by, d columns and k classes.
    by_default : bool
        Whether it is among those that are run where nobody chose.
    """

    name: str
    title: str
    learn: Callable[[ProbeTask], Learned]
    work: Callable[[float, float, float, float], float]
    by_default: bool = True

    def answer(self, task: ProbeTask) -> Answer:
        """Learn and judge, with the time of both."""
        started = time.perf_counter()
        learned = self.learn(task)
        fitted = time.perf_counter()
        parts = [learned.model.predict_top(task.X_test.row_slice(at), TOP) for at in spans(len(task.X_test), _BLOCK)]
        top = np.concatenate(parts)
        ended = time.perf_counter()
        return Answer(top, learned.settings, learned.nbytes, fitted - started, ended - fitted)


def _learn_means(task: ProbeTask) -> Learned:
    from manyclass.estimators.nearest_centroid import METRICS, NearestCentroid

    metric = METRICS[0]
    if len(task.held_out):
        seen, y = RowSelection(task.X, task.learned), task.y[task.learned]
        asked, truth = RowSelection(task.X, task.held_out), task.y[task.held_out]
        right = {one: np.mean(NearestCentroid(one).fit(seen, y).predict(asked) == truth) for one in METRICS}
        metric = max(METRICS, key=lambda one: right[one])  # of equals the first
    return _linear(NearestCentroid(metric).fit(task.X, task.y), {"metric": metric})


def _learn_published_neighbors(task: ProbeTask) -> Learned:
    return _neighbors(NearestNeighbors(task.X, task.y))


def _learn_neighbors(task: ProbeTask) -> Learned:
    """By the number of neighbors and the metric that are best for rows held out; one search tells of all numbers."""
    best, most = (20, "cosine"), -1.0
    if len(task.held_out):
        y, truth = task.y[task.learned], task.y[task.held_out]
        for metric in ("cosine", "euclidean"):
            votes = NearestNeighbors(RowSelection(task.X, task.learned), y, metric=metric)
            found = votes.neighbors(RowSelection(task.X, task.held_out), min(max(_NEIGHBORS), len(y)))
            for k in _NEIGHBORS:
                right = float(np.mean(votes.votes(*found, k, 1)[:, 0] == truth))
                best, most = ((k, metric), right) if right > most else (best, most)
    return _neighbors(NearestNeighbors(task.X, task.y, *best))


_NEIGHBORS = (1, 5, 20)  # from which a number is chosen


def _neighbors(model: NearestNeighbors) -> Learned:
    n, d = model.X.shape
    return Learned(model, {"neighbors": model.k, "metric": model.metric}, 4 * n * d)


def _learn_closed_form(task: ProbeTask) -> Learned:
    from manyclass.estimators.square_loss_classifier import SquareLossClassifier

    model = SquareLossClassifier(keep_sums=False).fit(task.X, task.y)
    return _linear(model, {"regularization": model.regularization_})


def _learn_linear_probe(task: ProbeTask) -> Learned:
    model, strength, tried = fit_linear_probe(task.X, task.y, task.k, task.learned, task.held_out)
    settings = {"ridge": strength, "C": 1 / (2 * len(task.y) * strength), "strengths tried": len(tried)}
    return _linear(model, settings)


def _learn_one_vs_rest(task: ProbeTask) -> Learned:
    return _stochastic(task, "ovr")


def _learn_softmax(task: ProbeTask) -> Learned:
    return _stochastic(task, "softmax")


def _stochastic(task: ProbeTask, objective: str) -> Learned:
    from manyclass.estimators.stochastic import StochasticClassifier

    model = StochasticClassifier(objective, random_state=task.seed).fit(task.X, task.y)
    chosen = {"beta": "all" if model.beta_ is None else model.beta_} if objective == "ovr" else {}
    return _linear(model, chosen | {"step": model.step_, "epochs": model.n_epochs_})


def _learn_trace_norm(task: ProbeTask) -> Learned:
    from manyclass.estimators.trace.trace_path import TraceNormPath

    path = TraceNormPath(traces=6, ridges=3, random_state=task.seed).fit(task.X, task.y)
    model = path.best_
    return _linear(model, {"trace": model.trace, "ridge": model.ridge, "rank": model.rank_})


def _linear(model: Any, settings: dict[str, Any]) -> Learned:
    k, d = len(model.classes_), model.n_features_in_
    return Learned(model, settings, 4 * k * (d + 1))


# Multiplications, as measured on 40,000 rows of 1,024 columns and 1,000 classes with 10,000 to judge by, on one core
# that makes 51e9 a second: 2, 11, 24, 3, 3 and 107 to 170 s of it.
METHODS = (
    ProbeMethod("means", "class means", _learn_means, lambda n, m, d, k: 2000 * n * d + m * d * k),
    ProbeMethod("knn20", "20 neighbors", _learn_published_neighbors, lambda n, m, d, k: 1.3 * n * m * d),
    ProbeMethod("knn", "neighbors, chosen", _learn_neighbors, lambda n, m, d, k: 1.2 * n * (m + min(0.4 * n, 2e4)) * d),
    ProbeMethod("closed", "closed form", _learn_closed_form, lambda n, m, d, k: n * d * (min(n, d) + 2 * k)),
    ProbeMethod("ovr", "one-vs-rest", _learn_one_vs_rest, lambda n, m, d, k: 5 * n * d * k),
    ProbeMethod("linear", "linear probe", _learn_linear_probe, lambda n, m, d, k: 170 * n * d * k),
    ProbeMethod("softmax", "softmax by descent", _learn_softmax, lambda n, m, d, k: 20 * n * d * k, False),
    ProbeMethod("trace", "trace norm", _learn_trace_norm, lambda n, m, d, k: 1000 * n * d * k, False),
)


def choose_probe_methods(methods: str | Sequence[str] | None) -> list[ProbeMethod]:
    """The methods of these names, in the order of the table; None for the default ones, "all" for all of them.

    >>> [one.name for one in choose_probe_methods("closed,means")]
    ['means', 'closed']
    """
    if methods is None:
        return [one for one in METHODS if one.by_default]
    words = methods.split(",") if isinstance(methods, str) else list(methods)
    names, known = [str(word).strip() for word in words], [one.name for one in METHODS]
    if names == ["all"]:
        return list(METHODS)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise SettingsError(f"`methods` must be some of {', '.join(known)}, or all; got {name or 'none'}{hint}")
    return [one for one in METHODS if one.name in names]


def estimate_seconds(methods: Sequence[ProbeMethod], task: ProbeTask) -> float:
    """About how long methods take, by what this machine multiplies in a hundredth of a second."""
    (n, d), m = task.X.shape, len(task.X_test)
    return sum(one.work(n, m, d, task.k) for one in methods) / _multiplications_per_second()


def _multiplications_per_second() -> float:
    A = np.ones((512, 512), np.float32)
    A @ A  # threads start
    started = time.perf_counter()
    for _ in range(4):
        A @ A
    return 4 * 512**3 / max(time.perf_counter() - started, 1e-6)

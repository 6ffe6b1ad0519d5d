"""Classifiers of other libraries and ours, each made from one strength of regularization.

A maker gives an object with `fit(X, y)` and `predict(X)`; `strengths` are the values to choose from, `needs` the module
that must be installed. Heavy imports wait until a maker is called, so that this file loads in any environment.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Peer:
    """How to make a classifier: `make(strength, n_threads)`; `binary` if each class has a machine of its own."""

    make: Callable[[Any, int], Any]
    needs: str
    strengths: tuple[float | None, ...] = (None,)
    binary: bool = False


def _ours(**settings: str) -> Peer:
    def make(_: None, n_threads: int) -> Any:
        import manyclass as mc

        return mc.StochasticClassifier(n_threads=n_threads, random_state=0, **settings)

    return Peer(make, "manyclass")


def _as_it_is(seed: float, n_threads: int) -> Any:
    import manyclass as mc

    return mc.StochasticClassifier(n_threads=n_threads, random_state=int(seed))


def _trace_norm(strength: float, n_threads: int) -> Any:
    import manyclass as mc

    return mc.TraceNormClassifier(trace=strength, loss="smoothed_hinge", tolerance=1e-2, n_threads=n_threads)


def ours_for(epochs: int, known: dict[str, float | None], n_threads: int) -> Any:
    """Ours with a number of epochs and no validation; `known` may hold step and beta, which are else sought."""
    import manyclass as mc

    settings = {"loss": "squared_hinge", "max_epochs": epochs, "early_stopping": False, **known}
    return mc.StochasticClassifier(n_threads=n_threads, random_state=0, **settings)


def _sgd(alpha: float, n_threads: int) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", alpha=alpha, n_jobs=n_threads, random_state=0)


def _linear_svc(C: float, _: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, dual=True, random_state=0)


class _Logistic:
    """L-BFGS in float32. Gradients shrink as classes grow in number: with its default tolerance of 1e-4 it would take
    the weights 0 of 1,000 classes for the optimum."""

    def __init__(self, C: float, _: int):
        self.C = C

    def fit(self, X: Any, y: Any) -> None:
        from sklearn.linear_model import LogisticRegression

        tol = min(1e-4, len(np.unique(y)) ** -2)
        self.model = LogisticRegression(C=self.C, solver="lbfgs", max_iter=300, tol=tol).fit(X, y)

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)


def _cyanure(strength: float, _: int) -> Any:
    from cyanure.estimators import Classifier

    return Classifier(loss="sqhinge", penalty="l2", lambda_1=strength, fit_intercept=True, verbose=False)


def _snapml(regularizer: float, n_threads: int) -> Any:
    from snapml import SupportVectorMachine

    return SupportVectorMachine(regularizer=regularizer, n_jobs=n_threads, fit_intercept=True, random_state=0)


class _Liblinear:
    """The command-line solver's own Python interface, dual, squared hinge."""

    def __init__(self, C: float, _: int):
        self.options = f"-s 1 -c {C} -B 1 -q"

    def fit(self, X: Any, y: Any) -> None:
        from liblinear.liblinearutil import train
        from scipy.sparse import csr_matrix

        self.model = train(np.asarray(y, float), csr_matrix(X), self.options)

    def predict(self, X: Any) -> Any:
        from liblinear.liblinearutil import predict
        from scipy.sparse import csr_matrix

        return np.asarray(predict([], csr_matrix(X), self.model, "-q")[0])


_COSTS = (0.1, 1.0, 10.0)
_RATES = (1e-6, 1e-5, 1e-4, 1e-3)

OURS: dict[str, Peer] = {
    "manyclass hinge": _ours(loss="hinge"),
    "manyclass squared hinge": _ours(loss="squared_hinge"),
    "manyclass softmax": _ours(objective="softmax"),
}
WIDE: dict[str, Peer] = {
    "manyclass trace norm": Peer(_trace_norm, "manyclass", (1e-5, 1e-4, 1e-3)),
}
# As it is, with seeds in the place of strengths.
DEFAULTS: dict[str, Peer] = {"StochasticClassifier()": Peer(_as_it_is, "manyclass", tuple(range(10)))}
# Ours come last: whatever a long run does to the machine is done to them too.
PEERS: dict[str, Peer] = {
    "SGDClassifier": Peer(_sgd, "sklearn", _RATES, binary=True),
    "LinearSVC": Peer(_linear_svc, "sklearn", _COSTS, binary=True),
    "LogisticRegression": Peer(_Logistic, "sklearn", _COSTS),
    "cyanure": Peer(_cyanure, "cyanure", _RATES),
    "snapml": Peer(_snapml, "snapml", _COSTS),
    "liblinear": Peer(_Liblinear, "liblinear", _COSTS),
    **OURS,
}

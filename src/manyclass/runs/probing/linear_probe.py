"""The linear probe that papers report: softmax with a ridge, whose strength is chosen on validation.

Strengths are relative to the variance of the rows, and go down by powers of ten, each begun where the last one ended;
scikit-learn's C is 1 / (2 n strength). Weak ones take long, so the way ends where two in a row are no better. Around
the best, half powers of ten are tried. CLIP sweeps C in the same way, over a fixed range.
"""

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyclass._core.typing import Labels
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import column_means, mean_square
from manyclass.data.views import RowSelection
from manyclass.solvers.problem import Problem

if TYPE_CHECKING:
    from manyclass.estimators.linear_classifier import LinearClassifier

STRENGTHS = tuple(10.0**-e for e in range(2, 11))  # relative to the variance

_TOLERANCE = 1e-3  # of the objective: a tenth of it changes no more than one in a thousand answers on Caltech-101

_SCORES = 1 << 22  # that are held at once

RowNumbers = np.ndarray[tuple[int], np.dtype[np.intp]]


@dataclass(frozen=True)
class Tried:
    """A strength, and what softmax with it has on validation."""

    strength: float
    accuracy: float
    loss: float


def fit_linear_probe(
    X: Matrix, y: Labels, k: int, learned: RowNumbers, held_out: RowNumbers
) -> tuple["LinearClassifier", float, list[Tried]]:
    """The classifier of all rows, of k classes; its strength, which is best on those held out; and all that were tried.

    Without rows held out the strength is a usual one.
    """
    from manyclass.estimators.batch import ROWS_OF_CLASS

    variance = mean_square(X, column_means(X)) or 1.0
    if not len(held_out):
        strength = variance * STRENGTHS[3]
        return _fit(_new(), X, y, strength), strength, []
    # Far fewer rows than columns are seen in their span, once for all strengths.
    seen = Problem.whole(RowSelection(X, learned), y[learned], k).in_row_space(ROWS_OF_CLASS * k).X
    path = _Path(seen, y[learned], seen.coordinates(RowSelection(X, held_out)), y[held_out], variance)
    for relative in STRENGTHS:
        path.step(relative)
        if path.is_over():
            break
    best = path.best()
    for relative in (best.strength / variance * factor for factor in (10**0.5, 10**-0.5)):
        path.step(relative)
    strength = path.best().strength
    return _fit(_new(), X, y, strength), strength, sorted(path.tried, key=lambda one: -one.strength)


class _Path:
    """Strengths that were tried on some rows, and judged on others."""

    def __init__(self, X: Matrix, y: Labels, X_held_out: Matrix, y_held_out: Labels, variance: float):
        self.X, self.y, self.variance = X, y, variance
        self.held_out = X_held_out, y_held_out
        self.model, self.tried = _new(), list[Tried]()

    def step(self, relative: float) -> None:
        """Go on to another strength, from where the last one ended."""
        strength = relative * self.variance
        _fit(self.model, self.X, self.y, strength)
        self.model.set_params(warm_start=True)
        self.tried.append(Tried(strength, *judge(self.model, *self.held_out)))

    def best(self) -> Tried:
        """Of those that are right about as often as the best, within half a standard error, that of least loss."""
        most = max(one.accuracy for one in self.tried)
        error = np.sqrt(most * (1 - most) / len(self.held_out[1]))
        return min((one for one in self.tried if one.accuracy >= most - error / 2), key=lambda one: one.loss)

    def is_over(self) -> bool:
        """Whether the best is neither of the last two."""
        return len(self.tried) > 2 and self.best() not in self.tried[-2:]


def judge(model: "LinearClassifier", X: Matrix, y: Labels) -> tuple[float, float]:
    """Accuracy and mean logarithmic loss of a classifier of the classes 0 to k - 1, some rows at a time."""
    from scipy.special import logsumexp

    right, loss = 0, 0.0
    for at in spans(len(y), max(1, _SCORES // len(model.classes_))):
        S = (X.row_slice(at).matmat(model.coef_.T) + model.intercept_).astype(np.float64)
        right += int(np.count_nonzero(S.argmax(axis=1) == y[at]))
        loss += float((logsumexp(S, axis=1) - S[np.arange(len(S)), y[at]]).sum())
    return right / len(y), loss / len(y)


def _new() -> "LinearClassifier":
    from manyclass.estimators.linear_classifier import LinearClassifier

    return LinearClassifier(loss="softmax", tolerance=_TOLERANCE)


def _fit(model: "LinearClassifier", X: Matrix, y: Labels, strength: float) -> "LinearClassifier":
    import manyclass as mc

    with warnings.catch_warnings():
        # A strength that is not solved to the tolerance is judged as it is, like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(penalty=mc.Ridge(strength)).fit(X, y)
    return model

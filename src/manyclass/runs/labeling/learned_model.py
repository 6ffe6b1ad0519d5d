"""LearnedModel: what was learned from the labels that there were, for proposals while the next is being learned.

Three ways to tell a class compete, each judged by labeled rows of which it has not seen the label: nearest means that
pictures without labels help to place, which are best with few labels; the square loss in closed form, best with many;
and the classifier of a run, where there is one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Doubles, Floats
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.estimators.square_loss_classifier import SquareLossClassifier
from manyclass.runs.labeling.label_state import Indices
from manyclass.runs.labeling.picture_space import PictureSpace
from manyclass.runs.labeling.seeded_means import SeededMeans, softmax
from manyclass.solvers.imprinting import mixed_rows

_POOL = 4000  # rows without labels that help

# The closed form is tried from so many labels of a class on, and on so many rows at most: a second, of 512 columns.
_EACH, _MOST = 10, 8000

_FAIR = 10  # pictures picked by chance that are enough to fit probabilities to

_JUDGED = 1000  # labeled rows by which a run is judged

MEANS, SQUARE, RUN = "means", "square", "run"


@dataclass(frozen=True)
class LearnedModel:
    """What tells classes, and how it was judged.

    Parameters
    ----------
    kind : {"means", "square", "run"}
        Which of the three it is.
    classes : list of str
        The classes, sorted; those of the run's classifier as it has them.
    accuracy : float or None
        The share of labeled rows it has right without having seen their labels; None if none could be held out.
    fitted : object
        The means, or the classifier.
    space : PictureSpace or None
        Where the means are.
    held_out : ndarray of shape (n, j) or None
        Probabilities of the rows that were learned from, by means that have not seen their labels.
    held_out_classes : list of str
        Their j classes.
    shown : SeededMeans or None
        The means, with probabilities that fit pictures picked by chance, where there are enough of these.
    """

    kind: str
    classes: list[str]
    accuracy: float | None
    fitted: Any
    space: PictureSpace | None = None
    held_out: Doubles | None = None
    held_out_classes: Sequence[str] = ()
    shown: SeededMeans | None = None

    @classmethod
    def of_run(cls, classifier: Any, accuracy: float | None = None) -> "LearnedModel":
        """The classifier of a run."""
        return cls(RUN, [str(one) for one in classifier.classes_], accuracy, classifier)

    def probabilities(self, positions: Indices, X: Matrix) -> Floats:
        """Those (m, k) of rows of X."""
        if self.kind == MEANS and self.space is not None:
            found: Doubles = self.fitted.probabilities(self.space.coordinates(positions))
            return found
        return class_probabilities(self.fitted, DenseMatrix(X.rows(positions)))

    def proposed(self, positions: Indices, X: Matrix) -> Floats:
        """The same as people are told.

        Pictures that were chosen are harder than most, and of more classes; what fits them is too low for the others.
        It is right for choosing, where it makes the model look around for longer.
        """
        if self.shown is None or self.space is None:
            return self.probabilities(positions, X)
        return self.shown.probabilities(self.space.coordinates(positions))

    def classifier(self, counts: Indices) -> Any:
        """A classifier that can be saved; None of a single class. `counts` (k,) are the labels of each class."""
        if self.kind != MEANS or self.space is None:
            return self.fitted
        means = self.shown or self.fitted
        return _as_classifier(means, self.space, self.classes, counts) if len(self.classes) > 1 else None


def learn(
    space: PictureSpace,
    rows: Indices,
    y: Indices,
    classes: Sequence[str],
    pool: Indices,
    run: Any = None,
    fair: NDArray[np.bool_] | None = None,
    new: NDArray[np.bool_] | None = None,
    seed: int = 0,
) -> LearnedModel:
    """What is best of the three, by labeled rows.

    Parameters
    ----------
    space : PictureSpace
        The rows.
    rows : ndarray of shape (n,)
        Positions of those with labels.
    y : ndarray of shape (n,)
        Their classes, as numbers of `classes`, each of which has a row.
    classes : sequence of str
        The classes, sorted.
    pool : ndarray of intp
        Positions of rows without labels, of which some help.
    run : classifier, default=None
        One that is there already.
    fair : ndarray of shape (n,), bool, default=None
        Which of the rows were picked by chance.
    new : ndarray of shape (n,), bool, default=None
        Which of the rows came without a label, so that the run cannot have learned it; it is judged by these. With
        None, or where there are none, by all.
    seed : int, default=0
        What is drawn by chance is drawn by it.
    """
    names, rng = list(classes), np.random.default_rng([seed, 4])
    some = space.coordinates(rng.permutation(pool)[:_POOL])
    means = SeededMeans.fit(space.coordinates(rows), y, len(names), some, seed)
    best = LearnedModel(MEANS, names, means.accuracy(y), means, space)
    if fair is not None and fair.sum() >= _FAIR:
        best = replace(best, shown=means.calibrated(y, fair))
    if len(names) > 1 and len(y) >= _EACH * len(names):
        few = np.sort(rng.permutation(len(y))[:_MOST])
        square = SquareLossClassifier(keep_sums=False)
        square.fit(DenseMatrix(space.X.rows(rows[few])), np.array(names)[y[few]])
        accuracy = max(entry["accuracy"] for entry in square.path_)
        # Means were judged by what two thirds of the labels make of them: as good as these is not good enough.
        if len(square.classes_) == len(names) and accuracy > (best.accuracy or 0.0):
            best = LearnedModel(SQUARE, names, accuracy, square)
    if run is not None:
        other = LearnedModel.of_run(run)
        # Of rows that it was fitted on it is nearly always right, and would be kept though it lacks a class.
        judged = np.ones(len(y), bool) if new is None or not new.any() else new
        few = rng.permutation(np.flatnonzero(judged))[:_JUDGED]
        found = other.probabilities(rows[few], space.X).argmax(axis=1)
        accuracy = float(np.mean([other.classes[i] == names[j] for i, j in zip(found, y[few], strict=True)]))
        rival = best.accuracy if judged.all() else float(np.mean(means.held_out[few].argmax(axis=1) == y[few]))
        if accuracy >= (rival or 0.0):
            best = replace(other, accuracy=accuracy)
    return replace(best, held_out=means.held_out_probabilities(), held_out_classes=names)


def class_probabilities(classifier: Any, X: Any) -> Floats:
    """Those (n, k) of a classifier; of one that knows none, its scores in units of their deviation, as if they were."""
    if hasattr(classifier, "predict_proba"):
        return np.asarray(classifier.predict_proba(X))
    S = np.asarray(classifier.decision_function(X), np.float64)
    S = np.stack([-S, S], axis=1) / 2 if S.ndim == 1 else S
    found: Floats = softmax(S / (S.std() or 1.0))
    return found


def _as_classifier(means: SeededMeans, space: PictureSpace, classes: Sequence[str], counts: Indices) -> Any:
    """The machines of the square loss that the means are: (C + strength I)^-1 (m - mu), of one length."""
    W, b = space.weights(means.means.astype(np.float64))
    found = SquareLossClassifier(space.strength, keep_sums=False)
    found.classes_, found.n_features_in_ = np.array(classes), space.d
    dtype = space.X.dtype
    found.coef_, found.intercept_ = W.astype(dtype), b.astype(dtype)
    found.regularization_, found.temperature_, found.path_ = space.strength, means.temperature, []
    found.class_counts_ = np.asarray(counts, np.int64)
    found.class_weights_ = np.asarray(counts, np.float64)
    found.negatives_ = mixed_rows(space.X, space.sample)
    return found

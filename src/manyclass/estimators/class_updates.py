"""Classes that come, go, or get other names, in every linear classifier, without a fit.

What comes is imprinted (solvers/imprinting.py), against what the classifier has kept of the rows that it was fitted on;
what goes is left out; and machines are put in the order of their names.
"""

from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass._core.checks import check_finite
from manyclass._core.models import rollback_on_error
from manyclass._core.typing import Doubles, Floats
from manyclass.data.dense import DenseMatrix
from manyclass.data.inputs import open_examples
from manyclass.data.matrix import Matrix, spans
from manyclass.estimators.uncertainty.held_out import HeldOut
from manyclass.estimators.validation import check_labels, encode_known_labels, encode_new_labels, example_weights
from manyclass.solvers.imprinting import FewRows, KnownNegatives, NegativeRows, imprint, mixed_rows
from manyclass.solvers.problem import Problem

# Fitted arrays with a row for every class.
_PER_CLASS = (
    "coef_",
    "intercept_",
    "steps_",
    "class_counts_",
    "class_weights_",
    "imprinted_",
    "prior_",
    "trained_intercept_",
)

_OF_ALL_CLASSES = ("objective_", "gap_")  # what a solver said of all machines together

_NUMBERS = 1 << 24  # of rows of old classes that are looked at: 128 MB


class ClassUpdates:
    """`imprint_classes`, `add_classes`, `remove_classes` and `rename_classes` of a linear classifier."""

    classes_: NDArray[Any]
    coef_: Floats
    intercept_: Floats
    negatives_: Floats  # (m, d), which `fit` keeps
    held_out_: dict[str, Any]
    known_classes_: dict[str, Any]
    class_weight: Any
    class_weights_: Doubles
    imprinted_: NDArray[np.bool_]  # (k,), once there is one
    _scores: Callable[[Any], Floats]

    @rollback_on_error
    def imprint_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn new classes from a few rows of each, even one, without a fit; the old machines stay the same.

        A new machine is that of the square loss, with the mean of its rows as the positive, against `negatives_`: a few
        rows that `fit` keeps, with the mean and the covariance of those it has seen. Its scores on these are given the
        mean and the spread that scores of the old machines have on the new rows, so that it is a match for them. A fit
        on a few rows of a class beside many of others is worse: its machine nearly never wins.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Rows of the new classes. Rows of old classes, if there are any, are negatives beside those that are kept.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        object
            The classifier itself.

        Examples
        --------
        >>> import manyclass as mc
        >>> X = mc.datasets.low_rank_classes(600, d=32, n_classes=10)
        >>> rows, known = X.rows(slice(None)), X.y < 9
        >>> clf = mc.LinearClassifier(penalty=mc.Ridge(1e-4)).fit(rows[known], X.y[known])
        >>> clf.imprint_classes(rows[~known][:5], X.y[~known][:5]).classes_.tolist()
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        >>> bool(clf.score(rows[~known], X.y[~known]) > 0.9)
        True
        """
        self._check_changeable()
        self._forget_prior()
        matrix = open_examples(self, X)
        new, indices = encode_new_labels(check_labels(y, len(matrix)), self.classes_)
        weights = example_weights(indices, np.arange(len(new) + 1), None, sample_weight)
        few = self._look_at(matrix, indices, weights, new)
        others = np.flatnonzero((indices == len(new)) & (weights > 0))
        with np.errstate(invalid="ignore", over="ignore"):
            W, b = imprint(few, self._negatives(matrix, others))
        check_finite(W, "machines of new classes")
        self._append_machines(new, W, b, few.counts)
        self._forget()
        return self

    def add_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn new classes from a few rows of each: `imprint_classes`.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Rows of the new classes, and of old ones as negatives if there are any.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        object
            The classifier itself.
        """
        return self.imprint_classes(X, y, sample_weight)

    @rollback_on_error
    def remove_classes(self, labels: Any) -> Self:
        """Remove the machines of some classes; those of all others stay the same to the bit.

        Of one-vs-rest, that is what a fit without these classes would mean, up to the negatives that they were.
        Probabilities of the others become those given that it is none of the removed, at the temperature that there is.

        Parameters
        ----------
        labels : label or array-like of labels
            The classes to remove; two at least must stay.

        Returns
        -------
        object
            The classifier itself.

        Examples
        --------
        >>> import manyclass as mc
        >>> clf = mc.StochasticClassifier(random_state=0).fit(np.eye(9), np.repeat(["ant", "bee", "cat"], 3))
        >>> clf.remove_classes("bee").classes_.tolist(), clf.coef_.shape
        (['ant', 'cat'], (2, 9))
        """
        self._check_changeable()
        given = np.atleast_1d(np.asarray(labels))
        gone = encode_known_labels(given, self.classes_, len(given))
        kept = np.setdiff1d(np.arange(len(self.classes_)), gone)
        if len(kept) < 2:
            raise ValueError(f"remove_classes must leave two classes; got {len(kept)} that stay")
        self._forget_prior()
        self._set_classes(self.classes_[kept], kept)
        self._forget()
        return self

    @rollback_on_error
    def rename_classes(self, names: Mapping[Any, Any]) -> Self:
        """Give classes other names; machines, scores and probabilities stay, in the order of the new names.

        Parameters
        ----------
        names : dict
            The new label of every class that gets one, by its old label. Where all classes get one, they may be of
            another kind: text in place of numbers.

        Returns
        -------
        object
            The classifier itself.

        Examples
        --------
        >>> import manyclass as mc
        >>> clf = mc.StochasticClassifier(random_state=0).fit(np.eye(9), np.repeat(["ant", "bee", "cat"], 3))
        >>> clf.rename_classes({"ant": "wasp"}).classes_.tolist(), clf.predict(np.eye(9)[:1]).tolist()
        (['bee', 'cat', 'wasp'], ['wasp'])
        """
        self._check_changeable()
        labels = renamed_labels(self.classes_, names)
        order = np.argsort(labels, kind="stable")
        weights = getattr(self, "class_weight", None)
        if isinstance(weights, dict):
            self.class_weight = {names.get(label, label): weight for label, weight in weights.items()}
        self._set_classes(labels[order], order)
        return self

    def _check_changeable(self) -> None:
        """Refuse what is not fitted, or cannot have other classes."""
        check_is_fitted(self)

    def _set_classes(self, classes: NDArray[Any], places: NDArray[np.intp]) -> None:
        """Let these be the classes, with the machines that are in these places now."""
        self._select_machines(places)
        k = len(self.classes_)
        after = np.full(max(k, len(places)), -1)
        after[places] = np.arange(len(places))
        if len(places) == k and hasattr(self, "known_classes_"):
            moved = {name: self.known_classes_[name][places] for name in ("means", "shares")}
            self.known_classes_ = {**self.known_classes_, **moved}
            self.__dict__.pop("_known_judge", None)
        elif len(places) != k:
            self._forget_known_classes()
        self._move_held_out(after[:k])
        self._move_settings(classes, places)
        self.classes_ = classes
        self.__dict__.pop("_running", None)  # of partial_fit, which goes on from the machines

    def _move_settings(self, classes: NDArray[Any], places: NDArray[np.intp]) -> None:
        """Let parameters that name classes follow these, which are in these places now."""
        weights = getattr(self, "class_weight", None)
        if isinstance(weights, dict):
            known = set(classes.tolist())
            self.class_weight = {label: weight for label, weight in weights.items() if label in known}

    def _move_held_out(self, places: NDArray[np.intp]) -> None:
        """Give the rows that were held out the new places (k,) of their classes; those of classes at -1 go.

        What they say of classes that went or came is left as it was: it is what the temperature was found by.
        """
        if not hasattr(self, "held_out_"):
            return
        found = HeldOut(**self.held_out_)  # as they are, whatever prior counts them
        moved = found._replace(classes=places[found.classes].astype(np.int32))
        self.held_out_ = moved.rows(moved.classes >= 0)._asdict()
        if not len(self.held_out_["classes"]):
            del self.held_out_

    def _forget_known_classes(self) -> None:
        """Forget distances to classes that were others; held-out rows are told by probabilities alone then."""
        if hasattr(self, "known_classes_"):
            self.held_out_ = {**self.held_out_, "near": self.held_out_["sure"]}
            for name in ("known_classes_", "_known_judge"):
                self.__dict__.pop(name, None)

    def _forget_prior(self) -> None:
        """Take back another prior than that of training, where a classifier can have one."""

    def _forget(self) -> None:
        """Forget what is true of the machines that were there together, and of no others."""
        for name in _OF_ALL_CLASSES:
            self.__dict__.pop(name, None)

    def _keep_negatives(self, problem: Problem) -> None:
        """Keep what a class that comes later is imprinted against."""
        self.negatives_ = mixed_rows(problem.X, problem.index)

    def _negatives(self, X: Matrix, others: NDArray[np.intp]) -> KnownNegatives:
        """Those that are kept, and rows of old classes that are given."""
        few = others[
            np.linspace(0, len(others) - 1, min(len(others), max(256, _NUMBERS // X.shape[1]))).astype(np.intp)
        ]
        rows = [self.negatives_] if hasattr(self, "negatives_") else []
        rows += [X.rows(few)] if len(few) else []
        if sum(map(len, rows)) < 2:
            raise ValueError(
                "rows of old classes are needed beside those of new ones, as this classifier has kept no `negatives_`; "
                "give a hundred of them, or fit it again"
            )
        return NegativeRows(np.concatenate(rows).astype(np.float64))

    def _look_at(self, X: Matrix, indices: NDArray[np.int32], weights: Floats, new: NDArray[Any]) -> FewRows:
        """The means of the new classes, and how the old machines score their rows."""
        used = np.flatnonzero((indices < len(new)) & (weights > 0))
        counts = class_counts(indices[used], new)
        shares = weights[used].astype(np.float64) / np.bincount(indices[used], weights[used])[indices[used]]
        means, moments = np.zeros((len(new), X.shape[1])), np.zeros((len(new), 2))
        for at in spans(len(used), max(1, _NUMBERS // max(X.shape[1], len(self.classes_)))):
            rows, places, share = X.rows(used[at]), indices[used[at]], shares[at, None]
            S = self._scores(DenseMatrix(rows)).astype(np.float64)
            np.add.at(means, places, share * rows)
            np.add.at(moments, places, share * np.stack([S.mean(axis=1), np.square(S).mean(axis=1)], axis=1))
        levels, squares = moments.T
        return FewRows(means, counts, levels, np.sqrt(np.maximum(squares - levels**2, 0)))

    def _append_machines(self, new: NDArray[Any], W: Doubles, b: Doubles, counts: NDArray[np.int64]) -> None:
        """Let there be more classes, with machines W (p, d) and biases b (p,) that have seen so many rows."""
        together = np.concatenate([self.classes_, new])
        if hasattr(self, "class_weights_") and not hasattr(self, "imprinted_"):
            self.imprinted_ = np.zeros(len(self.classes_), bool)
        more = {"coef_": W, "intercept_": b, "imprinted_": np.ones(len(new), bool)}
        more |= dict.fromkeys(("steps_", "class_counts_", "class_weights_"), counts)
        for name in more.keys() & vars(self).keys():
            before = getattr(self, name)
            setattr(self, name, np.concatenate([before, more[name].astype(before.dtype)]))
        order = np.argsort(together, kind="stable")
        self._set_classes(together[order], order)

    def _select_machines(self, places: NDArray[np.intp]) -> None:
        """Keep the machines in these places, in this order."""
        for name in _PER_CLASS:
            if name in vars(self):
                setattr(self, name, np.ascontiguousarray(getattr(self, name)[places]))


def class_counts(indices: NDArray[np.int32], new: NDArray[Any]) -> NDArray[np.int64]:
    """Rows of each new class, by their positions in them; every class must have one."""
    counts = np.bincount(indices, minlength=len(new))
    for missing in np.flatnonzero(counts == 0)[:1]:
        raise ValueError(
            "add_classes needs a row of every new class whose sample_weight is not zero; "
            f"got none of the class {new.tolist()[missing]!r}"
        )
    return counts


def renamed_labels(classes: NDArray[Any], names: Mapping[Any, Any]) -> NDArray[Any]:
    """The labels in the places of the classes, of which each has its own.

    >>> renamed_labels(np.array(["a", "b"]), {"b": "long"}).tolist()
    ['a', 'long']
    """
    if not isinstance(names, Mapping) or not names:
        raise ValueError(f"rename_classes needs a dictionary of old and new labels; got {names!r}")
    before = classes.tolist()
    known = set(before)
    for label in [label for label in names if label not in known][:1]:
        raise ValueError(f"rename_classes needs labels among the {len(before)} classes; got {label!r}")
    after = [names.get(label, label) for label in before]
    kinds = [_kind_of(label) for label in after]
    # Beside labels that stay, or else beside the first.
    stays = next((place for place, label in enumerate(before) if label not in names), 0)
    for place in [place for place, kind in enumerate(kinds) if kind is None or kind != kinds[stays]][:1]:
        raise ValueError(
            f"rename_classes must leave labels of one kind, {classes.dtype} as they are; got {after[place]!r} for "
            f"{before[place]!r}; rename all {len(before)} classes to change it"
        )
    seen: set[Any] = set()
    for label in after:
        if label in seen:
            raise ValueError(
                f"rename_classes must leave every class a name of its own; got {label!r} for two of them; "
                "to merge classes, give their rows one label and train again"
            )
        seen.add(label)
    labels = check_labels(np.array(after, object if classes.dtype == object else None), len(after))
    if labels.dtype.kind not in "iuf" or classes.dtype.kind not in "iuf":
        return labels
    with np.errstate(invalid="ignore", over="ignore"):
        same = labels.astype(classes.dtype)
    return same if same.tolist() == after else labels


def _kind_of(label: Any) -> type | None:
    """Whether a label is text, bytes or a number; None if it is none."""
    found = (kind for kind in (str, bytes, Number) if isinstance(label, kind))
    return next(found, None)

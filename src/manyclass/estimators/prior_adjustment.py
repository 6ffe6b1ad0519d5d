"""Class priors after training: scores move from the prior that they were learned with to the one that they are used by.

By Bayes' rule log P(c | x) = log p(x | c) + log P(c) + a constant of x, so that another prior is another bias of every
class, ``log(new) - log(old)`` in the units in which scores are logarithms of probabilities (Menon et al., "Long-tail
learning via logit adjustment", ICLR 2021). Scores stay linear, and whatever reads `intercept_` sees the new prior.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass._core.models import rollback_on_error
from manyclass._core.typing import Doubles, Floats
from manyclass.estimators.probabilities import Probabilities
from manyclass.solvers.problem import Problem

UNIFORM = "uniform"


class PriorAdjustment(Probabilities):
    """`set_prior`, for classifiers that count the examples of each class when they learn."""

    intercept_: Floats
    class_counts_: NDArray[np.int64]  # (k,) rows of each class that were learned from
    class_weights_: Doubles  # (k,) the sum of their weights
    imprinted_: NDArray[np.bool_]  # (k,) which of them are imprinted, if there are such
    prior_: Doubles  # (k,) of `set_prior`, if there is one
    trained_intercept_: Floats  # (k,) what `intercept_` was without it

    @property
    def class_prior_(self) -> Doubles:
        """The share of each class in the weights of all rows that were learned from, an ndarray of shape (k,).

        Imprinted classes have that of the others on average, however few their rows were.
        """
        if not hasattr(self, "class_weights_"):
            raise AttributeError("class_prior_ needs the sizes of classes, which older files lack; fit again")
        weights = self.class_weights_
        if hasattr(self, "imprinted_"):
            # However few its rows are, an imprinted machine is a match for the others: it weighs as they do.
            learned = weights[~self.imprinted_]
            weights = np.where(self.imprinted_, learned.mean() if len(learned) else 1.0, weights)
        shares: Doubles = weights / weights.sum()
        return shares

    @rollback_on_error
    def set_prior(self, prior: Any) -> Self:
        """Judge classes by another prior than that of the rows that were learned from.

        Biases move by ``log(prior) - log(class_prior_)``, in units of the temperature where softmax did not learn the
        scores, and with them scores, predictions and probabilities. A uniform prior makes rare classes as good as
        frequent ones: the mean of the accuracies of classes rises, and the share of rows that are right falls where
        frequent classes are still frequent. Scores of softmax are logarithms of probabilities, as this assumes; those
        of one-vs-rest and of the closed form are not in few columns, where `class_weight="balanced"` is better
        (docs/results/long_tail.md). Nothing is learned anew. `fit`, `partial_fit`, and methods that add or remove rows
        or classes, forget the prior; `calibrate` keeps it, and takes its rows to be as frequent as those of training.
        Sets of classes and unknowns go by the probabilities of training, with held-out rows that count by the prior.

        Parameters
        ----------
        prior : "uniform", None, array-like of shape (k,) or dict
            Shares of the classes in the order of `classes_`, or by label, above 0; they are divided by their sum. None
            for that of training.

        Returns
        -------
        object
            The classifier itself.
        """
        check_is_fitted(self)
        self._forget_prior()
        if prior is None:
            return self
        wanted = as_prior(prior, self.classes_)
        self.trained_intercept_, self.prior_ = self.intercept_, wanted
        self.intercept_ = (self.intercept_ + self._prior_shift(wanted)).astype(self.intercept_.dtype)
        return self

    @rollback_on_error
    def calibrate(self, X: Any, y: Any, known: tuple[Any, Any] | None = None) -> Self:
        prior = getattr(self, "prior_", None)
        self._forget_prior()
        super().calibrate(X, y, known)
        return self.set_prior(prior)

    calibrate.__doc__ = Probabilities.calibrate.__doc__

    def _prior_shift(self, wanted: Doubles) -> Doubles:
        """What a prior adds to the scores (k,)."""
        self._check_all_learned()
        try:
            link = self._link()
        except AttributeError:
            link = ""
        ratio = np.asarray(np.log(wanted) - np.log(self.class_prior_))
        if link == "softmax":
            # A temperature mends what overfitting did to the likelihood; the prior was learned as it is. Measured on
            # letters (docs/results/long_tail.md): 70.7 % in these units, 69.0 in those of the temperature.
            return ratio
        if hasattr(self, "temperature_"):
            return float(self.temperature_) * ratio
        if not link:
            raise ValueError(
                "set_prior needs to know what scores mean as probabilities; call calibrate first, with rows that fit "
                "has not seen, or fit with early_stopping=True, objective='softmax' or loss='logistic'"
            )
        # Each class against the rest is a question of its own, with odds of its own.
        return _log_odds(wanted) - _log_odds(self._machine_prior())

    def _machine_prior(self) -> Doubles:
        """The share of positives among the rows that the machine of each class has seen (k,)."""
        return self.class_prior_

    def _check_all_learned(self) -> None:
        if not hasattr(self, "class_weights_"):
            raise ValueError("set_prior needs the sizes of classes in training, which older files lack; fit again")
        for place in np.flatnonzero(self.class_weights_ <= 0)[:1]:
            raise ValueError(
                "set_prior needs rows of every class in training, or their prior is not known; got none of the class "
                f"{self.classes_.tolist()[place]!r}"
            )

    def _forget_prior(self) -> None:
        """Take back what `set_prior` did."""
        self.__dict__.pop("prior_", None)
        if "trained_intercept_" in self.__dict__:
            self.intercept_ = self.__dict__.pop("trained_intercept_")

    def _count_classes(self, problem: Problem) -> None:
        """Learn the sizes of the classes, all of which were fitted."""
        self.__dict__.pop("imprinted_", None)
        self.class_counts_, self.class_weights_ = class_totals(problem)


def class_totals(problem: Problem) -> tuple[NDArray[np.int64], Doubles]:
    """Of each class of a problem, the rows that count and the sum of their weights (k,)."""
    labels = problem.label_lists(problem.index)
    of_rows = np.repeat(problem.weights[problem.index].astype(np.float64), labels.counts)
    weights = np.bincount(labels.classes, of_rows, problem.k)
    return problem.sizes.astype(np.int64), weights.astype(np.float64)


def as_prior(prior: Any, classes: NDArray[Any]) -> Doubles:
    """Shares of classes, which add up to 1, of what `set_prior` takes.

    >>> as_prior({"a": 1, "b": 3}, np.array(["a", "b"])), as_prior("uniform", np.arange(4))
    (array([0.25, 0.75]), array([0.25, 0.25, 0.25, 0.25]))
    """
    k, rule = len(classes), f"'{UNIFORM}', None, or a number above 0 for each class"
    if isinstance(prior, str):
        if prior != UNIFORM:
            raise ValueError(f"prior must be {rule}; got {prior!r}")
        return np.full(k, 1 / k)
    shares = _by_label(prior, classes) if isinstance(prior, Mapping) else prior
    try:
        found = np.asarray(shares, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"prior must be {rule}; got {type(prior).__name__} of other things") from None
    if found.shape != (k,):
        raise ValueError(f"prior must have a number for each of {k} classes; got shape {found.shape}")
    # Of the largest, lest a sum overflow; what is nothing beside it would never be predicted.
    usable = (found > 0) & np.isfinite(found)
    scaled = found / found.max() if usable.all() else usable.astype(np.float64)
    for place in np.flatnonzero(scaled == 0)[:1]:
        raise ValueError(
            f"prior must hold numbers above 0; got {found[place]:g} for the class {classes.tolist()[place]!r}"
        )
    return np.asarray(scaled / scaled.sum())


def _by_label(prior: Mapping[Any, Any], classes: NDArray[Any]) -> list[Any]:
    labels = classes.tolist()
    known = set(labels)
    for label in prior:
        if label not in known:
            raise ValueError(f"prior must name the classes of the classifier; got {label!r}, which is none of them")
    for label in labels:
        if label not in prior:
            raise ValueError(f"prior must have a number for each of {len(labels)} classes; got none for {label!r}")
    return [prior[label] for label in labels]


def _log_odds(p: Doubles) -> Doubles:
    return np.asarray(np.log(p) - np.log1p(-p))

"""Rows and classes that come and go: what a closed form learns of them is sums, which are added and subtracted."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass._core.models import rollback_on_error
from manyclass._core.typing import Doubles, Floats
from manyclass.data.inputs import open_examples
from manyclass.data.matrix import Matrix
from manyclass.estimators._incremental import check_batch_classes
from manyclass.estimators.class_updates import ClassUpdates
from manyclass.estimators.validation import check_labels, encode_known_labels, encode_new_labels, weighted_problem
from manyclass.solvers.class_moments import ClassMoments
from manyclass.solvers.closed_form import ColumnSystem, RidgeSystem
from manyclass.solvers.imprinting import KnownNegatives, NegativeSums, rows_with_covariance
from manyclass.solvers.problem import Problem

SUMS = ("mean_", "scatter_", "class_sums_", "class_weights_", "class_counts_")  # in the order of `ClassMoments`


class ClosedFormUpdates(ClassUpdates):
    """`partial_fit`, `add_rows`, `remove_rows`, `add_classes` and `remove_classes` of a `SquareLossClassifier`."""

    class_weight: Any
    classes_: NDArray[Any]
    coef_: Floats
    _computing: Callable[[], AbstractContextManager[None]]
    _choose: Callable[[RidgeSystem, Problem, float], None]
    _solve: Callable[[RidgeSystem, Any], None]
    _column_system: Callable[[ClassMoments], ColumnSystem]

    @rollback_on_error
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add these rows to all before, and solve; a strength that is "auto" is chosen by leaving out these rows.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels.
        classes : array-like of shape (k,), default=None
            All labels that will come; required in the first call, unless `fit` came before.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        SquareLossClassifier
            The classifier itself.
        """
        with self._computing():
            known = hasattr(self, "coef_")
            before = self._sums("partial_fit") if known else None
            self.classes_ = check_batch_classes(self, classes, known)
            matrix = open_examples(self, X, reset=not known)
            problem = weighted_problem(self, matrix, encode_known_labels(y, self.classes_, len(matrix)), sample_weight)
            moments = ClassMoments.of(problem)
            moments = moments if before is None else before.plus(moments)
            system = self._column_system(moments)
            self._choose(system, problem, moments.total)
            self._solve(system, matrix.dtype)
        self._keep(moments)
        return self

    @rollback_on_error
    def add_rows(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows of known classes: the machines become those of a fit on all rows, but for rounding.

        The strength and the temperature stay.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        SquareLossClassifier
            The classifier itself.
        """
        with self._computing():
            before = self._sums("add_rows")
            return self._learn(before.plus(self._moments(X, y, sample_weight)))

    @rollback_on_error
    def remove_rows(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Remove rows that were learned: the machines become those of a fit without them, but for rounding.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            The rows.
        y : array-like of shape (n,)
            Their labels; every class must keep a row.
        sample_weight : array-like of shape (n,), default=None
            Their weights, as they were given.

        Returns
        -------
        SquareLossClassifier
            The classifier itself.
        """
        with self._computing():
            before = self._sums("remove_rows")
            gone = self._moments(X, y, sample_weight)
            for place in np.flatnonzero((gone.counts > 0) & (gone.counts >= before.counts))[:1]:
                raise ValueError(
                    f"remove_rows must leave a row of every class; got all {before.counts[place]} of the class "
                    f"{self.classes_.tolist()[place]!r}, or more; use remove_classes for all rows of a class"
                )
            return self._learn(before.minus(gone))

    @rollback_on_error
    def imprint_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn new classes from a few rows of each, even one; the old machines stay the same to the bit.

        Negatives are all rows so far, by their sums, or those that are kept in their place. Rows that are given are
        added to the sums, so that a call of `add_rows` makes all machines, these too, those of a fit on all rows.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Rows of the new classes; rows of old classes are added to the sums, too.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        SquareLossClassifier
            The classifier itself.
        """
        with self._computing():
            self._check_changeable()
            known = hasattr(self, "scatter_") and self.class_weight != "balanced"
            before, old = self._kept_moments() if known else None, self.classes_
            super().imprint_classes(X, y, sample_weight)
            if before is not None:
                spread = before.at(np.searchsorted(self.classes_, old), len(self.classes_))
                self._keep(spread.plus(self._moments(X, y, sample_weight)))
        return self

    @rollback_on_error
    def add_classes(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows of new classes: the machines become those of a fit on all rows, but for rounding.

        New rows are negatives of the old classes, whose machines change too. The strength and the temperature stay. A
        class of a few rows beside others of many has in such a fit a machine that seldom wins; use `imprint_classes`.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        y : array-like of shape (n,)
            Labels; rows of old classes are added too.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; those of weight 0 are left out.

        Returns
        -------
        SquareLossClassifier
            The classifier itself.
        """
        with self._computing():
            before, old = self._sums("add_classes"), self.classes_
            matrix = open_examples(self, X)
            new, _ = encode_new_labels(check_labels(y, len(matrix)), old)
            self.classes_ = np.sort(np.concatenate([old, new]))
            added = self._moments(matrix, y, sample_weight)
            for place in np.flatnonzero(np.isin(self.classes_, new) & (added.counts == 0))[:1]:
                raise ValueError(
                    "add_classes needs a row of every new class whose weight is not zero; "
                    f"got none of the class {self.classes_.tolist()[place]!r}"
                )
            places = np.searchsorted(self.classes_, old)
            self._forget_known_classes()
            self._move_held_out(places)
            return self._learn(before.at(places, len(self.classes_)).plus(added))

    @rollback_on_error
    def remove_classes(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove classes with all of their rows: the machines become those of a fit without them, but for rounding.

        By labels alone, ``remove_classes(["bee"])``, their machines go and the others stay the same to the bit: they
        are those of a fit in which the rows that went are still negatives of all. The sums go then too, as they hold
        those rows.

        Parameters
        ----------
        X : matrix-like of shape (n, d), or label or array-like of labels
            All rows of these classes, as they were given; or the classes, without `y`.
        y : array-like of shape (n,), default=None
            Labels of the rows.
        sample_weight : array-like of shape (n,), default=None
            Their weights, as they were given.

        Returns
        -------
        SquareLossClassifier
            The classifier itself.
        """
        if y is None:
            self._drop_sums()
            return super().remove_classes(X)
        with self._computing():
            before = self._sums("remove_classes")
            gone = self._moments(X, y, sample_weight)
            removed = gone.counts > 0
            for place in np.flatnonzero(removed & (gone.counts != before.counts))[:1]:
                raise ValueError(
                    f"remove_classes needs all {before.counts[place]} rows of the class "
                    f"{self.classes_.tolist()[place]!r}; got {gone.counts[place]}; use remove_rows for some of them"
                )
            if np.count_nonzero(~removed) < 2:
                raise ValueError(f"remove_classes must leave two classes; got {np.count_nonzero(~removed)} that stay")
            left = before.minus(gone).only(~removed)
            self._forget_known_classes()
            self._move_held_out(np.where(removed, -1, np.cumsum(~removed) - 1))
            self._move_settings(self.classes_[~removed], np.flatnonzero(~removed))
            self.classes_ = self.classes_[~removed]
            return self._learn(left)

    def _sums(self, task: str) -> ClassMoments:
        """The sums of all rows so far."""
        check_is_fitted(self)
        if self.class_weight == "balanced":
            raise ValueError(f"class_weight='balanced' needs all labels at once; pass a dictionary for {task}")
        if not hasattr(self, "scatter_"):
            raise ValueError(f"{task} needs the sums over rows, which this fit did not keep; begin with partial_fit")
        return self._kept_moments()

    def _kept_moments(self) -> ClassMoments:
        return ClassMoments(*(getattr(self, name) for name in SUMS))

    def _moments(self, X: Any, y: Any, sample_weight: Any) -> ClassMoments:
        """Those of rows of known classes."""
        matrix = open_examples(self, X)
        indices = encode_known_labels(y, self.classes_, len(matrix))
        return ClassMoments.of(weighted_problem(self, matrix, indices, sample_weight))

    def _learn(self, moments: ClassMoments) -> Self:
        """Solve for other sums, with the strength that there is."""
        self._solve(self._column_system(moments), self.coef_.dtype)
        self._keep(moments)
        return self

    def _negatives(self, X: Matrix, others: NDArray[np.intp]) -> KnownNegatives:
        if not hasattr(self, "scatter_"):
            return super()._negatives(X, others)
        moments = self._kept_moments()
        return NegativeSums(moments.mean, moments.scatter / moments.total, int(moments.counts.sum()))

    def _append_machines(self, new: NDArray[Any], W: Doubles, b: Doubles, counts: NDArray[np.int64]) -> None:
        self._drop_sums()
        super()._append_machines(new, W, b, counts)

    def _drop_sums(self) -> None:
        """Keep rows of the same mean and covariance in the place of sums that will be of other classes."""
        if hasattr(self, "scatter_"):
            moments = self._kept_moments()
            C = moments.scatter / moments.total
            self._keep(None)
            self.negatives_ = rows_with_covariance(moments.mean, C, self.coef_.dtype)

    def _select_machines(self, places: NDArray[np.intp]) -> None:
        moments = self._kept_moments().only(places) if hasattr(self, "scatter_") else None
        super()._select_machines(places)
        if moments is not None:
            self._keep(moments)

    def _keep(self, moments: ClassMoments | None) -> None:
        for name in (*SUMS[:3], "negatives_"):  # the sizes of classes are known in any case
            self.__dict__.pop(name, None)
        self.__dict__.update(zip(SUMS, moments or (), strict=bool(moments)))

"""Unknowns: rows that are of none of the classes, told by how little they look like rows that were held out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from manyclass._core.checks import check_fraction
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats, Singles
from manyclass.data.matrix import Matrix, spans
from manyclass.estimators.uncertainty.held_out import (
    HeldOut,
    has_held_out,
    log_softmax,
    rows_at_once,
    trained_intercept,
)
from manyclass.estimators.uncertainty.known_classes import KnownClasses, KnownJudge


class Unknowns:
    """For linear classifiers with a temperature that know what they say of rows which they have not seen."""

    classes_: NDArray[Any]
    temperature_: float
    held_out_: dict[str, Any]
    known_classes_: dict[str, Any]
    _known_judge: KnownJudge

    def predict(self, X: Any, unknown: float | None = None) -> NDArray[Any]:
        """Predict the class of highest score for each row, or none.

        All scores are never held at once.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        unknown : float, default=None
            The share of rows of known classes that may be called unknown, such as 0.05: rows whose
            `unknown_p_values` are no more than that are said to be of none of the classes. None names a class for all.

        Returns
        -------
        ndarray of shape (n,)
            The classes; with `unknown`, an array of objects, with None for rows of none of them.
        """
        best: NDArray[Any] = super().predict(X)  # type: ignore[misc]
        if unknown is None:
            return best
        has_held_out("predict with `unknown`")(self)
        check_unknown(unknown, len(self.held_out_["losses"]))
        found = best.astype(object)
        found[self.unknown_p_values(X) <= unknown] = None
        return found

    @available_if(has_held_out("unknown_p_values"))  # type: ignore[untyped-decorator]
    def unknown_p_values(self, X: Any) -> Doubles:
        """Compute how likely rows of known classes look as little like such as these rows do.

        Rows are compared with those held out: by the probability of the best class and, where `calibrate` was told the
        rows that were learned from, by the distance to the nearest class or row too, which tells more.

        Parameters
        ----------
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.

        Returns
        -------
        ndarray of shape (n,)
            The p-values: of rows of known classes, like those held out, a share p has at most p. A low one says that
            the row is likely of none of the classes.
        """
        held_out, matrix = HeldOut.of_model(self), self._matrix(X)  # type: ignore[attr-defined]
        k, block = len(self.classes_), self._blocks(trained_intercept(self))  # type: ignore[attr-defined]

        def best(at: slice) -> Floats:
            S = block(matrix.rows(at), at.start)(slice(0, k))
            found: Floats = log_softmax(S, self.temperature_).max(axis=1)
            return found

        with np.errstate(invalid="ignore", over="ignore"):
            found = thread_map(best, spans(len(matrix), rows_at_once(matrix.shape[1], k)))
            sure = np.concatenate([np.zeros(0), *found]).astype(np.float32)
        if not hasattr(self, "known_classes_"):
            return held_out.p_values(sure, sure)
        return held_out.p_values(sure, self._nearness(matrix), float(self.known_classes_["exponent"][0]))

    def _nearness(self, matrix: Matrix) -> Singles:
        """How near rows are to a class, or to a row of one."""
        if not hasattr(self, "_known_judge"):  # which is not kept in files
            self._known_judge = KnownClasses.of_model(self).judge()
        return self._known_judge.all_scores(matrix)


def check_unknown(unknown: float, rows: int) -> None:
    """Refuse a share of rows that is none, or that so many held-out rows cannot tell."""
    check_fraction(unknown, "unknown")
    if unknown * (1 + rows) < 1 - 1e-9:
        raise ValueError(
            f"unknown must be at least {1 / (1 + rows):.2g}, as {rows} held-out rows tell no less; got {unknown!r}; "
            "calibrate with more rows"
        )

"""Unknowns: rows that are of none of the classes, told by how little they look like rows that were held out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from manyclass._core.checks import check_fraction
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles
from manyclass.data.matrix import spans
from manyclass.estimators.uncertainty.held_out import HeldOut, has_held_out, known_scores, rows_at_once


class Unknowns:
    """For linear classifiers with a temperature that know what they say of rows which they have not seen."""

    classes_: NDArray[Any]
    temperature_: float
    held_out_: dict[str, Any]

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
        check_unknown(unknown, len(self.held_out_["known"]))
        found = best.astype(object)
        found[self.unknown_p_values(X) <= unknown] = None
        return found

    @available_if(has_held_out("unknown_p_values"))  # type: ignore[untyped-decorator]
    def unknown_p_values(self, X: Any) -> Doubles:
        """Compute how likely rows of known classes look as little like such as these rows do.

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
        held_out, k = HeldOut.of_model(self), len(self.classes_)
        matrix, block = self._matrix(X), self._blocks()  # type: ignore[attr-defined]

        def of_rows(at: slice) -> Doubles:
            S = block(matrix.rows(at), at.start)(slice(0, k))
            return held_out.p_values(known_scores(S / S.dtype.type(self.temperature_)).astype(np.float32))

        with np.errstate(invalid="ignore", over="ignore"):
            found = thread_map(of_rows, spans(len(matrix), rows_at_once(matrix.shape[1], k)))
            return np.concatenate([np.zeros(0), *found])


def check_unknown(unknown: float, rows: int) -> None:
    """Refuse a share of rows that is none, or that so many held-out rows cannot tell."""
    check_fraction(unknown, "unknown")
    if unknown * (1 + rows) < 1 - 1e-9:
        raise ValueError(
            f"unknown must be at least {1 / (1 + rows):.2g}, as {rows} held-out rows tell no less; got {unknown!r}; "
            "calibrate with more rows"
        )

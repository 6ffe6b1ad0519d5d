"""Encoders whose codes are one product away: A (x - mu), brought to unit length."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyclass import _checks
from manyclass._blas import in_order
from manyclass.data.tiles import spans
from manyclass.exemplar.encoder import TILE, Codes, Doubles, Encoder, unit_rows
from manyclass.exemplar.left_out import left_out_cosines, weight_of_left_out


class LinearEncoder(Encoder):
    """Codes (x - mu)' projection_ of unit length, with mean_ mu (d,) and projection_ (d, p), both float64.

    float64, because the inverse of a covariance magnifies rounding; so a row has the same code alone and among others
    but for the last bit of float32.
    """

    mean_: Doubles
    projection_: Doubles

    def _encode(self, rows: Doubles) -> Doubles:
        return unit_rows((rows - self.mean_) @ self.projection_)

    def _n_codes(self) -> int:
        return int(self.projection_.shape[1])

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shapes that arrays of a saved encoder must have."""
        d, p = fitted["n_features_in_"], fitted["n_features_out_"]
        return {"mean_": (d,), "projection_": (d, p), "pool_": (len(fitted["pool_"]), p)}


class DiscriminativeEncoder(LinearEncoder):
    """A linear encoder whose code is the direction of a classifier of the image against the negatives.

    pool_pull_ (m, d) is what the classifier of an image is pulled by toward each of the pool when that is left out.
    """

    pool_pull_: Codes

    def pool_similarity(self, C: ArrayLike) -> Codes:
        """How alike codes C (n, p) and those of the pool are, (n, m), with each of the pool left out."""
        C = self._check_codes(C, "C")
        pulls = np.concatenate([np.zeros((0, len(self.pool_))), *in_order(self._pulls(C), spans(len(C), TILE))])
        return left_out_cosines(self.similarity(C, self.pool_), pulls)

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shapes that arrays of a saved encoder must have."""
        return {**super().fitted_shapes(fitted), "pool_pull_": (len(fitted["pool_"]), fitted["n_features_in_"])}

    def classifier(self, x: ArrayLike) -> tuple[Doubles, Any]:
        """(w, bias) of the classifier w'z + bias of x (d,); of rows (m, d) all of them, (m, d) and (m,)."""
        rows = one_or_many(self, x)
        W, biases = self._classifiers(rows, (rows - self.mean_) @ self.projection_)
        return (W[0], float(biases[0])) if np.ndim(x) == 1 else (W, biases)

    def _pulls(self, C: Codes) -> Callable[[slice], Codes]:
        return lambda at: C[at] @ self.pool_pull_.T

    def _leave_out(self, rows: Doubles, n: int) -> None:
        rows = rows - self.mean_
        directions = rows @ self.projection_
        weights = weight_of_left_out(np.einsum("ij,ij->i", rows, directions), n)
        lengths = np.sqrt(np.einsum("ij,ij->i", directions, directions))
        self.pool_pull_ = ((weights * lengths)[:, None] * rows).astype(np.float32)

    @abstractmethod
    def _classifiers(self, rows: Doubles, directions: Doubles) -> tuple[Doubles, Doubles]:
        """(W (m, d), biases (m,)) of rows (m, d), of which the directions (x - mu)' projection_ are known."""


def one_or_many(encoder: Encoder, x: Any, name: str = "x") -> Doubles:
    """x (d,) or rows (m, d), a Matrix too, as finite float64 rows (m, d) of as many numbers as it was fitted on."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(encoder)
    rows: Doubles = np.atleast_2d(np.asarray(x.toarray() if hasattr(x, "toarray") else x, np.float64))
    if rows.ndim != 2 or rows.shape[1] != encoder.n_features_in_:
        raise ValueError(f"{name} must have {encoder.n_features_in_} numbers, or rows of them; got shape {np.shape(x)}")
    _checks.finite(rows, name)
    return rows

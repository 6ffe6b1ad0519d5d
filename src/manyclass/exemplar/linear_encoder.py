"""LinearEncoder: embeddings that are one product away, A (x - mu), brought to unit length."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.checks import check_finite
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.matrix import spans
from manyclass.exemplar.encoder import TILE, Encoder, leave_one_out_cosines, leave_one_out_weight


class LinearEncoder(Encoder):
    """Embeddings (x - mu)' projection_ of unit length, with mean_ mu (d,) and projection_ (d, p), both float64.

    float64, because the inverse of a covariance magnifies rounding; so a row has the same embedding alone and among
    others but for the last bit of float32.
    """

    mean_: Doubles
    projection_: Doubles

    def _encode(self, rows: Doubles) -> Doubles:
        return unit_rows((rows - self.mean_) @ self.projection_)

    def _embedding_size(self) -> int:
        return int(self.projection_.shape[1])

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the arrays of a saved encoder must have.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict of str to tuple
            Shapes by attribute.
        """
        d, p = fitted["n_features_in_"], fitted["n_features_out_"]
        return {"mean_": (d,), "projection_": (d, p), "background_": (len(fitted["background_"]), p)}


class DiscriminativeEncoder(LinearEncoder):
    """Linear encoder whose embedding is the direction of a classifier of the image against the negatives.

    `background_pull_` (m, d) is the leave-one-out correction: the direction in which the classifier of an image moves
    toward each of the background set when that negative is left out.
    """

    background_pull_: Embeddings

    def background_similarity(self, C: ArrayLike) -> Embeddings:
        """Compute the similarity of embeddings and the background set, each of which is left out of the fit in turn.

        Parameters
        ----------
        C : array-like of shape (n, n_features_out)
            Embeddings.

        Returns
        -------
        ndarray of shape (n, n_background), float32
            Leave-one-out similarities.
        """
        C = self._check_embeddings(C, "C")
        pulls = np.concatenate([np.zeros((0, len(self.background_))), *thread_map(self._pulls(C), spans(len(C), TILE))])
        return leave_one_out_cosines(self.similarity(C, self.background_), pulls)

    def fitted_shapes(self, fitted: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """Return the shapes that the arrays of a saved encoder must have.

        Parameters
        ----------
        fitted : dict
            Fitted attributes by name.

        Returns
        -------
        dict of str to tuple
            Shapes by attribute.
        """
        return {
            **super().fitted_shapes(fitted),
            "background_pull_": (len(fitted["background_"]), fitted["n_features_in_"]),
        }

    def classifier(self, x: ArrayLike) -> tuple[Doubles, Any]:
        """Return the classifier w'z + bias of an image, or those of several.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (n_images, n_features)
            Vector of an image, or of several.

        Returns
        -------
        w : ndarray of shape (n_features,) or (n_images, n_features), float64
            Weights.
        bias : float or ndarray of shape (n_images,)
            Intercept.
        """
        rows = one_or_many(self, x)
        W, biases = self._classifiers(rows, (rows - self.mean_) @ self.projection_)
        return (W[0], float(biases[0])) if np.ndim(x) == 1 else (W, biases)

    def _pulls(self, C: Embeddings) -> Callable[[slice], Embeddings]:
        return lambda at: C[at] @ self.background_pull_.T

    def _prepare_leave_one_out(self, rows: Doubles, n: int) -> None:
        rows = rows - self.mean_
        directions = rows @ self.projection_
        weights = leave_one_out_weight(np.einsum("ij,ij->i", rows, directions), n)
        lengths = np.sqrt(np.einsum("ij,ij->i", directions, directions))
        self.background_pull_ = ((weights * lengths)[:, None] * rows).astype(np.float32)

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
    check_finite(rows, name)
    return rows

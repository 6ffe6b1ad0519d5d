"""Encoder: what all exemplar machines have in common, from negatives to embeddings.

`auto_regularization` is how strong machines are regularized where nobody says.

The last functions are the leave-one-out correction: how alike an image is to one that the machines have not been fitted
on. Machines h = A^-1 (x - mu) are made to tell images from the very negatives x_1 ... x_n, so that these seem less
alike to any image than others do: the more so, the fewer they are beside the dimensions. Without x_i, with
d = x_i - mu,

    A becomes, up to a factor and but for lambda / n,  A - d d' / (n - 1),

by which (Sherman and Morrison) the machine of x_i keeps its direction, and h becomes h + pull_i h_i, where

    pull_i = (d'h + 1) / (n - 1 - d'h_i),

and the 1, for the mean moves too, is little beside d'h. Embeddings of unit length do not tell it and do without.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from manyclass._core.algebra.singular import top_singular_value
from manyclass._core.checks import check_count, check_finite
from manyclass._core.models import rollback_on_error
from manyclass._core.parallel import for_each, one_blas_thread, thread_map
from manyclass._core.progress_display import get_logger
from manyclass._core.typing import Doubles, Embeddings
from manyclass.data.inputs import open_examples, open_features
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import column_means, mean_square
from manyclass.data.views import RowSelection

_LOG = get_logger("exemplar")

TILE = 1024  # rows that are encoded at once


class Encoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of encoders that are fitted on negatives and give every image an embedding of its own.

    A subclass defines

    - `_fit(matrix)`: learn from the negatives, a checked Matrix, and set fitted attributes;
    - `_encode(rows)`: embeddings (m, p) of rows (m, d) float64, each row by itself;
    - `_embedding_size()`: p;
    - `_check_settings()`, and `similarity` if embeddings are not compared by their inner products.

    `n_background` and `random_state` are parameters of every encoder. `former_names` maps parameters and fitted
    attributes of files that earlier versions wrote to what they are called now.
    """

    former_names: ClassVar[dict[str, str]] = {
        "pool": "n_background",
        "pool_": "background_",
        "pool_leverage_": "background_leverage_",
        "pool_pull_": "background_pull_",
    }

    n_background: int
    random_state: Any
    n_features_in_: int
    n_features_out_: int
    background_: Embeddings  # (at most `n_background`, p)

    @rollback_on_error
    def fit(self, negatives: Any, y: Any = None) -> Self:
        """Fit the encoder on negatives.

        After an error or Ctrl-C the encoder is unchanged.

        Parameters
        ----------
        negatives : array-like, Matrix or path of shape (n_negatives, n_features)
            Vectors of unrelated images.
        y : None
            Ignored.

        Returns
        -------
        Encoder
            The fitted encoder itself.
        """
        check_count(self.n_background, "n_background")
        self._check_settings()
        matrix = open_examples(self, negatives, reset=True)
        _LOG.info("%s: learning from %d negatives of %d numbers", type(self).__name__, *matrix.shape)
        with one_blas_thread():
            self._fit(matrix)
            self._finish(matrix)
        return self

    def transform(self, X: Any) -> Embeddings:
        """Compute the embeddings of images, block by block.

        Parameters
        ----------
        X : array-like, Matrix or path of shape (n_images, n_features)
            Vectors of images.

        Returns
        -------
        ndarray of shape (n_images, n_features_out), float32
            Embeddings, each of which depends on its own row alone.
        """
        check_is_fitted(self)
        return self._embed(open_features(self, X))

    @property
    def inner_product(self) -> bool:
        """Whether the similarity of embeddings is their inner product."""
        return type(self).similarity is Encoder.similarity

    def similarity(self, C: ArrayLike, D: ArrayLike) -> Embeddings:
        """Compute the similarity of embeddings: their inner products, which are cosines of the classifiers.

        Parameters
        ----------
        C : array-like of shape (n, n_features_out)
            Embeddings.
        D : array-like of shape (m, n_features_out)
            Embeddings to compare with.

        Returns
        -------
        ndarray of shape (n, m), float32
            Similarities; more is more alike.
        """
        C, D = self._check_embeddings(C, "C"), self._check_embeddings(D, "D")
        found = thread_map(lambda rows: C[rows] @ D.T, spans(len(C), TILE))
        return np.concatenate([np.zeros((0, len(D)), np.float32), *found])

    def background_similarity(self, C: ArrayLike) -> Embeddings:
        """Compute the similarity of embeddings and the background set, with leave-one-out correction if possible.

        An image is less similar to the negatives that its encoder was fitted on than to other unrelated images.
        Encoders with a closed form for the fit without one negative correct for that; for others this is `similarity(C,
        background_)`.

        Parameters
        ----------
        C : array-like of shape (n, n_features_out)
            Embeddings.

        Returns
        -------
        ndarray of shape (n, n_background), float32
            Similarities.
        """
        return self.similarity(C, self.background_)

    def default_grid(self, negatives: Matrix) -> dict[str, list[Any]]:
        """Propose values for the parameters that `calibrate` chooses.

        Parameters
        ----------
        negatives : Matrix of shape (n_negatives, n_features)
            Vectors of unrelated images.

        Returns
        -------
        dict of str to list
            Values by parameter; empty if there is nothing to choose.
        """
        if not hasattr(self, "regularization"):
            return {}
        square = mean_square(negatives, column_means(negatives)) or 1.0
        return {"regularization": ["auto", *(square * np.logspace(-6, 1, 15)).tolist()]}

    def trials(self, negatives: Any, settings: Sequence[dict[str, Any]]) -> Iterator["Encoder"]:
        """Fit a copy of this encoder with each of several settings, for comparison.

        Parameters
        ----------
        negatives : array-like, Matrix or path of shape (n_negatives, n_features)
            Vectors of unrelated images.
        settings : sequence of dict
            Parameters of each copy.

        Yields
        ------
        Encoder
            A fitted copy, whose background set has one image.
        """
        for setting in settings:
            yield clone(self).set_params(**setting, n_background=1).fit(negatives)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted encoder to one safetensors file, which `manyclass.load` reads.

        Parameters
        ----------
        path : path-like
            File to write.
        """
        from manyclass._core.models import save_model

        save_model(self, path)

    @abstractmethod
    def _fit(self, matrix: Matrix) -> None: ...

    @abstractmethod
    def _encode(self, rows: Doubles) -> Doubles: ...

    @abstractmethod
    def _embedding_size(self) -> int: ...

    def _finish(self, matrix: Matrix) -> None:
        self.n_features_out_ = self._embedding_size()
        n = len(matrix)
        drawn = sample_without_replacement(n, min(self.n_background, n), random_state=self.random_state)
        background = RowSelection(matrix, np.sort(drawn))
        self.background_ = self._embed(background)
        self._prepare_leave_one_out(background.rows(slice(None)).astype(np.float64), n)

    def _prepare_leave_one_out(self, rows: Doubles, n: int) -> None:
        """Keep what `background_similarity` needs of the background set's rows (m, d), which are among n negatives."""

    def _check_settings(self) -> None:
        return

    def _embed(self, matrix: Matrix) -> Embeddings:
        """Embeddings of rows that may be anything, so they are checked; a matrix is never held as a whole."""
        out = np.empty((len(matrix), self.n_features_out_), np.float32)

        def fill(at: slice) -> None:
            rows = matrix.rows(at).astype(np.float64)
            check_finite(rows, "X", at.start)
            out[at] = self._encode(rows)

        for_each(fill, spans(len(matrix), TILE))
        return out

    def _check_embeddings(self, C: ArrayLike, name: str) -> Embeddings:
        check_is_fitted(self)
        C = np.asarray(C, np.float32)
        if C.ndim != 2 or C.shape[1] != self.n_features_out_:
            raise ValueError(
                f"{name} must have shape (n, {self.n_features_out_}), as transform returns it; got {C.shape}"
            )
        return C

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def auto_regularization(covariance: Doubles) -> float:
    """The largest eigenvalue of the covariance of the negatives (d, d): lambda by the spectrum.

    Directions in which negatives vary most then count half, and others ever more: halfway from cosines to discriminant
    analysis, whatever the scale of the features, their number and that of the negatives. What it gives is on the page
    docs/results/search_defaults.md; a tenth of it lost up to 35 points to cosines, ten times it gained less.

    >>> auto_regularization(np.diag([1.0, 4.0])), auto_regularization(np.zeros((2, 2)))
    (4.0, 1.0)
    """
    return top_singular_value(covariance) or 1.0


# Of a negative whose leverage is 1 the others tell nothing; then there is no machine without it.
_LEAST_REST = 1e-9


def leave_one_out_weight(leverages: Doubles, n: int) -> Doubles:
    """1 / (n - 1 - d'h_i), by which d'h is to be multiplied, from d'h_i (m,); 0 where that has no meaning.

    >>> leave_one_out_weight(np.array([0.0, 5.0, 10.0]), 11)
    array([0.1, 0.2, 0. ])
    """
    rest = (n - 1) - leverages
    return np.divide(1.0, rest, out=np.zeros_like(rest), where=rest > _LEAST_REST * max(1, n - 1))


def leave_one_out_cosines(cosines: NDArray[np.float32], pulls: NDArray[np.floating]) -> NDArray[np.float32]:
    """Cosines (q, m) of h + pull_i h_i and h_i, from those of h and h_i and from pull_i |h_i| / |h| (q, m).

    >>> leave_one_out_cosines(np.zeros((1, 2), np.float32), np.array([[0.0, 0.75]])).round(3)
    array([[0. , 0.6]], dtype=float32)
    """
    c, p = cosines.astype(np.float64), np.asarray(pulls, np.float64)
    lengths = np.sqrt(np.maximum(1 + 2 * p * c + p * p, 0))
    return np.divide(c + p, lengths, out=np.zeros_like(c), where=lengths > 0).astype(np.float32)

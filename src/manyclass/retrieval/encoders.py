"""What a gallery asks of an encoder, and CosineEncoder, for vectors that are compared as they are."""

import os
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.algebra.linalg import unit_rows
from manyclass._core.checks import check_finite
from manyclass._core.parallel import for_each, one_blas_thread
from manyclass._core.typing import Embeddings
from manyclass.data.matrix import spans
from manyclass.data.readers.as_matrix import as_matrix


class EncoderProtocol(Protocol):
    """What a gallery asks of an encoder: `transform` gives new arrays, and `background_` may have no rows.

    `inner_product`, if it has one, tells that `similarity` is C @ D.T. `background_similarity(C)`, if it has one, is
    used for that of embeddings and the background set: negatives that an encoder was fitted on are less similar to an
    image than other unrelated images.
    """

    n_features_in_: int
    n_features_out_: int
    background_: NDArray[np.float32]

    def transform(self, X: Any) -> Any: ...

    def similarity(self, C: Any, D: Any) -> Any: ...

    def save(self, path: str | os.PathLike[str]) -> None: ...


class CosineEncoder:
    """Vectors as they are, brought to unit length: the product is the cosine. Zeros stay zeros, like nothing.

    >>> CosineEncoder(2).transform([[3, 4], [0, 0]])
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """

    inner_product = True

    def __init__(self, d: int, background: Any = None):
        self.n_features_in_ = self.n_features_out_ = d
        self.background_: Embeddings = (
            np.zeros((0, d), np.float32) if background is None else self.transform(background)
        )

    def transform(self, X: Any) -> Embeddings:
        """Rows (n, d) of unit length, float32."""
        matrix = as_matrix(X)
        if matrix.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have {self.n_features_in_} columns, as the gallery has; got {matrix.shape[1]}")
        out = np.empty(matrix.shape, np.float32)

        def fill(at: slice) -> None:
            rows = matrix.rows(at)
            check_finite(rows, "X", at.start)
            out[at] = unit_rows(rows.astype(np.float64))

        for_each(fill, spans(len(matrix), 1024))
        return out

    def similarity(self, C: Any, D: Any) -> Embeddings:
        """Cosines (n, m)."""
        with one_blas_thread():
            product: Embeddings = np.asarray(C, np.float32) @ np.asarray(D, np.float32).T
        return product


def check_encoder(encoder: Any, name: str) -> None:
    """Refuse what cannot encode images, or not yet."""
    needed = ("transform", "similarity", "background_", "n_features_in_", "n_features_out_")
    if isinstance(encoder, type) or (missing := [name for name in needed if not hasattr(encoder, name)]):
        lacking = "a class" if isinstance(encoder, type) else f"a {type(encoder).__name__} without {missing[0]}"
        raise ValueError(f"{name} must be a fitted encoder such as SquareLossExemplar().fit(negatives); got {lacking}")


def is_inner_product(encoder: Any) -> bool:
    """Whether the similarity of embeddings is their inner product, so that they may be added up."""
    return bool(getattr(encoder, "inner_product", False))

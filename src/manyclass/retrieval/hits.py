"""Hits: what a search has found."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Hits:
    """Results of a search, best first; images with equal scores are in gallery order.

    k is the number asked for, or the number of images that can be found if that is less. The last three attributes need
    a background set of unrelated images and are None without one. They are computed from the similarity of image and
    query itself, even if `scores` are those of an expanded query or of a re-ranking.

    The scores of a query against the background set estimate the p-value of a score s, the probability that an
    unrelated image scores at least s. Among N images searched, N p is the E-value, the expected number of false
    matches. The best image is a match if its E-value is at most -log(1 - false_match).

    Parameters
    ----------
    ids : ndarray of shape (n_queries, k)
        Ids of the images, int64 or strings.
    scores : ndarray of shape (n_queries, k), float32
        Similarities to the query, or the scores of a re-ranking.
    percentiles : ndarray of shape (n_queries, k), default=None
        Percentage of the background set that is less similar to the query than the image is.
    false_matches : ndarray of shape (n_queries, k), default=None
        E-value: the number of searched images that would score as high if all were unrelated to the query.
    matched : ndarray of shape (n_queries,), default=None
        Whether the best image is more similar than chance explains.
    """

    ids: NDArray[Any]
    scores: NDArray[np.float32]
    percentiles: NDArray[np.float64] | None = None
    false_matches: NDArray[np.float64] | None = None
    matched: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.ids)

    def __iter__(self) -> Iterator[list[tuple[Any, float]]]:
        """(id, score) of the images of each query, as plain lists."""
        return (list(zip(i, s, strict=True)) for i, s in zip(self.ids.tolist(), self.scores.tolist(), strict=True))

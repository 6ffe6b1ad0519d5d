"""Hits: what a search has found."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Hits:
    """The k best images (q, k) of each of q queries, best first; equals stand in the order of the gallery.

    k is what was asked for, or the number of images that could be found where that is less. The last three need a pool
    of unrelated images, and are None without one:

    - `percentiles`: how many of the pool, in percent, are less similar to the query than the image is;
    - `false_matches`: how many of the images that were searched through would be so similar if all were unrelated;
    - `matched` (q,): whether the best image is more similar than chance explains.

    They go by the similarity of image and query itself, also where `scores` are those of an expanded query or of a
    re-ranking.
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

"""KReciprocal: images that find the query as it finds them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class KReciprocal:
    """Re-ranking with k-reciprocal encoding (Zhong et al., CVPR 2017).

    Two images are neighbors if each is among the k1 nearest of the other. The neighborhood of an image is extended by
    the neighborhoods of its neighbors (of half the size) that overlap it by two thirds, weighted by exp(-distance), and
    averaged over its k2 nearest images. The new score is

        weight * similarity + (1 - weight) * (weighted overlap of the neighborhoods of query and image)

    and all neighborhoods are taken within the query and its candidates.

    Parameters
    ----------
    k1 : int, default=20
        Size of a neighborhood.
    k2 : int, default=6
        Number of images over which neighborhoods are averaged.
    weight : float, default=0.3
        Weight of the original similarity, from 0 to 1; 1 leaves the order unchanged.
    n_candidates : int, default=100
        Number of best images of a query that are re-ranked.
    """

    k1: int = 20
    k2: int = 6
    weight: float = 0.3
    n_candidates: int = 100

    def __post_init__(self) -> None:
        for name in ("k1", "k2", "n_candidates"):
            _checks.count(getattr(self, name), name)
        if not 0 <= _checks.nonnegative(self.weight, "weight") <= 1:
            raise ValueError(f"weight must be from 0 to 1; got {self.weight!r}")

    def scores(self, S: NDArray[Any]) -> Doubles:
        """Compute the new scores of m images.

        Parameters
        ----------
        S : ndarray of shape (1 + m, 1 + m)
            Similarities of the query, which is first, and the images.

        Returns
        -------
        ndarray of shape (m,), float64
            New scores of the images.
        """
        S = S.astype(np.float64)
        V = self._neighborhoods(S)
        shared = np.minimum(V[:1], V).sum(axis=1)
        overlap = shared / np.maximum(np.maximum(V[:1], V).sum(axis=1), np.finfo(np.float64).tiny)
        scores: Doubles = self.weight * S[0, 1:] + (1 - self.weight) * overlap[1:]
        return scores

    def _neighborhoods(self, S: Doubles) -> Doubles:
        """V (1 + m, 1 + m): how much each belongs to the neighborhood of each, rows of sum 1."""
        order = np.argsort(-S, axis=1, kind="stable")
        near, half = _mutual(order, self.k1 + 1), _mutual(order, (self.k1 + 1) // 2 + 1)
        sizes = half.sum(axis=1)
        # half[c] joins the neighborhood of i if c belongs to it and most of half[c] does.
        common = near.astype(np.float64) @ half.T
        joins = near & (common > 2 / 3 * sizes)
        wide = near | (joins.astype(np.float64) @ half > 0)
        V = np.where(wide, np.exp(S), 0.0)
        V /= V.sum(axis=1, keepdims=True)
        return V if self.k2 == 1 else V[order[:, : self.k2]].mean(axis=1)


def _mutual(order: NDArray[np.intp], k: int) -> NDArray[np.bool_]:
    """Whether each of two is among the first k of the other's order; each counts as its own neighbor."""
    n = len(order)
    among = np.zeros((n, n), bool)
    among[np.arange(n)[:, None], order[:, :k]] = True
    np.fill_diagonal(among, True)
    mutual: NDArray[np.bool_] = among & among.T
    return mutual

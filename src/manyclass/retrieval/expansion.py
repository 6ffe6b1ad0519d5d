"""QueryExpansion: a query and what it found, as a new query."""

from dataclasses import dataclass

import numpy as np

from manyclass import _checks
from manyclass.retrieval.pieces import Codes


@dataclass(frozen=True)
class QueryExpansion:
    """Query expansion: search again with the query and its nearest images.

    The expanded query is, scaled to unit length,

        q + sum_i max(s_i, 0)^alpha x_i

    where x_1 ... x_m are the nearest images of q and s_i their scores. alpha = 0 is average query expansion (Chum et
    al., ICCV 2007); a positive alpha is alpha query expansion (Radenović et al., TPAMI 2018), which weights the nearest
    most.

    Parameters
    ----------
    neighbors : int, default=10
        Number of images m that are added to the query.
    alpha : float, default=0.0
        Exponent of the scores, at least 0.
    """

    neighbors: int = 10
    alpha: float = 0.0

    def __post_init__(self) -> None:
        _checks.count(self.neighbors, "neighbors")
        _checks.nonnegative(self.alpha, "alpha")

    def expanded(self, C: Codes, scores: Codes, found: Codes) -> Codes:
        """Compute expanded queries.

        Parameters
        ----------
        C : ndarray of shape (n_queries, n_features), float32
            Embeddings of the queries.
        scores : ndarray of shape (n_queries, m), float32
            Scores of their nearest images.
        found : ndarray of shape (n_queries, m, n_features), float32
            Embeddings of these images.

        Returns
        -------
        ndarray of shape (n_queries, n_features), float32
            Embeddings of unit length.
        """
        weights = np.maximum(scores.astype(np.float64), 0) ** self.alpha
        total = C + np.einsum("qm,qmd->qd", weights, found)
        lengths = np.linalg.norm(total, axis=1, keepdims=True)
        return np.ascontiguousarray(total / np.where(lengths > 0, lengths, 1), np.float32)

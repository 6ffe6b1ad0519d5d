"""QueryExpansion: a query and what it found, as a new query."""

from dataclasses import dataclass

import numpy as np

from manyclass import _checks
from manyclass.retrieval.pieces import Codes


@dataclass(frozen=True)
class QueryExpansion:
    """The query q plus its nearest images x_1 ... x_m, each weighted by its score to the power alpha, at unit length:

        q + sum_i max(s_i, 0)^alpha x_i

    alpha = 0 is average query expansion (Chum et al., ICCV 2007), a positive one alpha query expansion (Radenović et
    al., TPAMI 2018), which trusts the nearest most.
    """

    neighbors: int = 10
    alpha: float = 0.0

    def __post_init__(self) -> None:
        _checks.count(self.neighbors, "neighbors")
        _checks.nonnegative(self.alpha, "alpha")

    def expanded(self, C: Codes, scores: Codes, found: Codes) -> Codes:
        """New queries (q, d) from queries (q, d), scores (q, m) and codes (q, m, d) of what they found."""
        weights = np.maximum(scores.astype(np.float64), 0) ** self.alpha
        total = C + np.einsum("qm,qmd->qd", weights, found)
        lengths = np.linalg.norm(total, axis=1, keepdims=True)
        return np.ascontiguousarray(total / np.where(lengths > 0, lengths, 1), np.float32)

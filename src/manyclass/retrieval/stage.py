"""Stage: a space in which images are compared, and the embeddings of a gallery's images in it."""

from typing import Any

import numpy as np

from manyclass.retrieval.exact import Best, best_by_product, best_by_similarity
from manyclass.retrieval.pieces import Codes, Pieces, Positions, as_codes
from manyclass.retrieval.spaces import has_products


class Stage:
    """An encoder and the embeddings by position, those of removed images included."""

    def __init__(self, space: Any, rows: Pieces | None = None):
        self.space = space
        self.rows = Pieces(space.n_features_out_) if rows is None else rows

    def codes(self, X: Any) -> Codes:
        """Embeddings of images."""
        return as_codes(self.space.transform(X), self.rows.d)

    def best(self, C: Codes, positions: Positions | None, k: int) -> Best:
        """The k most similar images of each query, exactly."""
        if has_products(self.space):
            best = best_by_product(C, self.rows, positions, k)
        else:
            best = best_by_similarity(self.space.similarity, C, self.rows, positions, k)
        if (best[1] < 0).any():
            raise ValueError(f"similarities must be finite numbers; those of {type(self.space).__name__} are not")
        return best

    def scores(self, C: Codes, found: Positions) -> Codes:
        """Similarities (q, k) of queries and images that were found for them."""
        scores = np.empty(found.shape, np.float32)
        for q, places in enumerate(found):
            scores[q] = self.space.similarity(C[q : q + 1], self.rows.rows(places))[0]
        return scores

    def background(self, C: Codes) -> Codes | None:
        """Similarities (q, m) of the queries to the background set of unrelated images, if there is one."""
        if not len(self.space.background_):
            return None
        if hasattr(self.space, "background_similarity"):
            return np.asarray(self.space.background_similarity(C), np.float32)
        return np.asarray(self.space.similarity(C, self.space.background_), np.float32)


def sort_best(scores: Codes, found: Positions) -> Best:
    """What was found, best first, the first in the gallery among equals."""
    order = np.lexsort((found, -scores), axis=1)
    return np.take_along_axis(scores, order, 1), np.take_along_axis(found, order, 1)

"""QueryMethods: the ways to ask a gallery, by vectors, images, ids, examples or embeddings."""

from typing import Any

import numpy as np

from manyclass._core.typing import Embeddings
from manyclass.data.readers.as_matrix import as_matrix
from manyclass.retrieval.catalog import as_ids
from manyclass.retrieval.encoders import CosineEncoder
from manyclass.retrieval.gallery_search import Ranking, as_background, as_queries, find_hits
from manyclass.retrieval.reranking import KReciprocal, QueryExpansion
from manyclass.retrieval.search import FlatIndex, Hits
from manyclass.retrieval.storage.segments import GalleryState


class QueryMethods:
    """What `Gallery` answers; what it holds, and by which encoders, is told by the class that derives from this."""

    encoder: Any
    reranker: Any
    features: Any
    n_candidates: int
    false_match: float
    own_background: bool
    _state: GalleryState

    def _indexes(self, d: int | None) -> list[FlatIndex]:
        raise NotImplementedError

    def _encode(self, X: Any) -> list[Embeddings]:
        raise NotImplementedError

    def search(
        self,
        Q: Any,
        k: int = 10,
        where: Any = None,
        *,
        expansion: QueryExpansion | None = None,
        reranking: KReciprocal | None = None,
    ) -> Hits:
        """Find the k most similar images of each query.

        Parameters
        ----------
        Q : array-like, Matrix or path of shape (n_queries, n_features) or (n_features,)
            Vectors of the queries.
        k : int, default=10
            Number of images per query.
        where : mask, ids, dict or callable, default=None
            Filter: a boolean mask in gallery order, ids, metadata such as {"year": 2019} or {"year": [2018, 2019]}, or
            a predicate on the metadata of an image.
        expansion : QueryExpansion, default=None
            Search again with an expanded query.
        reranking : KReciprocal, default=None
            Re-rank the best images by their own neighbors; `Hits.scores` are then those of the re-ranking.

        Returns
        -------
        Hits
            Ids and scores of shape (n_queries, k), best first.
        """
        return self._search(self._encode(as_rows(Q)), k, where, expansion, reranking)

    def search_images(
        self,
        images: Any,
        k: int = 10,
        where: Any = None,
        *,
        expansion: QueryExpansion | None = None,
        reranking: KReciprocal | None = None,
    ) -> Hits:
        """Find the k most similar images of each query image.

        Parameters
        ----------
        images : sequence of path or array
            Query images, as `read_image` takes them.
        k : int, default=10
            Number of images per query.
        where : mask, ids, dict or callable, default=None
            Filter, as in `search`.
        expansion : QueryExpansion, default=None
            Search again with an expanded query.
        reranking : KReciprocal, default=None
            Re-rank the best images by their own neighbors.

        Returns
        -------
        Hits
            Ids and scores of shape (n_queries, k), best first.
        """
        if self.features is None:
            raise ValueError("search_images needs a gallery with features, an image encoder; got none")
        return self.search(self.features.transform(images), k, where, expansion=expansion, reranking=reranking)

    def search_ids(
        self,
        ids: Any,
        k: int = 10,
        where: Any = None,
        *,
        expansion: QueryExpansion | None = None,
        reranking: KReciprocal | None = None,
    ) -> Hits:
        """Find the k images that are most similar to each of some images in the gallery.

        An image is never among its own results. If `where` leaves fewer than k to one of them, all have as few results.

        Parameters
        ----------
        ids : int, str or sequence of them
            Ids of images in the gallery.
        k : int, default=10
            Number of images per query.
        where : mask, ids, dict or callable, default=None
            Filter, as in `search`.
        expansion : QueryExpansion, default=None
            Search again with an expanded query.
        reranking : KReciprocal, default=None
            Re-rank the best images by their own neighbors.

        Returns
        -------
        Hits
            Ids and scores of shape (n_ids, at most k), best first.
        """
        own = self._state.catalog.positions(as_ids(ids))
        codes = [index.embeddings.rows(own) for index in self._indexes(None)]
        return self._search(codes, k, where, expansion, reranking, own=own)

    def search_examples(self, positives: Any, negatives: Any = None, k: int = 10, where: Any = None) -> Hits:
        """Find the k images that are most like all positives and unlike the negatives, as one query.

        The encoder fits one classifier, against its own negatives too; one positive alone is the same as `search`.

        Parameters
        ----------
        positives : array-like or Matrix of shape (n_positives, n_features)
            Vectors of wanted images.
        negatives : array-like or Matrix of shape (n_negatives, n_features), default=None
            Vectors of unwanted images.
        k : int, default=10
            Number of images.
        where : mask, ids, dict or callable, default=None
            Filter, as in `search`.

        Returns
        -------
        Hits
            Ids and scores of shape (1, k), best first.
        """
        if not hasattr(self.encoder, "examples_classifier") or self.reranker is not None:
            raise ValueError(
                "search_examples needs a gallery without reranker, whose encoder has examples_classifier, such as "
                f"SquareLossExemplar; got {self!r}"
            )
        w, _ = self.encoder.examples_classifier(positives, negatives)
        code = np.ascontiguousarray(CosineEncoder(len(w)).transform(w[None]))
        return self._search([code], k, where)

    def search_embeddings(self, C: Any, k: int = 10, where: Any = None, background: Any = None) -> Hits:
        """Find the k images whose embeddings have the highest inner products with each of some vectors.

        Parameters
        ----------
        C : array-like of shape (n_queries, n_features_out) or (n_features_out,)
            Embeddings, as `codes` returns them, or weights of classifiers of them, as `RelevanceFeedback` makes them.
        k : int, default=10
            Number of images per query.
        where : mask, ids, dict or callable, default=None
            Filter, as in `search`.
        background : array-like of shape (n_queries, n_background) or (n_background,), default=None
            Scores of unrelated images, by which alone hits are judged; with None they are as in `search`.

        Returns
        -------
        Hits
            Ids and scores of shape (n_queries, k), best first.
        """
        code = as_queries(C, self._indexes(np.shape(C)[-1] if np.ndim(C) else 1))
        return self._search([code], k, where, background=as_background(background, len(code)))

    def _search(self, codes: list[Embeddings], k: int, where: Any, *better: Any, **judged: Any) -> Hits:
        """Hits by the embeddings of queries, one array per encoder; `better` are expansion and reranking."""
        ranking = Ranking(self._indexes(codes[0].shape[1]), self.n_candidates, self._state.approximate, *better)
        return find_hits(self._state, ranking, codes, k, where, self.false_match, self.own_background, **judged)


def as_rows(X: Any) -> Any:
    """X as a Matrix; one vector is one row."""
    return as_matrix(np.asarray(X)[None] if isinstance(X, np.ndarray | list | tuple) and np.ndim(X) == 1 else X)

"""Gallery: images that can be added, removed and searched."""

import os
from typing import Any, Self

from numpy.typing import NDArray

from manyclass._core.checks import check_count, check_positive
from manyclass._core.sealed import parse_json
from manyclass._core.typing import Embeddings
from manyclass.data.readers.as_matrix import as_matrix
from manyclass.retrieval.catalog import Catalog, as_ids, distinct_ids
from manyclass.retrieval.encoders import CosineEncoder, check_encoder, is_inner_product
from manyclass.retrieval.faiss_index import EXACT, FaissIndex, check_index
from manyclass.retrieval.metadata import Record, as_metadata
from manyclass.retrieval.neighbors import NeighborTable
from manyclass.retrieval.query_methods import QueryMethods, as_rows
from manyclass.retrieval.search import FlatIndex
from manyclass.retrieval.storage.segments import GalleryState, LazyModel


class Gallery(QueryMethods):
    """Collection of images that is searched by similarity.

    Search is exact unless `index` names an approximate one. The embedding of an image depends on the encoder alone, so
    after any sequence of changes the gallery returns the same results as one built from scratch. Images with equal
    scores are returned in gallery order, the order in which they were added; an updated image moves to the end.

    Parameters
    ----------
    encoder : Encoder, default=None
        Fitted encoder of `manyclass.exemplar`, or any object with `transform`, `similarity`, `background_`,
        `n_features_in_`, `n_features_out_` and `save`. With None, vectors are compared as they are, by cosine
        similarity. It is not copied; do not refit it, because the embeddings in the gallery would no longer match.
    reranker : Encoder, default=None
        Second encoder, which re-scores the `n_candidates` best images of the first. Useful for kernel machines, whose
        similarity is expensive. The gallery keeps its embeddings too, and scores are then those of the reranker.
    n_candidates : int, default=1000
        Number of images that the first encoder passes to the reranker.
    background : array-like or Matrix of shape (n_background, n_features), default=None
        Vectors of unrelated images, against which scores are judged. Only without an encoder, which has its own.
    false_match : float, default=0.05
        Probability that a query with no related image in the gallery is reported as matched.
    things : str, default=None
        Metadata column that tells what an image shows, so that images of one thing are not strangers to each other;
        with None each shows something else.
    index : str, default=None
        Approximate index of the library faiss: "hnsw", "ivf" or "pq4", or a factory string of faiss such as "HNSW32".
        It makes a shortlist, whose scores are exact. None or "exact" searches all images, as filtered searches do.
    own_background : bool, default=False
        Whether the background set, or the negatives of the encoder, are images of the gallery itself or of its kind.
        Some of them then show what a query shows: only the bulk of their scores is believed, and they do not say
        whether a query is matched where p-values do.
    features : ImageEncoder, default=None
        Fitted image encoder that produced the vectors, such as `FisherVectors`; `search_images` needs it. It is saved
        with the gallery and loaded when first needed.
    provenance : dict, default=None
        Information about where the images came from, which is saved unchanged.

    Examples
    --------
    >>> g = Gallery()
    >>> g.add([[1, 0], [0, 1], [1, 1]], ids=["a", "b", "c"], metadata={"year": [2018, 2019, 2019]})
    >>> g.search([[1, 0.1]], k=2).ids
    array([['a', 'c']], dtype='<U1')
    >>> g.search([[1, 0.1]], k=2, where={"year": 2019}).ids
    array([['c', 'b']], dtype='<U1')
    >>> g.remove("a")
    >>> len(g), "a" in g
    (2, False)
    """

    def __init__(
        self,
        encoder: Any = None,
        *,
        reranker: Any = None,
        n_candidates: int = 1000,
        background: Any = None,
        false_match: float = 0.05,
        things: str | None = None,
        index: str | None = None,
        own_background: bool = False,
        features: Any = None,
        provenance: dict[str, Any] | None = None,
    ):
        if not 0 < check_positive(false_match, "false_match") < 1:
            raise ValueError(f"false_match must lie between 0 and 1; got {false_match!r}")
        for given, name in ((encoder, "encoder"), (reranker, "reranker")):
            if given is not None:
                check_encoder(given, name)
        if background is not None and encoder is not None:
            raise ValueError("background must be None with an encoder, which has its own background set")
        self.encoder, self.reranker, self.false_match = encoder, reranker, float(false_match)
        self.own_background = bool(own_background)
        self.n_candidates = check_count(n_candidates, "n_candidates")
        self.provenance = parse_json(provenance or {}, "provenance")
        self._features: Any = features  # or a LazyModel of it
        indexes = [FlatIndex(given) for given in (encoder, reranker) if given is not None]
        if encoder is None and background is not None:
            indexes.insert(0, FlatIndex(CosineEncoder(as_matrix(background).shape[1], background)))
        self._state = GalleryState(Catalog(), indexes, neighbors=NeighborTable(things))
        self.set_index(index)

    def __len__(self) -> int:
        return len(self._state.catalog)

    def __contains__(self, key: Any) -> bool:
        return key in self._state.catalog

    def __repr__(self) -> str:
        name = "vectors" if self.encoder is None else type(self.encoder).__name__
        return f"Gallery({len(self)} images, {name})"

    @property
    def ids(self) -> NDArray[Any]:
        """All ids in gallery order, an array of int64 or strings of shape (n_images,)."""
        return self._state.catalog.ids_at(self._state.catalog.live())

    @property
    def n_features_in_(self) -> int | None:
        """Number of features of an image vector; None while there is neither an image nor an encoder."""
        return int(self._state.indexes[0].encoder.n_features_in_) if self._state.indexes else None

    @property
    def index(self) -> str | None:
        """Kind of the approximate index, or None where search is exact; `set_index` changes it."""
        return None if self._state.approximate is None else self._state.approximate.kind

    @property
    def features(self) -> Any:
        """Image encoder that turns images into vectors, or None."""
        if isinstance(self._features, LazyModel):
            self._features = self._features.read()
        return self._features

    def metadata(self, ids: Any) -> list[Record]:
        """Return the metadata of images.

        Parameters
        ----------
        ids : int, str or sequence of them
            Ids of images in the gallery.

        Returns
        -------
        list of dict
            One dict per id; values that an image lacks are None.
        """
        return [self._state.catalog.record(key) for key in as_ids(ids)]

    def codes(self, ids: Any) -> Embeddings:
        """Return the embeddings by which images are searched.

        Parameters
        ----------
        ids : int, str or sequence of them
            Ids of images in the gallery.

        Returns
        -------
        ndarray of shape (n_ids, n_features_out), float32
            Embeddings by the first encoder.
        """
        return self._indexes(None)[0].embeddings.rows(self._state.catalog.positions(as_ids(ids)))

    def add(self, X: Any, ids: Any = None, metadata: Any = None) -> None:
        """Add images under new ids: all of them or, after an error, none.

        Parameters
        ----------
        X : array-like, Matrix or path of shape (n_images, n_features)
            Vectors of the images.
        ids : int, str or sequence of them, default=None
            Integers or strings, one per image; a gallery has ids of one kind. With None they are consecutive integers
            that the gallery has not used before.
        metadata : dict or list of dict, default=None
            Columns such as {"year": [2018, 2019]}, or one dict per image; values must be representable in JSON.
        """
        X = as_rows(X)
        keys = self._state.catalog.free_ids(len(X)) if ids is None else as_ids(ids)
        self._state.catalog.check_new(keys, len(X))
        self._append(self._encode(X), keys, as_metadata(len(X), metadata))

    def remove(self, ids: Any) -> None:
        """Remove images.

        Parameters
        ----------
        ids : int, str or sequence of them
            Ids of images in the gallery.
        """
        self._state.remove(distinct_ids(ids))

    def update(self, ids: Any, X: Any, metadata: Any = None) -> None:
        """Replace the vectors of images, which move to the end of the gallery.

        Parameters
        ----------
        ids : int, str or sequence of them
            Ids of images in the gallery.
        X : array-like, Matrix or path of shape (n_ids, n_features)
            New vectors.
        metadata : dict or list of dict, default=None
            New metadata, as in `add`; with None the images keep theirs.
        """
        X, keys = as_rows(X), distinct_ids(ids)
        if len(keys) != len(X):
            raise ValueError(f"ids must have one entry per row of X ({len(X)}); got {len(keys)}")
        self._state.catalog.positions(keys)
        columns = as_metadata(len(X), self.metadata(keys) if metadata is None else metadata)
        codes = self._encode(X)
        self.remove(keys)
        self._append(codes, keys, columns)

    def set_index(self, index: str | None) -> None:
        """Search by an index from now on, which `save` makes and the first search after a change brings up to date.

        Parameters
        ----------
        index : str or None
            Kind of the index, as for the constructor; None or "exact" searches all images.
        """
        if index in (None, EXACT):
            self._state.approximate = None
            return
        check_index(str(index))
        if self.encoder is not None and not is_inner_product(self.encoder):
            raise ValueError("index must be None for an encoder whose similarity is not an inner product")
        if index != self.index:
            self._state.approximate = FaissIndex(str(index))

    def state(self) -> GalleryState:
        """Return all that the gallery holds, which `manyclass.retrieval.storage` saves.

        Returns
        -------
        GalleryState
            Images, embeddings and the folder in which they are saved; not a copy.
        """
        return self._state

    def save(self, path: str | os.PathLike[str] | None = None, overwrite: bool = False) -> None:
        """Write the gallery to a folder, or what has changed since it was saved there, atomically.

        Parameters
        ----------
        path : path-like, default=None
            Folder; with None the one where the gallery was last saved or opened.
        overwrite : bool, default=False
            Whether another gallery in the folder is replaced.
        """
        from manyclass.retrieval.storage.save import save_gallery

        save_gallery(self, path, overwrite)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a saved gallery, whose embeddings are memory-mapped and whose checksums are verified.

        Parameters
        ----------
        path : path-like
            Folder that `save` wrote; StorageError if it holds no gallery, StoreCorruptedError if it is damaged.
        """
        from manyclass.retrieval.storage.open import open_gallery

        return open_gallery(cls, path)

    def _indexes(self, d: int | None) -> list[FlatIndex]:
        """One per encoder; that of vectors as they are has the width of the first that are added."""
        indexes = self._state.indexes
        if self.encoder is not None or len(indexes) == 1 + (self.reranker is not None):
            return indexes
        if d is None:
            raise ValueError("ids must be in the gallery, which is empty")
        return [FlatIndex(CosineEncoder(d)), *indexes]

    def _encode(self, X: Any) -> list[Embeddings]:
        return [index.encode(X) for index in self._indexes(X.shape[1])]

    def _append(self, codes: list[Embeddings], keys: list[Any], columns: dict[str, list[Any]]) -> None:
        if keys:
            self._state.indexes = self._indexes(codes[0].shape[1])
            self._state.append(codes, keys, columns)

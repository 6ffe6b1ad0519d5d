"""Gallery: images that can be added, removed and searched."""

import os
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass.data.opening import as_matrix
from manyclass.retrieval.catalog import Catalog
from manyclass.retrieval.expansion import QueryExpansion
from manyclass.retrieval.faiss_index import FaissIndex, check_factory
from manyclass.retrieval.filters import selected
from manyclass.retrieval.hits import Hits
from manyclass.retrieval.identifiers import as_ids, check_kind
from manyclass.retrieval.metadata import Record, as_columns
from manyclass.retrieval.pieces import Codes, Positions
from manyclass.retrieval.ranking import Ranking, judged, without_own
from manyclass.retrieval.reciprocal import KReciprocal
from manyclass.retrieval.spaces import UnitVectors, check_space, has_products
from manyclass.retrieval.stage import Stage


class Gallery:
    """A collection of images, searched by similarity, exactly.

    The code of an image depends on the encoder alone and not on other images, so to add is to encode, to remove is to
    forget, and after any sequence of both a gallery answers as one that is built afresh. Equals stand in the order of
    the gallery, which is that in which images were added; an updated image goes to the end.

    Parameters
    ----------
    encoder : a fitted encoder of `manyclass.exemplar`, or anything with `transform`, `similarity`, `pool_`,
        `n_features_in_`, `n_features_out_` and `save`. None compares vectors as they are, by their cosines. It is not
        copied: fitted anew, it would not go with the codes that the gallery has.
    second : another encoder, which sorts the `shortlist` best images of the first anew; for kernel machines, whose
        similarity is dear. It keeps codes of its own. Scores are then those of the second.
    pool : vectors of unrelated images, against which scores are judged where there is no encoder to bring its own.
    false_match : the probability at which a query with nothing like it in the gallery may still be called `matched`.
    index : None for exact search, or a kind of index that `faiss.index_factory` makes, such as "HNSW32". Filtered
        searches stay exact.

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
        second: Any = None,
        shortlist: int = 1000,
        pool: Any = None,
        false_match: float = 0.05,
        index: str | None = None,
    ):
        if not 0 < _checks.positive(false_match, "false_match") < 1:
            raise ValueError(f"false_match must lie between 0 and 1; got {false_match!r}")
        for space, name in ((encoder, "encoder"), (second, "second")):
            if space is not None:
                check_space(space, name)
        if index is not None:
            check_factory(index)
            if encoder is not None and not has_products(encoder):
                raise ValueError("index must be None for an encoder whose similarity is no inner product")
        if pool is not None and encoder is not None:
            raise ValueError("pool must be None with an encoder, which has its own")
        self.encoder, self.second, self.index = encoder, second, index
        self.shortlist, self.false_match = _checks.count(shortlist, "shortlist"), float(false_match)
        self._faiss = None if index is None else FaissIndex(index)
        self._catalog = Catalog()
        self._stages = [Stage(space) for space in (encoder, second) if space is not None]
        if encoder is None and pool is not None:
            self._stages.insert(0, Stage(UnitVectors(as_matrix(pool).shape[1], pool)))
        self._saved: Any = None  # what is known of the folder that holds this gallery
        self._forgotten: list[int] = []  # numbers of images that were removed since it was saved

    def __len__(self) -> int:
        return len(self._catalog)

    def __contains__(self, key: Any) -> bool:
        return key in self._catalog

    def __repr__(self) -> str:
        name = "vectors" if self.encoder is None else type(self.encoder).__name__
        return f"Gallery({len(self)} images, {name})"

    @property
    def ids(self) -> NDArray[Any]:
        """All ids in the gallery's order."""
        return self._catalog.ids_at(self._catalog.live())

    def metadata(self, ids: Any) -> list[Record]:
        """What is known of these images."""
        return [self._catalog.record(key) for key in as_ids(ids)]

    def codes(self, ids: Any) -> Codes:
        """Codes (m, p) of these images, as they are searched by."""
        return self._ready(None)[0].rows.rows(self._catalog.positions(as_ids(ids)))

    def add(self, X: Any, ids: Any = None, metadata: Any = None) -> None:
        """Add images X (n, d), an array, a Matrix or the path of one, under new ids: integers, or strings.

        Without ids they are integers that count on. `metadata` is a dict of columns, {"year": [2018, 2019]}, or a list
        of dicts, one per image, of what JSON can hold. Either all images are added or, after an error, none.
        """
        X = _rows(X)
        keys = self._catalog.free_ids(len(X)) if ids is None else as_ids(ids)
        self._catalog.check_new(keys, len(X))
        self._add(X, keys, as_columns(len(X), metadata))

    def remove(self, ids: Any) -> None:
        """Take these images out; each must be there."""
        keys = _distinct(as_ids(ids))
        places = self._catalog.positions(keys)
        self._forgotten.extend(self._catalog.numbers[i] for i in places.tolist())
        self._catalog.remove(keys)
        if self._catalog.n_places > 2 * len(self) + 1024:
            self._close_up()

    def update(self, ids: Any, X: Any, metadata: Any = None) -> None:
        """Give images that are there other vectors; without `metadata` theirs stays. They go to the end."""
        X, keys = _rows(X), _distinct(as_ids(ids))
        if len(keys) != len(X):
            raise ValueError(f"ids must have one entry per row of X ({len(X)}); got {len(keys)}")
        self._catalog.positions(keys)
        columns = as_columns(len(X), self.metadata(keys) if metadata is None else metadata)
        codes = self._encoded(X)
        self.remove(keys)
        self._append(codes, keys, columns)

    def search(
        self,
        Q: Any,
        k: int = 10,
        where: Any = None,
        *,
        expansion: QueryExpansion | None = None,
        reranking: KReciprocal | None = None,
    ) -> Hits:
        """The k most similar images of each query Q (q, d), or of one (d,).

        `where` leaves some images: a boolean mask in the gallery's order, ids, a dict such as {"year": 2019} or
        {"year": [2018, 2019]}, or a function of an image's metadata. `expansion` asks again with what was found;
        `reranking` sorts the best anew by whom they find, and `scores` are then its own.
        """
        Q = _rows(Q)
        return self._search(self._encoded(Q), k, where, expansion, reranking)

    def search_ids(self, ids: Any, k: int = 10, where: Any = None) -> Hits:
        """The k images most similar to each of these, which are in the gallery; none finds itself.

        There are fewer than k, for all of them alike, if `where` leaves no more to the one that has the least.
        """
        own = self._catalog.positions(as_ids(ids))
        codes = [stage.rows.rows(own) for stage in self._ready(None)]
        return self._search(codes, k, where, None, None, own)

    def search_examples(self, positives: Any, negatives: Any = None, k: int = 10, where: Any = None) -> Hits:
        """The k images most like all `positives` (m, d) and unlike `negatives`, as one query.

        The encoder fits one classifier of them, in closed form, against its own negatives too; one positive alone is
        the same as `search`.
        """
        if not hasattr(self.encoder, "examples_classifier") or self.second is not None:
            raise ValueError(
                "search_examples needs a gallery of one encoder with examples_classifier, such as SquareLossExemplar; "
                f"got {self!r}"
            )
        w, _ = self.encoder.examples_classifier(positives, negatives)
        code = np.ascontiguousarray(UnitVectors(len(w)).transform(w[None]))
        return self._search([code], k, where, None, None)

    def save(self, path: str | os.PathLike[str] | None = None, overwrite: bool = False) -> None:
        """Write the gallery to a folder, or, where it is saved already, what has changed: whole or not at all.

        Without a path it is the folder where it was last saved or opened.
        """
        from manyclass.retrieval.saving import save

        save(self, path, overwrite)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """The gallery in a folder; vectors are mapped, and all of it is checked."""
        from manyclass.retrieval.opening import open_gallery

        return open_gallery(cls, path)

    def _search(
        self, codes: list[Codes], k: int, where: Any, expansion: Any, reranking: Any, own: Positions | None = None
    ) -> Hits:
        k, stages = _checks.count(k, "k"), self._ready(codes[0].shape[1])
        positions = selected(self._catalog, where)
        n = len(self) if positions is None else len(positions)
        if n == 0 or len(codes[0]) == 0:
            none = np.zeros((len(codes[0]), min(k, n)), np.int64)
            best, similar = (none.astype(np.float32), none), none.astype(np.float32)
        else:
            ranking = Ranking(stages, self.shortlist, self._faiss, expansion, reranking)
            best, similar = ranking.best(codes, positions, self._catalog.live(), k + (own is not None))
            if own is not None:
                best, similar = without_own(best, similar, own, k)
        chance = judged(stages[-1], codes[-1], similar, n, self.false_match)
        return Hits(self._catalog.ids_at(best[1]), best[0], **chance)

    def _ready(self, d: int | None) -> list[Stage]:
        """The stages; vectors as they are have their width from the first that are added."""
        if self.encoder is not None or len(self._stages) == 1 + (self.second is not None):
            return self._stages
        if d is None:
            raise ValueError("ids must be in the gallery, and it is empty")
        return [Stage(UnitVectors(d)), *self._stages]

    def _encoded(self, X: Any) -> list[Codes]:
        return [stage.codes(X) for stage in self._ready(X.shape[1])]

    def _add(self, X: Any, keys: list[Any], columns: dict[str, list[Any]]) -> None:
        self._append(self._encoded(X), keys, columns)

    def _append(self, codes: list[Codes], keys: list[Any], columns: dict[str, list[Any]]) -> None:
        if not keys:
            return
        self._stages = self._ready(codes[0].shape[1])
        for stage, rows in zip(self._stages, codes, strict=True):
            stage.rows.append(rows)
        self._catalog.add(keys, columns)

    def _close_up(self) -> None:
        """Let go of the codes of removed images."""
        live = self._catalog.live()
        for stage in self._stages:
            stage.rows = stage.rows.kept(live)
        self._catalog = self._catalog.kept(live.tolist())


def _rows(X: Any) -> Any:
    """X as a Matrix; one vector is one row."""
    return as_matrix(np.asarray(X)[None] if isinstance(X, np.ndarray | list | tuple) and np.ndim(X) == 1 else X)


def _distinct(keys: list[Any]) -> list[Any]:
    if keys:
        check_kind(keys, None)
    if len(set(keys)) != len(keys):
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise ValueError(f"ids must be distinct; got {twice!r} twice")
    return keys

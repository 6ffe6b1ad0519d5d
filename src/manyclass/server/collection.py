"""Collection: what is served. It is read and never written, and any number of threads may ask it.

Pictures are known by their ids, which are those of the gallery as text, and by their numbers 0 ... n-1, the order of
the gallery.
"""

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import sha256_digest
from manyclass._core.typing import Embeddings
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.features.images.picture_source import PictureSource
from manyclass.retrieval.gallery import Gallery
from manyclass.retrieval.search import FlatIndex
from manyclass.retrieval.vectors import GrowableArray, Positions
from manyclass.server.app import ServerSettings
from manyclass.server.finding.picture_filter import PictureFilter
from manyclass.server.finding.picture_order import PictureOrder
from manyclass.server.finding.worlds import ARCHIVE, World, worlds_of
from manyclass.server.picture_files import PictureFiles
from manyclass.server.picture_workers import PictureWorkers

_LOG = logging.getLogger("manyclass.server")

_MOST_CLASSES_SHARE = 0.5  # of pictures: with more classes than that, they are names and no groups


class Collection:
    """A gallery with its pictures, the labels that came with them, and what is needed to find, label and audit.

    Parameters
    ----------
    gallery : Gallery
        The pictures, by embeddings.
    path : Path
        What the user named.
    home : Path
        The only folder that is ever written to; made when it is first needed.
    data : Path, default=None
        The features that the gallery was made of, if they are still there.
    model : estimator, default=None
        The classifier of a run.
    settings : ServerSettings, default=None
        Limits of processes and memory.
    """

    def __init__(
        self,
        gallery: Gallery,
        path: Path,
        home: Path,
        data: Path | None = None,
        model: Any = None,
        settings: ServerSettings | None = None,
    ):
        settings = settings or ServerSettings()
        self.gallery, self.path, self.home, self.data, self.model = gallery, path, home, data, model
        self.name = path.resolve().name or str(path)
        self.notes: list[str] = []
        self._making = threading.RLock()
        catalog = gallery.state().catalog
        if not len(catalog):
            raise ValueError(f"{path} must hold at least one picture; it is empty")
        self._live: Positions = catalog.live()
        self.index: FlatIndex = gallery.state().indexes[0]
        _load(self.index)
        self.raw_ids: list[Any] = [catalog.ids[place] for place in self._live.tolist()]
        self.ids: list[str] = [str(key) for key in self.raw_ids]
        self.given = _classes(catalog.columns.values.get("class"), self._live)
        self.filter = PictureFilter(self.ids, self.given)
        self.order = PictureOrder(self.index.embeddings, self._live, self._groups(), settings.seed)
        self.worlds: dict[str, World] = worlds_of(self, settings.seed)
        self.pictures = PictureFiles(
            self.ids, _picture_source(gallery, path, data), PictureWorkers(settings.n_workers), settings.thumbnail_bytes
        )
        self.key = sha256_digest([f"{path.resolve()} {len(self)} {self.ids[0]} {self.ids[-1]}".encode()])[:10]
        self._X: Matrix | None = None
        self._space: Gallery | None = None

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, id: str) -> bool:
        return self._place(id) is not None

    @property
    def gallery_path(self) -> Path:
        """Where the gallery is saved."""
        saved = self.gallery.state().saved
        return self.path if saved is None else Path(saved.path)

    @property
    def search_by_pictures(self) -> bool:
        """Whether it is known what turns other pictures into rows like those of the gallery."""
        try:
            return self.gallery.features is not None
        except (ValueError, OSError, ImportError) as error:
            note = f"it cannot be searched by other pictures: {error}"
            self.notes += [] if note in self.notes else [note]
            return False

    @property
    def encoder_words(self) -> str:
        """How pictures are told apart, in words."""
        features = type(self.gallery.features).__name__ if self.search_by_pictures else "features of others"
        method = str(self.gallery.provenance.get("method", "")) or type(self.index.encoder).__name__
        source = str(self.gallery.provenance.get("negatives", ""))
        return f"{features}, {method}" + (f" against {source}" if source else "")

    @property
    def default_world(self) -> str:
        """The key of the world that is taken where none is named."""
        return next(iter(self.worlds))

    @property
    def X(self) -> Matrix:  # noqa: N802 - a matrix
        """Rows for learning, by number: the features that the gallery was made of if they are at hand, else
        embeddings."""
        with self._making:
            if self._X is None:
                rows = None if self.data is None else _rows_of(self.data, self.ids)
                self._X = DenseMatrix(self.index.embeddings.rows(self._live)) if rows is None else rows
            return self._X

    def number(self, id: str) -> int:
        """The number of a picture; ValueError if there is none of this id."""
        place = self._place(id)
        if place is None:
            raise ValueError(f"ids must be those of pictures of {self.name}; got {id[:200]!r}")
        return int(np.searchsorted(self._live, place))

    def _place(self, id: str) -> int | None:
        catalog = self.gallery.state().catalog
        key: Any = id if catalog.strings else int(id) if id.removeprefix("-").isdecimal() and len(id) < 20 else None
        if key is None or key not in catalog or str(key) != id:
            return None
        return int(catalog.positions([key])[0])

    def numbers(self, raw_ids: Sequence[Any]) -> list[int]:
        """The numbers of pictures by ids as the gallery has them."""
        places = self.gallery.state().catalog.positions(list(raw_ids))
        return [int(number) for number in np.searchsorted(self._live, places)]

    @property
    def is_linear(self) -> bool:
        """Whether scores of the gallery are inner products of embeddings, so that these can be learned from."""
        return self.gallery.reranker is None and self.index.inner_product

    @property
    def space(self) -> Gallery:
        """Where marks are learned from: the gallery, or its features as they are where that is not linear."""
        if self.is_linear:
            return self.gallery
        with self._making:
            if self._space is None:
                made = Gallery()
                made.add(self.X, ids=self.raw_ids)
                self._space = made
            return self._space

    def embeddings(self, numbers: Any) -> Embeddings:
        """Embeddings (m, p) of pictures by number, in the space that marks are learned from."""
        chosen = np.asarray(numbers, np.int64)
        if self.is_linear:
            return self.index.embeddings.rows(self._live[chosen])
        return self.space.state().indexes[0].embeddings.rows(chosen)

    def embed(self, rows: NDArray[np.float32]) -> Embeddings:
        """Embeddings (m, p) of features (m, d) in the same space."""
        return self.space.state().indexes[0].encode(rows)

    def picture(self, number: int) -> dict[str, Any]:
        """What a page is told of a picture; what people said of it is not known here."""
        folder, _, name = self.ids[number].rpartition("/")
        return {
            "id": self.ids[number],
            "number": number,
            "name": name,
            "folder": folder,
            "class": self.given[number],
            "label": None,
            "set_aside": False,
            "url": f"/api/pictures/{number}/thumbnail?v={self.key}",
        }

    def warm_up(self) -> None:
        """Do once what the first search would have to wait for: the margins of strangers, a machine, an encoder."""
        self.gallery.search_ids([self.raw_ids[0]], k=2)
        _ = self.search_by_pictures
        for key in {self.default_world, ARCHIVE} if self.is_linear else {ARCHIVE}:
            self.worlds[key].machine()

    def close(self) -> None:
        """End the processes."""
        self.pictures.close()

    def _groups(self) -> NDArray[np.int32] | None:
        n = len(self.filter.classes)
        return self.filter.class_codes() if 1 < n <= max(2, _MOST_CLASSES_SHARE * len(self)) else None


def _load(index: FlatIndex) -> None:
    """Bring embeddings into memory: a mapped file that somebody cuts or changes would end the server, or deceive it."""
    loaded = GrowableArray(index.embeddings.d)
    for _, array in index.embeddings:
        loaded.attach(np.array(array))
    index.embeddings = loaded


def _classes(column: list[Any] | None, live: Positions) -> list[str | None]:
    if column is None:
        return [None] * len(live)
    words = (column[place] for place in live.tolist())
    return [str(word) if word is not None and str(word) else None for word in words]


def _picture_source(gallery: Gallery, path: Path, data: Path | None) -> PictureSource:
    """Where the pictures of a gallery are: in the folders that it names, or where its features were made of."""
    from manyclass.runs.provenance import pictures_of

    named = gallery.provenance.get("pictures")
    folders = [Path(str(folder)) for folder in named] if isinstance(named, list) else []
    where = None if data is None else pictures_of(data)
    return PictureSource(where, path, [folder for folder in folders if folder.is_dir()])


def _rows_of(data: Path, ids: list[str]) -> Matrix | None:
    """The rows of features of these ids, in their order; None if they are not all there."""
    from manyclass.data.views import RowSelection
    from manyclass.runs.sources import read_source

    try:
        dataset = read_source(data, labels="none", warn=lambda words: None)
    except (ValueError, OSError) as error:
        _LOG.warning("%s cannot be read, and embeddings are learned from in its place: %s", data, error)
        return None
    names = [str(i) for i in range(len(dataset))] if dataset.names is None else [str(name) for name in dataset.names]
    if names == ids:
        return dataset.X
    rows = {name: row for row, name in enumerate(names)}
    if any(one not in rows for one in ids):
        return None
    return RowSelection(dataset.X, np.array([rows[one] for one in ids], np.intp))


def source_of(gallery: Gallery, path: Path) -> Path | None:
    """The features that a gallery was made of, if they are where it says."""
    from manyclass.runs.provenance import found_path

    return found_path(gallery.provenance.get("source"), path)


def open_collection(path: Path, home: Path, model: Any = None, settings: ServerSettings | None = None) -> Collection:
    """The collection of a saved gallery."""
    gallery = Gallery.open(path)
    return Collection(gallery, path, home, source_of(gallery, path), model, settings)

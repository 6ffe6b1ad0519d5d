"""QueryPictures: uploads and cuttings of pictures that ask, in memory alone; the oldest make room for new ones."""

import secrets
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Embeddings
from manyclass.features.images.pixels import ImageError
from manyclass.server.app import ApiError, ServerSettings
from manyclass.server.picture_files import ByteCache
from manyclass.server.picture_workers import (
    DecodedQuery,
    EncodedPicture,
    PictureFile,
    PictureWorkers,
    features_of_pixels,
)

if TYPE_CHECKING:
    from manyclass.server.collection import Collection

PictureBox = tuple[float, float, float, float]  # left, top, right and bottom, as fractions of width and height

_MOST_BYTES = 256_000_000  # of all queries together


@dataclass(frozen=True, eq=False)
class QueryPicture:
    """A picture that asks: what is shown of it, its features (1, d) and its embedding (1, p)."""

    token: str
    shown: EncodedPicture
    row: NDArray[np.float32]
    embedding: Embeddings
    width: int
    height: int
    ms: dict[str, float]

    def json(self) -> dict[str, Any]:
        """What a page is told."""
        ms = {name: round(value, 1) for name, value in self.ms.items()}
        address = f"/api/queries/{self.token}/image"
        return {"query": self.token, "url": address, "width": self.width, "height": self.height, "ms": ms}


class QueryPictures:
    """Pictures that ask, by tokens that nobody guesses. They are decoded by processes of their own, a few at a time."""

    def __init__(self, collection: "Collection", settings: ServerSettings):
        self._collection, self._settings = collection, settings
        self._kept = ByteCache(_MOST_BYTES, settings.max_queries)
        places = settings.n_workers + settings.max_waiting
        self._places = threading.BoundedSemaphore(places)
        self._arriving, self._most_arriving = 0, places * settings.max_upload_bytes  # bytes
        self._lock = threading.Lock()
        self._workers: PictureWorkers | None = None

    @asynccontextmanager
    async def received(self, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """What is sent, as long as it is needed; refused if all that is being sent at once takes too much memory."""
        held: list[bytes] = []
        try:
            async for piece in pieces:
                held.append(piece)
                self._arriving += len(piece)
                if self._arriving > self._most_arriving:
                    raise self._too_many({"Connection": "close"})
            yield b"".join(held)
        finally:
            self._arriving -= sum(map(len, held))

    def add(self, content: bytes) -> QueryPicture:
        """Keep a picture that was sent; it is refused if it is none, or if too many wait."""
        return self._keep(content, None)

    def cut(self, of: "QueryPicture | int", box: PictureBox) -> QueryPicture:
        """A part of a picture that asks, or of a picture of the collection."""
        if isinstance(of, QueryPicture):
            return self._keep(of.shown.content, box)
        found = self._collection.pictures.find(of)
        if found is None:
            raise ApiError(409, f"the picture of {self._collection.ids[of]!r} is not where it was; nothing can be cut")
        return self._keep(found.source, box)

    def get(self, token: str) -> QueryPicture:
        """The picture of a token."""
        kept: QueryPicture | None = self._kept.get(token)
        if kept is None:
            raise ApiError(404, "query must be one that is still remembered; upload the picture again")
        return kept

    def forget(self, token: str) -> bool:
        """Drop a picture; whether it was there."""
        return self._kept.drop(token)

    def close(self) -> None:
        """End the processes."""
        if self._workers is not None:
            self._workers.close()

    def _keep(self, source: PictureFile, box: PictureBox | None) -> QueryPicture:
        encoder = self._collection.gallery.features
        if encoder is None:
            raise ApiError(
                409,
                f"{self._collection.name} cannot be searched by pictures, as it does not know what encoded its own; "
                "make it anew with an encoder",
            )
        with self._place():
            try:
                decoded = self._ready_workers(encoder).query(source, box)
                query = self._query(decoded, encoder)
            except ImageError as error:
                raise ApiError(422, f"the picture {error}") from None
        self._kept.put(query.token, query, len(query.shown.content) + query.row.nbytes + query.embedding.nbytes)
        return query

    def _query(self, decoded: DecodedQuery, encoder: Any) -> QueryPicture:
        row, ms, started = decoded.row, dict(decoded.ms), perf_counter()
        if row is None and decoded.pixels is not None:
            row = features_of_pixels(encoder, decoded.pixels)
            ms["feature"] = 1000 * (perf_counter() - started)
        rows, begun = np.asarray(row, np.float32)[None], perf_counter()
        embedding = self._collection.embed(rows)
        ms["encode"] = 1000 * (perf_counter() - begun)
        return QueryPicture(
            secrets.token_urlsafe(12), decoded.shown, rows, embedding, decoded.width, decoded.height, ms
        )

    def _ready_workers(self, encoder: Any) -> PictureWorkers:
        with self._lock:
            if self._workers is None:
                self._workers = PictureWorkers(self._settings.n_workers, encoder)
            return self._workers

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise self._too_many()
        try:
            yield
        finally:
            self._places.release()

    @staticmethod
    def _too_many(headers: dict[str, str] | None = None) -> ApiError:
        words = "too many pictures wait to be read; try again in a moment"
        return ApiError(503, words, {"Retry-After": "1", **(headers or {})})

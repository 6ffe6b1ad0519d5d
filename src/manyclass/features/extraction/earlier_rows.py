"""EarlierRows: what a store has already of images that are encoded again, so that only new and changed ones are."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass._core.models import is_savable, model_pieces
from manyclass.data.store.attachments import ENCODER
from manyclass.data.store.store import Store
from manyclass.features.extraction.encoding import EncodedImage, Encoding


@dataclass(frozen=True, eq=False)
class EarlierRows:
    """Rows of files that nobody has touched since a store was made of them.

    A file is known by its name in the store. The system notes when a file was last written, renamed or copied to where
    it is, so that one of another content is told even if its size and its date are the old ones.

    Parameters
    ----------
    store : Store
        The store, whose rows have names, of pictures that were read as large as they are to be read now.
    since : float
        Seconds since the epoch; the store was begun no earlier.
    """

    store: Store
    since: float

    def unchanged(self, images: Sequence[Any], names: Sequence[str]) -> dict[int, int]:
        """Find the images whose rows the store has.

        Parameters
        ----------
        images : sequence of path-like or ndarray
            The images; only files are found.
        names : sequence of str
            Their names.

        Returns
        -------
        dict of int to int
            Rows of the store by the positions of images.
        """
        if self.store.names is None:
            return {}
        rows = {name: row for row, name in enumerate(self.store.names[:])}
        there = [(position, rows[names[position]]) for position in range(len(images)) if names[position] in rows]
        return {position: row for position, row in there if _last_touched(images[position]) < self.since}

    def chunks(self, encoding: Encoding, names: Sequence[str], span: range) -> "KnownChunks":
        """Find the chunks of an encoding that need not be encoded, which are those without any other image.

        Parameters
        ----------
        encoding : Encoding
            The images and their encoder; if that is not the encoder of the store, or if the store holds codes of a
            quantizer in place of rows, nothing is known.
        names : sequence of str
            The names of the images.
        span : range
            The positions that are wanted.

        Returns
        -------
        KnownChunks
            The chunks, which are read when they are taken.
        """
        whole = self.store.quantizer is None and is_savable(encoding.encoder)
        same = whole and self._has_encoder(encoding.encoder)
        rows = self.unchanged(encoding.images, names) if same else {}
        chunks = encoding.chunks(span.start, span.stop)
        known = [chunk for chunk in chunks if all(position in rows for position in chunk)]
        return KnownChunks(self.store, {chunk.start: [(i, rows[i]) for i in chunk] for chunk in known})

    def _has_encoder(self, encoder: Any) -> bool:
        return self.store.attachment(ENCODER) == b"".join(bytes(piece) for piece in model_pieces(encoder))


class KnownChunks:
    """Chunks of images by the position of their first one, which are read from a store as they are taken."""

    def __init__(self, store: Store, places: dict[int, list[tuple[int, int]]]):
        self._store, self._places = store, places

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, first: object) -> bool:
        return first in self._places

    def pop(self, first: int) -> list[EncodedImage]:
        """Take a chunk: its images, with their rows."""
        positions, rows = zip(*self._places.pop(first), strict=True)
        found = self._store.X.rows(np.array(rows, np.intp))
        return [EncodedImage(position, row) for position, row in zip(positions, found, strict=True)]


def _last_touched(image: Any) -> float:
    """When a file was last written or put where it is, in seconds since the epoch; never before anything if unknown."""
    if not isinstance(image, str | os.PathLike):
        return float("inf")
    try:
        about = os.stat(image)
    except (OSError, ValueError):
        return float("inf")
    return max(about.st_mtime, about.st_ctime)

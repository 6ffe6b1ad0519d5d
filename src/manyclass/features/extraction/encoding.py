"""Many pictures through one encoder, in parallel and in order; each gives a row, or the reason why not."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import get_threads, thread_map, threads
from manyclass.data.quantizer import Quantizer
from manyclass.features.extraction.workers import Workers, may_fork
from manyclass.features.images.decoding import Pixels, read_image
from manyclass.features.images.pixels import ImageError, as_image_list, reason_of

_WORTH_PROCESSES = 16  # chunks; fewer are done before processes are there

_CODED_TOGETHER = 8  # chunks; a quantizer of long rows reads codebooks of many megabytes, for one row as for eight


class RowEncoder(Protocol):
    """Whatever turns a picture into n_features_out_ numbers, the same for any number of threads.

    One that works better on several at once has `batch_size` and `encode_many(list of pictures) -> (m, d)` besides. It
    is called from several threads; one that says `forks = True` is copied to other processes instead, where what it
    notes is lost. No library that it uses may then have threads of its own, such as OpenMP's, which a copy would wait
    for in vain.
    """

    n_features_out_: int

    def encode(self, image: Pixels) -> NDArray[np.float32]: ...


@dataclass(frozen=True, eq=False)
class EncodedImage:
    """What became of the picture at a position: a row of numbers or of codes, or the reason why there is none."""

    position: int
    row: NDArray[Any] | None
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Encoding:
    """Pictures, what encodes them, and how large they are read. Rows become codes where there is a quantizer."""

    images: Sequence[Any]
    encoder: Any
    max_pixels: int = 100_000
    limit: int = 50_000_000
    quantizer: Quantizer | None = None

    def chunks(self) -> list[range]:
        """The positions that are encoded together. They do not depend on where a run begins, so neither do the bits."""
        n, size = len(self.images), int(getattr(self.encoder, "batch_size", 1))
        return [range(first, min(n, first + size)) for first in range(0, n, size)]

    def outcomes(self, chunks: Sequence[range]) -> Iterator[list[EncodedImage]]:
        """What became of every picture, a chunk at a time, in order."""
        size = _CODED_TOGETHER if self.quantizer else 1
        groups = [list(chunks[first : first + size]) for first in range(0, len(chunks), size)]
        if len(chunks) < _WORTH_PROCESSES or not self._forks():
            yield from chain.from_iterable(thread_map(self._group, groups))
            return
        with Workers(self._group, get_threads()) as workers:
            yield from chain.from_iterable(workers.in_order(groups, partial(_alone, workers)))

    def _forks(self) -> bool:
        # Other sequences may read from files, which are not open in the workers.
        at_hand = isinstance(self.images, list | tuple | np.ndarray)
        return may_fork() and at_hand and getattr(self.encoder, "forks", False)

    def _group(self, chunks: list[range]) -> list[list[EncodedImage]]:
        with threads(1):  # the pictures are shared out, and not what is done to one
            return encode_rows([self._outcomes(chunk) for chunk in chunks], self.quantizer)

    def _outcomes(self, chunk: range) -> list[EncodedImage]:
        found = [self._read(position) for position in chunk]
        pictures = {position: image for position, image, _ in found if image is not None}
        rows = iter(self._rows(list(pictures.values())))
        return [
            EncodedImage(position, None, why) if image is None else self._checked(position, next(rows))
            for position, image, why in found
        ]

    def _read(self, position: int) -> tuple[int, Pixels | None, str | None]:
        try:
            return position, read_image(self.images[position], self.max_pixels, self.limit), None
        except ImageError as error:
            return position, None, str(error)

    def _rows(self, pictures: list[Pixels]) -> list[NDArray[Any] | str]:
        if len(pictures) > 1:
            try:
                return list(self.encoder.encode_many(pictures))
            except (ValueError, MemoryError):
                pass  # one of them is to blame: alone, each answers for itself
        return [self._row(picture) for picture in pictures]

    def _row(self, picture: Pixels) -> NDArray[Any] | str:
        try:
            row: NDArray[Any] = self.encoder.encode(picture)
            return row
        except (ValueError, MemoryError) as error:
            return f"cannot be encoded: {reason_of(error)}"

    def _checked(self, position: int, row: NDArray[Any] | str) -> EncodedImage:
        if isinstance(row, str):
            return EncodedImage(position, None, row)
        if row.shape != (self.encoder.n_features_out_,):
            raise ValueError(
                f"the encoder must give {self.encoder.n_features_out_} numbers; got shape {row.shape} for image "
                f"{position}; pass size for a network whose layer is as large as the image"
            )
        if not np.isfinite(row).all():
            return EncodedImage(position, None, "has features that are NaN or infinite")
        return EncodedImage(position, row)


Group = list[list[EncodedImage]]  # of several chunks


def _alone(workers: Workers[list[range], Group], chunks: list[range]) -> Group:
    """What became of the pictures of chunks that ended a process: each answers for itself."""

    def of(chunk: range) -> list[EncodedImage]:
        return [outcome for found in workers.result([chunk], partial(_alone, workers)) for outcome in found]

    if len(chunks) > 1:
        return [of(chunk) for chunk in chunks]
    (chunk,) = chunks
    if len(chunk) == 1:
        return [[EncodedImage(chunk[0], None, "crashed the decoder")]]
    return [[outcome for position in chunk for outcome in of(range(position, position + 1))]]


def encode_rows(group: Group, quantizer: Quantizer | None) -> Group:
    """The outcomes with their rows as codes, if there is a quantizer."""
    rows = [outcome.row for found in group for outcome in found if outcome.row is not None]
    if quantizer is None or not rows:
        return group
    try:
        codes = iter(quantizer.encode_rows(np.stack(rows)))
    except ValueError:  # one of them is to blame: alone, each answers for itself
        return [[_coded_alone(outcome, quantizer) for outcome in found] for found in group]
    return [
        [outcome if outcome.row is None else EncodedImage(outcome.position, next(codes)) for outcome in found]
        for found in group
    ]


def _coded_alone(outcome: EncodedImage, quantizer: Quantizer) -> EncodedImage:
    if outcome.row is None:
        return outcome
    try:
        return EncodedImage(outcome.position, quantizer.encode_rows(outcome.row[None])[0])
    except ValueError as error:
        return EncodedImage(outcome.position, None, f"cannot be quantized: {reason_of(error)}")


def encode_image(images: Sequence[Any], encoder: RowEncoder, max_pixels: int = 100_000) -> NDArray[np.float32]:
    """The rows (n, d) of pictures, of which none may be bad."""
    images = as_image_list(images)
    X = np.empty((len(images), encoder.n_features_out_), np.float32)
    encoding = Encoding(images, encoder, max_pixels)
    for outcomes in encoding.outcomes(encoding.chunks()):
        for outcome in outcomes:
            if outcome.row is None:
                image = images[outcome.position]
                name = os.fsdecode(image) if isinstance(image, str | bytes | os.PathLike) else outcome.position
                raise ImageError(f"image {name} {outcome.reason}")
            X[outcome.position] = outcome.row
    return X

"""Encoding: many images through one encoder, in parallel and in order; each gives a row, or the reason why not.

Where there is a quantizer, rows become its codes. One that is not fitted yet learns from some of the images first.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count
from manyclass._core.parallel import get_threads, thread_map, threads
from manyclass._core.progress_display import get_logger
from manyclass._core.typing import Report
from manyclass.data.quantizer import Quantizer
from manyclass.features.extraction.processes import WorkerProcesses, may_fork
from manyclass.features.images.decoding import as_image_list, read_image
from manyclass.features.images.pixels import ImageError, Pixels, error_reason

_LOG = get_logger("features")

_WORTH_PROCESSES = 16  # chunks; fewer are done before processes are there

# Chunks that go to a process at a time, and bytes of rows that come back at most: to send one takes half a millisecond,
# which is not nothing beside the seven or eight that a photograph takes.
_SENT_TOGETHER, _SENT_BYTES = 4, 1 << 18

_QUANTIZED_TOGETHER = 8  # chunks; a quantizer of long rows reads codebooks of many megabytes, for one row as for eight

_MAX_SAMPLE_ROWS = 16384  # that a quantizer learns from, unless it is told otherwise: 64 for each of 256 centroids

_MAX_SAMPLE_BYTES = 1 << 30  # of rows in memory at once


class RowEncoder(Protocol):
    """Whatever turns an image into n_features_out_ numbers, the same for any number of threads.

    One that works better on several at once has `batch_size` and `encode_many(list of images) -> (m, d)` besides. It
    is called from several threads; one that says `forks = True` is copied to other processes instead, where what it
    notes is lost. No library that it uses may then have threads of its own, such as OpenMP's, which a copy would wait
    for in vain. `libraries` names modules, besides NumPy and Pillow, on whose versions its numbers depend.
    """

    n_features_out_: int

    def encode(self, image: Pixels) -> NDArray[np.float32]: ...


@dataclass(frozen=True, eq=False)
class EncodedImage:
    """What became of the image at a position: a row of numbers or of codes, or the reason why there is none."""

    position: int
    row: NDArray[Any] | None
    reason: str | None = None


Group = list[list[EncodedImage]]  # of several chunks

Known = dict[int, list[EncodedImage]]  # by the position of the first image of a chunk


class KnownLike(Protocol):
    """Chunks that are encoded already, by the position of their first image: `Known`, or what reads them when asked."""

    def __len__(self) -> int: ...

    def __contains__(self, first: object, /) -> bool: ...

    def pop(self, first: int, /) -> list[EncodedImage]: ...


class PartSequence(Sequence[Any]):
    """Some entries of a longer sequence, in a row, found by their positions there.

    >>> part = PartSequence.of("abcdef", range(2, 4))
    >>> len(part), part[3]
    (6, 'd')
    """

    def __init__(self, entries: Sequence[Any], first: int, total: int):
        self._entries, self._first, self._total = entries, first, total

    @classmethod
    def of(cls, whole: Sequence[Any], span: range) -> "PartSequence":
        """The entries at these positions."""
        return cls([whole[i] for i in span], span.start, len(whole))

    def __len__(self) -> int:
        return self._total

    def __getitem__(self, position: Any) -> Any:
        return self._entries[position - self._first]


@dataclass(frozen=True, eq=False)
class Encoding:
    """Images, what encodes them, and how large they are read.

    Parameters
    ----------
    images : sequence of path-like or ndarray
        The images.
    encoder : RowEncoder
        What turns an image into numbers.
    max_pixels : int, default=100_000
        Larger images are shrunk to so many pixels.
    max_source_pixels : int, default=50_000_000
        Files of more pixels are refused.
    quantizer : Quantizer, default=None
        What turns rows into codes; None to keep the numbers.
    """

    images: Sequence[Any]
    encoder: Any
    max_pixels: int = 100_000
    max_source_pixels: int = 50_000_000
    quantizer: Quantizer | None = None

    @property
    def chunk_size(self) -> int:
        """How many images are encoded together."""
        return int(getattr(self.encoder, "batch_size", 1))

    def chunks(self, start: int = 0, stop: int | None = None) -> list[range]:
        """Divide the images into those that are encoded together.

        They do not depend on where a run begins, so neither do the bits.

        Parameters
        ----------
        start : int, default=0
            A position that the first chunk holds.
        stop : int, default=None
            The position before which the last chunk begins; None for the end.

        Returns
        -------
        list of range
            The positions of each chunk.
        """
        n, size = len(self.images), self.chunk_size
        end = n if stop is None else stop
        firsts = range(start - start % size, end, size) if start < end else range(0)
        return [range(first, min(n, first + size)) for first in firsts]

    def encode_from(self, start: int, known: KnownLike, stop: int | None = None) -> Iterator[list[EncodedImage]]:
        """Encode the images from a position on.

        Parameters
        ----------
        start : int
            The first position.
        known : dict of int to list of EncodedImage, or KnownChunks
            Chunks that are encoded already, by their first position; those that are used are removed.
        stop : int, default=None
            The position after the last, where a chunk begins; None for the end.

        Yields
        ------
        list of EncodedImage
            What became of the images of each chunk, in order.
        """
        chunks = self.chunks(start, stop)
        _LOG.info("encoding %d images by %s", sum(map(len, chunks)), type(self.encoder).__name__)
        fresh = self.encode_chunks([chunk for chunk in chunks if chunk.start not in known])
        for chunk in chunks:
            outcomes = known.pop(chunk.start) if chunk.start in known else next(fresh)
            yield [outcome for outcome in outcomes if outcome.position >= start]

    def encode_chunks(self, chunks: Sequence[range], singly: bool = False) -> Iterator[list[EncodedImage]]:
        """Encode chunks of images, in parallel and in order.

        Parameters
        ----------
        chunks : sequence of range
            The positions of each chunk.
        singly : bool, default=False
            Whether a process gets one chunk at a time, so that little is under way for whoever may not want all.

        Yields
        ------
        list of EncodedImage
            What became of every image of a chunk.
        """
        in_processes = len(chunks) >= _WORTH_PROCESSES and self._forks()
        size = _QUANTIZED_TOGETHER if self.quantizer else self._sent_together() if in_processes and not singly else 1
        groups = [list(chunks[first : first + size]) for first in range(0, len(chunks), size)]
        if not in_processes:
            yield from _complete(groups, thread_map(self._encode_group, groups), self._encode_group)
            return
        with WorkerProcesses(self._encode_group, get_threads()) as workers:
            on_crash = partial(_encode_alone, workers)
            yield from _complete(groups, workers.map(groups, on_crash), partial(workers.run, on_crash=on_crash))

    def _sent_together(self) -> int:
        n_bytes = 4 * int(self.encoder.n_features_out_) * self.chunk_size
        return max(1, min(_SENT_TOGETHER, _SENT_BYTES // n_bytes))

    def _forks(self) -> bool:
        # Other sequences may read from files, which are not open in the workers.
        in_memory = isinstance(self.images, list | tuple | np.ndarray | PartSequence)
        return may_fork() and in_memory and getattr(self.encoder, "forks", False)

    def _encode_group(self, chunks: list[range]) -> Group:
        """The chunks, up to the first with an error that is no image's: it is raised where it comes first."""
        group: Group = []
        with threads(1):  # the images are distributed, and not what is done to one
            for chunk in chunks:
                try:
                    group.append(self._encode_chunk(chunk))
                except Exception:
                    if not group:
                        raise
                    break
            return group if self.quantizer is None else quantize_rows(group, self.quantizer)

    def _encode_chunk(self, chunk: range) -> list[EncodedImage]:
        found = [self._read(position) for position in chunk]
        rows = iter(self._encode_images([image for _, image, _ in found if image is not None]))
        return [
            EncodedImage(position, None, reason) if image is None else self._check_row(position, next(rows))
            for position, image, reason in found
        ]

    def _read(self, position: int) -> tuple[int, Pixels | None, str | None]:
        try:
            return position, read_image(self.images[position], self.max_pixels, self.max_source_pixels), None
        except ImageError as error:
            return position, None, str(error)

    def _encode_images(self, images: list[Pixels]) -> list[NDArray[Any] | str]:
        if len(images) > 1:
            try:
                return list(self.encoder.encode_many(images))
            except (ValueError, MemoryError):
                pass  # one of them is to blame: alone, each answers for itself
        return [self._encode_image(image) for image in images]

    def _encode_image(self, image: Pixels) -> NDArray[Any] | str:
        try:
            row: NDArray[Any] = self.encoder.encode(image)
            return row
        except (ValueError, MemoryError) as error:
            return f"cannot be encoded: {error_reason(error)}"

    def _check_row(self, position: int, row: NDArray[Any] | str) -> EncodedImage:
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


def _complete(
    groups: list[list[range]], found: Iterable[Group], encode: Callable[[list[range]], Group]
) -> Iterator[list[EncodedImage]]:
    """What was found of every chunk; an error among them is met again by encoding the rest, after what comes before."""
    for chunks, group in zip(groups, found, strict=True):
        yield from group
        while len(group) < len(chunks):
            chunks = chunks[len(group) :]
            group = encode(chunks)
            yield from group


def _encode_alone(workers: WorkerProcesses[list[range], Group], chunks: list[range]) -> Group:
    """What became of the images of chunks that ended a process: each answers for itself."""

    def encode(chunk: range) -> list[EncodedImage]:
        return [outcome for found in workers.run([chunk], partial(_encode_alone, workers)) for outcome in found]

    if len(chunks) > 1:
        return [encode(chunk) for chunk in chunks]
    (chunk,) = chunks
    if len(chunk) == 1:
        return [[EncodedImage(chunk[0], None, "crashed the decoder")]]
    return [[outcome for position in chunk for outcome in encode(range(position, position + 1))]]


def encode_images(images: Sequence[Any], encoder: RowEncoder, max_pixels: int = 100_000) -> NDArray[np.float32]:
    """Encode images, of which none may be bad.

    Parameters
    ----------
    images : sequence of path-like or ndarray
        The images.
    encoder : RowEncoder
        What turns an image into numbers.
    max_pixels : int, default=100_000
        Larger images are shrunk to so many pixels.

    Returns
    -------
    ndarray of float32 of shape (n, d)
        A row for every image.

    Raises
    ------
    ImageError
        If one of them cannot be read or encoded.
    """
    images = as_image_list(images)
    X = np.empty((len(images), encoder.n_features_out_), np.float32)
    encoding = Encoding(images, encoder, max_pixels)
    for outcomes in encoding.encode_chunks(encoding.chunks()):
        for outcome in outcomes:
            if outcome.row is None:
                image = images[outcome.position]
                name = os.fsdecode(image) if isinstance(image, str | bytes | os.PathLike) else outcome.position
                raise ImageError(f"image {name} {outcome.reason}")
            X[outcome.position] = outcome.row
    return X


def quantize_rows(group: Group, quantizer: Quantizer) -> Group:
    """The outcomes with their rows as codes."""
    rows = [outcome.row for found in group for outcome in found if outcome.row is not None]
    if not rows:
        return group
    try:
        codes = iter(quantizer.encode_rows(np.stack(rows)))
    except ValueError:  # one of them is to blame: alone, each answers for itself
        return [[_quantize_alone(outcome, quantizer) for outcome in found] for found in group]
    return [
        [outcome if outcome.row is None else EncodedImage(outcome.position, next(codes)) for outcome in found]
        for found in group
    ]


def _quantize_alone(outcome: EncodedImage, quantizer: Quantizer) -> EncodedImage:
    if outcome.row is None:
        return outcome
    try:
        return EncodedImage(outcome.position, quantizer.encode_rows(outcome.row[None])[0])
    except ValueError as error:
        return EncodedImage(outcome.position, None, f"cannot be quantized: {error_reason(error)}")


def fit_quantizer(
    quantizer: Quantizer, encoding: Encoding, sample: int | None, seed: int, progress: Report | None = None
) -> tuple[Quantizer, Known]:
    """A copy of the quantizer that has learned from a sample of images, and the codes of these images."""
    sampled = _encode_sample(encoding, sample_size(encoding.encoder.n_features_out_, sample), seed, progress)
    rows = [outcome.row for outcomes in sampled.values() for outcome in outcomes if outcome.row is not None]
    if not rows:
        first = next(iter(sampled.values()))[0]
        raise ValueError(f"a quantizer must have rows to learn from; no image has one: the first {first.reason}")
    fitted = copy(quantizer).fit(np.stack(rows))
    return fitted, dict(zip(sampled, quantize_rows(list(sampled.values()), fitted), strict=True))


def sample_size(d: int, sample: int | None) -> int:
    """Rows to learn from: as asked, or 16384, or fewer if they are long.

    >>> sample_size(4096, None), sample_size(131072, None), sample_size(131072, 500)
    (16384, 2048, 500)
    """
    if sample is not None:
        return check_count(sample, "sample")
    return max(1, min(_MAX_SAMPLE_ROWS, _MAX_SAMPLE_BYTES // (4 * d)))


def is_fitted(quantizer: Any) -> bool:
    """Whether a quantizer has learned already."""
    try:
        return bool(quantizer.n_features)
    except ValueError:
        return False


def _encode_sample(encoding: Encoding, n_rows: int, seed: int, progress: Report | None) -> Known:
    """Images drawn at random, until they have so many rows or there are no more."""
    chunks = encoding.chunks()
    order = np.random.default_rng(seed).permutation(len(chunks)).tolist()
    found: Known = {}
    count = seen = 0
    for outcomes in encoding.encode_chunks([chunks[i] for i in order], singly=True):
        found[outcomes[0].position] = outcomes
        count += sum(outcome.row is not None for outcome in outcomes)
        seen += len(outcomes)
        if progress:
            progress(seen, len(encoding.images))
        if count >= n_rows:
            break
    return found

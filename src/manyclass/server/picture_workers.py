"""PictureWorkers: processes that decode pictures, with limits of memory and time, and may die of one.

Each task may take so many seconds of the processor, and a process so much memory beside what it began with; a decoder
that a file drives further is ended by the system, and another process takes its place. Only pixels, small pictures and
rows of features come back.
"""

import io
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass._core.errors import FileRefusedError
from manyclass._core.parallel import suppress_warnings, threads
from manyclass.data.archives.packed_file import PackedFile
from manyclass.features.extraction.processes import WorkerProcesses, may_fork
from manyclass.features.images.decoding import FORMATS, read_image
from manyclass.features.images.pixels import ImageError, Pixels

PictureFile = str | bytes | NDArray[Any] | PackedFile  # a path, a file in memory, pixels, or a file within another

_MEMORY = 2_000_000_000  # bytes for one picture: 50 million pixels, of which decoders hold some copies

_SECONDS = 10.0  # of the processor for one picture

_END_SECONDS = 3.0  # that processes have to end by themselves

_KEPT_SIDE, _KEPT_QUALITY = 1600, 92  # of a query, of which parts may be asked for

_SMALL = 4096  # pixels of drawings and icons, which are smaller and exact as PNG


@dataclass(frozen=True)
class EncodedPicture:
    """A small picture as a browser takes it."""

    content: bytes
    media_type: str
    width: int
    height: int


@dataclass(frozen=True)
class DecodedQuery:
    """A picture that asks: what is shown and cut of it, its pixels for features or its row, and its whole size."""

    shown: EncodedPicture
    pixels: Pixels | None
    row: NDArray[np.float32] | None
    width: int
    height: int
    ms: dict[str, float]


class PictureWorkers:
    """n processes that read pictures; where a process may not fork, the same in this one.

    `encoder` turns pixels into features in these processes, if it may be copied there; else pixels come back.
    """

    def __init__(self, n: int, encoder: Any = None, seconds: float = _SECONDS, memory: int = _MEMORY):
        self._work = _Work(encoder if getattr(encoder, "forks", False) else None, encoder, seconds, memory)
        self._processes: WorkerProcesses[Any, Any] | None = WorkerProcesses(self._work, n) if may_fork() else None

    def thumbnail(self, source: PictureFile, side: int) -> EncodedPicture:
        """The picture, at most so many pixels wide and high; ImageError if it is none."""
        return self._ask(("thumbnail", source, side))  # type: ignore[no-any-return]

    def size(self, source: PictureFile) -> tuple[int, int]:
        """(width, height) of the picture as it is shown."""
        return self._ask(("size", source, 0))  # type: ignore[no-any-return]

    def query(self, source: PictureFile, box: tuple[float, float, float, float] | None = None) -> DecodedQuery:
        """A picture that asks, or the part of it in a box of fractions of its width and height."""
        return self._ask(("query", source, box))  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the processes; those that are busy for too long are ended with this process."""
        if self._processes is not None:
            ending = threading.Thread(target=self._processes.__exit__, args=(None, None, None), daemon=True)
            ending.start()
            ending.join(_END_SECONDS)

    def _ask(self, task: tuple[str, Any, Any]) -> Any:
        if self._processes is None:
            return self._work(task)
        return self._processes.run(task, _crashed)


def _crashed(task: Any) -> Any:
    raise ImageError("took too much time or memory, or crashed the decoder")


@dataclass
class _Work:
    """What a process does."""

    encoder: Any
    settings: Any  # of the encoder, wherever it works
    seconds: float
    memory: int
    owner: int = 0

    def __post_init__(self) -> None:
        self.owner = os.getpid()
        self._limited = False

    def __call__(self, task: tuple[str, Any, Any]) -> Any:
        kind, source, detail = task
        acts: dict[str, Callable[[Any, Any], Any]] = {"thumbnail": _thumbnail, "size": _size, "query": self._query}
        act = acts[kind]
        if os.getpid() == self.owner:
            return act(source, detail)
        if not self._limited:
            _limit_memory(self.memory)
            self._limited = True
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        try:
            with threads(1):
                return act(source, detail)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _query(self, source: Any, box: tuple[float, float, float, float] | None) -> DecodedQuery:
        started = time.perf_counter()
        width, height = _size(source, None)
        most = int(getattr(self.settings, "max_pixels", 100_000))
        if box is None:
            pixels, large = read_image(_opened(source), most), read_image(_opened(source), _KEPT_SIDE**2)
        else:
            large = _cut(read_image(_opened(source), 4 * _KEPT_SIDE**2), box)
            pixels = read_image(large, most)
            height, width = large.shape[:2]
        decoded = time.perf_counter()
        row = None if self.encoder is None else _finite(self.encoder.encode(pixels))
        ms = {"decode": 1000 * (decoded - started), "feature": 1000 * (time.perf_counter() - decoded)}
        shown = _compressed(large, _KEPT_SIDE, _KEPT_QUALITY)
        return DecodedQuery(shown, None if row is not None else pixels, row, width, height, ms)


def features_of_pixels(encoder: Any, pixels: Pixels) -> NDArray[np.float32]:
    """The row of a picture by an encoder that works in this process."""
    return _finite(encoder.encode(pixels))


def _finite(row: NDArray[np.float32]) -> NDArray[np.float32]:
    if not np.isfinite(row).all():
        raise ImageError("has features that are NaN or infinite")
    return row


def _limit_memory(memory: int) -> None:
    """At most so much beside what is there: a process begins with all that its parent has mapped."""
    try:
        with open("/proc/self/statm") as file:
            there = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (there + memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _opened(source: PictureFile) -> Any:
    if isinstance(source, PackedFile):
        try:
            source = source.read()
        except FileRefusedError as error:
            raise ImageError(error.reason) from None
    return io.BytesIO(source) if isinstance(source, bytes) else source


def _thumbnail(source: PictureFile, side: int) -> EncodedPicture:
    # The longer side of a picture of side * side pixels is never shorter than side.
    return _compressed(read_image(_opened(source), side * side), side, 80)


def _compressed(pixels: Pixels, side: int, quality: int) -> EncodedPicture:
    image, file = Image.fromarray(pixels), io.BytesIO()
    image.thumbnail((side, side))
    if image.width * image.height <= _SMALL:
        image.save(file, "png")
        return EncodedPicture(file.getvalue(), "image/png", image.width, image.height)
    image.save(file, "jpeg", quality=quality)
    return EncodedPicture(file.getvalue(), "image/jpeg", image.width, image.height)


def _size(source: PictureFile, _: Any) -> tuple[int, int]:
    if isinstance(source, np.ndarray):
        return int(source.shape[1]), int(source.shape[0])
    try:
        with suppress_warnings(), Image.open(_opened(source), formats=FORMATS) as image:
            width, height = image.size
            turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)  # on its side
            return (height, width) if turned else (width, height)
    except Exception:
        height, width = read_image(_opened(source), 10_000).shape[:2]  # which says what is wrong
        return width, height


def _cut(pixels: Pixels, box: tuple[float, float, float, float]) -> Pixels:
    """The part of a picture in a box; at least one pixel."""
    height, width = pixels.shape[:2]
    x0, y0, x1, y1 = box
    left, top = min(int(x0 * width), width - 1), min(int(y0 * height), height - 1)
    right, bottom = max(left + 1, round(x1 * width)), max(top + 1, round(y1 * height))
    return np.ascontiguousarray(pixels[top:bottom, left:right])

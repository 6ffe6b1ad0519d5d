"""write_features: from pictures to a store of features, which an interruption does not undo.

The pictures that a run passed over, in a file beside its store.

A text file of JSON lines. The first says which run it is of; each other is a picture: its position in the run, its name
and the reason. A line is safe on disk before any row of a later picture is, so that after a crash the file tells which
pictures the rows are of.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from manyclass._core.checks import check_count
from manyclass._core.digest import json_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import sync_file, write_bytes
from manyclass.data.quantizer import Progress, Quantizer
from manyclass.data.store.store import Store
from manyclass.data.store.writer import StoreWriter
from manyclass.features.extraction.encoding import EncodedImage, Encoding
from manyclass.features.extraction.identity import fit_quantizer_on_sample, run_identity
from manyclass.features.images.pixels import as_image_list, fill_positions

FORMAT = "manyclass skipped images 1"


@dataclass(frozen=True)
class Skipped:
    """A picture that has no row: its position among those of the run, its name, and the reason."""

    position: int
    name: str
    reason: str


class SkipLog:
    """The file `photos.store.skipped.jsonl` of the run that writes photos.store."""

    def __init__(self, path: Path, entries: list[Skipped], first: bytes):
        self.path, self.entries = path, entries
        self._first = first
        self._waiting: list[Skipped] = []

    @classmethod
    def beside(cls, store: Path, run: str, rows_done: int) -> Self:
        """The log of a run, by its digest, which has so many rows already; what was said of later pictures is cut."""
        path = log_path(store)
        first = _line({"format": FORMAT, "run": run})
        log = cls(path, [], first)
        if rows_done:
            log.entries = _entries(path, first)
            log.entries = [entry for entry in log.entries if entry.position < log.position_after(rows_done)]
        write_bytes(path, first, *(_line(asdict(entry)) for entry in log.entries))
        return log

    def position_after(self, rows: int) -> int:
        """The position of the picture after that of so many rows."""
        position = rows
        for entry in self.entries:
            if entry.position >= position:
                break
            position += 1
        return position

    def add(self, entry: Skipped) -> None:
        """Note a picture, which must come after those before; `sync` makes it safe."""
        self._waiting.append(entry)

    def sync(self) -> None:
        """Make all that was noted safe from a crash."""
        if not self._waiting:
            return
        with open(self.path, "ab") as file:
            file.write(b"".join(_line(asdict(entry)) for entry in self._waiting))
            file.flush()
            sync_file(file.fileno())
        self.entries += self._waiting
        self._waiting = []

    def close(self) -> None:
        """Remove the file of a run that is through and passed over nothing."""
        if not self.entries:
            self.path.unlink(missing_ok=True)


def log_path(store: str | os.PathLike[str]) -> Path:
    """Where the pictures that the run of a store passed over are listed."""
    return Path(os.fspath(store) + ".skipped.jsonl")


def read_skipped(store: str | os.PathLike[str]) -> list[Skipped]:
    """The pictures that have no row in a store which `write_features` wrote, and why."""
    path = log_path(store)
    return [_entry(line) for line in path.read_bytes().splitlines()[1:]] if path.exists() else []


def _entries(path: Path, first: bytes) -> list[Skipped]:
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    if lines[:1] != [first]:
        raise StorageError(
            f"{path}, which lists the images skipped so far, is missing or belongs to another run; "
            "pass resume=False to start over"
        )
    return [_entry(line) for line in lines[1:] if line.endswith(b"\n")]


def _entry(line: bytes) -> Skipped:
    return Skipped(**json.loads(line))


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"


@dataclass(frozen=True, eq=False)
class FeatureRun:
    """Result of `write_features`.

    Parameters
    ----------
    store : Store
        Store that was written.
    skipped : list of Skipped
        Images without a row in the store: position, name and reason.
    resumed_after : int
        Number of rows that an earlier attempt had written.
    """

    store: Store
    skipped: list[Skipped]
    resumed_after: int


def write_features(
    path: str | os.PathLike[str],
    images: Sequence[Any],
    encoder: Any,
    *,
    y: Sequence[Any] | None = None,
    names: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    split: Sequence[str] | None = None,
    quantizer: Quantizer | None = None,
    sample: int | None = None,
    seed: int = 0,
    max_pixels: int | None = None,
    max_source_pixels: int = 50_000_000,
    overwrite: bool = False,
    resume: bool = True,
    provenance: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> FeatureRun:
    """Encode images, and write their vectors to a store as they come.

    Images are distributed over processes, as many as `manyclass.threads` allows. Neither their number nor
    interruptions, after which the same call resumes, change a bit of the result. An image that cannot be used has no
    row in the store; it is listed with the reason in `FeatureRun.skipped` and in `<path>.skipped.jsonl`.

    Parameters
    ----------
    path : path-like
        Folder of the store.
    images : sequence of path or array
        Images, as `read_image` takes them.
    encoder : ImageEncoder
        Fitted encoder with `encode(image)` and `n_features_out_`, such as `FisherVectors`.
    y : sequence of length n_images, default=None
        Labels.
    names : sequence of str, default=None
        Names; by default the paths.
    classes : sequence of str, default=None
        Names of the classes, if labels are integers.
    split : sequence of str, default=None
        Subset of each image, such as "train" or "test".
    quantizer : Quantizer, default=None
        Quantizer whose codes are written in place of the vectors. One that is not fitted learns from a sample of
        images.
    sample : int, default=None
        Number of images that it learns from.
    seed : int, default=0
        Seed of the sample.
    max_pixels : int, default=None
        Number of pixels to which larger images are shrunk; by default that of the encoder.
    max_source_pixels : int, default=50_000_000
        Largest number of pixels of a file; larger files are skipped.
    overwrite : bool, default=False
        Whether a store at `path` is replaced.
    resume : bool, default=True
        Whether an unfinished attempt is continued; otherwise it is discarded.
    provenance : dict, default=None
        Information about where the images came from, which is saved with the store.
    progress : callable, default=None
        Function that is called with (images done, images in total).

    Returns
    -------
    FeatureRun
        `store` that was written, images `skipped`, and the number of rows `resumed_after`.

    Raises
    ------
    ValueError
        If no image can be used, or if the arguments do not fit each other.
    """
    path = Path(path).expanduser()
    if not hasattr(encoder, "encode"):
        raise ValueError(f"encoder must have encode(image), as FisherVectors has; got {type(encoder).__name__}")
    images = as_image_list(images)
    names = _names(images) if names is None else fill_positions(names)
    columns = {"y": fill_positions(y), "names": names, "split": fill_positions(split)}
    _check_lengths(images, columns)
    most = getattr(encoder, "max_pixels", 100_000) if max_pixels is None else max_pixels
    encoding = Encoding(images, encoder, check_count(most, "max_pixels"), max_source_pixels)
    identity = run_identity(encoding, names, quantizer, sample, seed)
    kept = StoreWriter.unfinished(path, identity, overwrite=overwrite, resume=resume)
    fitted, known = fit_quantizer_on_sample(quantizer, kept.quantizer, encoding, sample, seed, progress)
    encoding = replace(encoding, quantizer=fitted)
    width = None if fitted else encoder.n_features_out_
    with StoreWriter(path, width, quantizer=fitted, identity=identity, overwrite=overwrite, resume=resume) as writer:
        log = SkipLog.beside(path, json_digest(identity), writer.rows_done)
        done = writer.rows_done
        _stream(writer, log, encoding, known, names, progress)
        _check_some(writer, log, len(images))
        rows = _left(len(images), log.entries)
        entries = {key: [values[i] for i in rows] for key, values in columns.items() if values is not None}
        counts = {"images": len(images), "skipped": len(log.entries)}
        store = writer.commit(**entries, classes=classes, provenance={**(provenance or {}), **counts})
        log.close()
    return FeatureRun(store, log.entries, done)


def _stream(
    writer: StoreWriter,
    log: SkipLog,
    encoding: Encoding,
    known: dict[int, list[EncodedImage]],
    names: Sequence[str] | None,
    progress: Progress | None,
) -> None:
    n, start = len(encoding.images), log.position_after(writer.rows_done)
    writer.reserve(n)
    add = writer.append_codes if encoding.quantizer else writer.append
    size = len(encoding.chunks()[0])

    def tell(position: int) -> None:
        if progress:  # pictures that the quantizer learned from are done as well
            progress(min(n, position + size * len(known)), n)

    tell(start)
    for outcomes in _outcomes(encoding, known, start):
        for outcome in outcomes:
            if outcome.reason is not None:
                name = names[outcome.position] if names is not None else str(outcome.position)
                log.add(Skipped(outcome.position, name, outcome.reason))
        log.sync()
        rows = [outcome.row for outcome in outcomes if outcome.row is not None]
        if rows:
            add(np.stack(rows))
        tell(outcomes[-1].position + 1)


def _outcomes(encoding: Encoding, known: dict[int, list[EncodedImage]], start: int) -> Iterator[list[EncodedImage]]:
    """What became of the pictures from `start` on; some chunks may be known, by the position of their first."""
    chunks = [chunk for chunk in encoding.chunks() if chunk.stop > start]
    fresh = encoding.outcomes([chunk for chunk in chunks if chunk.start not in known])
    for chunk in chunks:
        outcomes = known.pop(chunk.start) if chunk.start in known else next(fresh)
        yield [outcome for outcome in outcomes if outcome.position >= start]


def _names(images: Sequence[Any]) -> list[str] | None:
    if all(isinstance(images[i], str | os.PathLike) for i in range(len(images))):
        return [os.fspath(images[i]) for i in range(len(images))]
    return None


def _check_lengths(images: Sequence[Any], columns: dict[str, Sequence[Any] | None]) -> None:
    if len(images) == 0:
        raise ValueError("images must have at least one entry; got none")
    for name, values in columns.items():
        if values is not None and len(values) != len(images):
            raise ValueError(f"{name} must have one entry per image ({len(images)}); got {len(values)}")


def _check_some(writer: StoreWriter, log: SkipLog, n: int) -> None:
    if writer.rows_done == 0:
        first = log.entries[0]
        raise ValueError(f"at least one of the {n} images must be usable; the first, {first.name}, {first.reason}")


def _left(n: int, skipped: Sequence[Skipped]) -> list[int]:
    gone = {entry.position for entry in skipped}
    return [position for position in range(n) if position not in gone]

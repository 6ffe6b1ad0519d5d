"""write_features: from pictures to a store of features, which an interruption does not undo."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manyclass import _checks
from manyclass.data.quantizer import Progress, Quantizer
from manyclass.data.store import Store, StoreWriter
from manyclass.data.store.sealed import digest
from manyclass.features.encoding import Encoding, Outcome
from manyclass.features.image_lists import in_positions, listed
from manyclass.features.quantizer_sample import learned
from manyclass.features.run_identity import run_identity
from manyclass.features.skipped import SkipLog, Skipped


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
    images = listed(images)
    names = _names(images) if names is None else in_positions(names)
    columns = {"y": in_positions(y), "names": names, "split": in_positions(split)}
    _check_lengths(images, columns)
    most = getattr(encoder, "max_pixels", 100_000) if max_pixels is None else max_pixels
    encoding = Encoding(images, encoder, _checks.count(most, "max_pixels"), max_source_pixels)
    identity = run_identity(encoding, names, quantizer, sample, seed)
    kept = StoreWriter.unfinished(path, identity, overwrite=overwrite, resume=resume)
    fitted, known = learned(quantizer, kept.quantizer, encoding, sample, seed, progress)
    encoding = replace(encoding, quantizer=fitted)
    width = None if fitted else encoder.n_features_out_
    with StoreWriter(path, width, quantizer=fitted, identity=identity, overwrite=overwrite, resume=resume) as writer:
        log = SkipLog.beside(path, digest(identity), writer.rows_done)
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
    known: dict[int, list[Outcome]],
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


def _outcomes(encoding: Encoding, known: dict[int, list[Outcome]], start: int) -> Iterator[list[Outcome]]:
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

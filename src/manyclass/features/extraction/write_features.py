"""write_features: from images to a store of features, which an interruption does not undo.

A run is continued if its identity is the same: files are known by their names and sizes, arrays by their content, the
encoder by the file that it saves. The encoder and the list of images that could not be used are committed with the
rows, so that a store never has those of another.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.algebra.linalg import l2_normalize
from manyclass._core.checks import check_count
from manyclass._core.digest import json_digest, sha256_digest
from manyclass._core.files import expand_home
from manyclass._core.models import is_savable, model_pieces
from manyclass._core.sealed import parse_json
from manyclass._core.shards import SHARD, Shard, ShardRecord, library_versions
from manyclass._core.typing import Report
from manyclass.data.quantizer import Quantizer
from manyclass.data.store.attachments import ENCODER, SKIPPED, attachment_name
from manyclass.data.store.store import Store
from manyclass.data.store.transaction import UnfinishedWrite
from manyclass.data.store.writer import StoreWriter
from manyclass.features.extraction.earlier_rows import EarlierRows
from manyclass.features.extraction.encoding import Encoding, Known, KnownLike, fit_quantizer, is_fitted
from manyclass.features.extraction.run_identity import run_identity
from manyclass.features.extraction.skip_log import SkipLog, SkippedImage, read_skipped
from manyclass.features.images.decoding import as_image_list, as_positional


@dataclass(frozen=True, eq=False)
class FeatureRun:
    """Result of `write_features`.

    Parameters
    ----------
    store : Store
        Store that was written.
    skipped : list of SkippedImage
        Images without a row in the store: position, name and reason.
    resumed_after : int
        Number of rows that an earlier attempt had written.
    """

    store: Store
    skipped: list[SkippedImage]
    resumed_after: int

    @property
    def similarity(self) -> float:
        """Median cosine between the rows of a sample; near 1 they tell little of their images, and 0 for one row."""
        n = self.store.shape[0]
        unit = l2_normalize(self.store.X.rows(np.linspace(0, n - 1, min(n, 100)).astype(np.intp)).astype(np.float64))
        pairs = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
        return float(np.median(pairs)) if len(pairs) else 0.0


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
    progress: Report | None = None,
    shard: Shard | str | None = None,
    earlier: EarlierRows | None = None,
) -> FeatureRun:
    """Encode images, and write their vectors to a store as they come.

    Images are distributed over processes, as many as `manyclass.threads` allows. Neither their number nor
    interruptions, after which the same call resumes, change a bit of the result. An image that cannot be used has no
    row in the store; it is listed with the reason in `FeatureRun.skipped`, and `read_skipped` finds it in the store. An
    encoder of manyclass is kept in the store too.

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
    shard : str, default=None
        Part of the images that is encoded, such as "3/16", the third of sixteen parts; a quantizer learns from all, as
        without it. The parts are stores of their own, of which `manyclass.runs.join` makes the store of all images, to
        the byte; a part may have no row.
    earlier : EarlierRows, default=None
        Rows that a store of the same encoder has of these images; files that were not touched since are not encoded
        again. Nothing is taken from it for a quantizer.

    Returns
    -------
    FeatureRun
        `store` that was written, images `skipped`, and the number of rows `resumed_after`.

    Raises
    ------
    ValueError
        If no image can be used, or if the arguments do not fit each other.
    StorageError
        If the disk is full, or the machine cannot read an image now; the same call then resumes.
    """
    task = FeatureTask.of(
        images,
        encoder,
        columns={"y": y, "names": names, "split": split},
        classes=classes,
        quantizer=quantizer,
        sample=sample,
        seed=seed,
        max_pixels=max_pixels,
        max_source_pixels=max_source_pixels,
        provenance=provenance,
    )
    if shard is not None:
        task = task.part(Shard.parse(shard))
    return task.write(path, overwrite, resume, progress, earlier)


@dataclass(frozen=True, eq=False)
class FeatureTask:
    """What `write_features` is to write: images and what goes with them, and what tells the run from others.

    `part` says which of the images are written, if it is not all; what is learned is learned from all of them.
    """

    encoding: Encoding
    columns: dict[str, Sequence[Any] | None]
    classes: Sequence[str] | None
    identity: dict[str, Any]
    provenance: dict[str, Any]
    quantizer: Quantizer | None = None  # as it is given, or as an earlier attempt has left it
    shard: ShardRecord | None = None

    @classmethod
    def of(
        cls,
        images: Sequence[Any],
        encoder: Any,
        *,
        columns: dict[str, Any],
        classes: Sequence[str] | None = None,
        quantizer: Quantizer | None = None,
        sample: int | None = None,
        seed: int = 0,
        max_pixels: int | None = None,
        max_source_pixels: int = 50_000_000,
        provenance: dict[str, Any] | None = None,
    ) -> "FeatureTask":
        """What is to be written of all images; the arguments are those of `write_features`, and must fit each other."""
        if not hasattr(encoder, "encode"):
            raise ValueError(f"encoder must have encode(image), as FisherVectors has; got {type(encoder).__name__}")
        images = as_image_list(images)
        columns = {key: as_positional(values) for key, values in columns.items()}
        columns["names"] = _names(images) if columns["names"] is None else columns["names"]
        _check_lengths(images, columns)
        most = getattr(encoder, "max_pixels", 100_000) if max_pixels is None else max_pixels
        encoding = Encoding(images, encoder, check_count(most, "max_pixels"), max_source_pixels)
        identity = parse_json(run_identity(encoding, columns["names"], quantizer, sample, seed), "identity")
        return cls(encoding, columns, classes, identity, provenance or {}, quantizer)

    @property
    def span(self) -> range:
        """The positions of the images that are written."""
        return range(len(self.encoding.images)) if self.shard is None else range(self.shard.first, self.shard.stop)

    def part(self, shard: Shard) -> "FeatureTask":
        """The same for one part of the images."""
        return self.parts([shard])[0]

    def parts(self, shards: Sequence[Shard]) -> list["FeatureTask"]:
        """The same for several parts."""
        n, whole = len(self.encoding.images), self._whole()
        spans = [shard.span(n, self.encoding.chunk_size) for shard in shards]
        records = [ShardRecord.of(shard, span, n, whole) for shard, span in zip(shards, spans, strict=True)]
        return [replace(self, shard=record) for record in records]

    def unfinished(self, path: Path, overwrite: bool = False, resume: bool = True) -> UnfinishedWrite:
        """What an earlier attempt has left; what the writer would refuse is refused, before any image is read."""
        return StoreWriter.unfinished(path, self._own_identity(), overwrite=overwrite, resume=resume)

    def fit_quantizer(self, progress: Report | None = None) -> tuple[Quantizer | None, Known]:
        """The quantizer, which learns from a sample of all images unless it is fitted, and the codes of these."""
        if self.quantizer is None or is_fitted(self.quantizer):
            return self.quantizer, {}
        return fit_quantizer(self.quantizer, self.encoding, self.identity["sample"], self.identity["seed"], progress)

    def write(
        self,
        path: str | os.PathLike[str],
        overwrite: bool,
        resume: bool,
        progress: Report | None,
        earlier: EarlierRows | None = None,
    ) -> FeatureRun:
        """Encode the images of the span, and write them."""
        path, span, encoder = expand_home(path), self.span, self.encoding.encoder
        quantizer = self.unfinished(path, overwrite, resume).quantizer
        known: KnownLike = {}
        if quantizer is None:
            quantizer, sampled = self.fit_quantizer(progress)
            known = {first: outcomes for first, outcomes in sampled.items() if first in span}
        encoding, names = replace(self.encoding, quantizer=quantizer), self.columns["names"]
        settings: dict[str, Any] = {"identity": self._own_identity(), "overwrite": overwrite, "resume": resume}
        width, run = None if quantizer else encoder.n_features_out_, json_digest(self.identity)
        with StoreWriter(path, width, quantizer=quantizer, **settings) as writer:
            resumed_after, listed = writer.rows_done, path / attachment_name(SKIPPED, writer.serial)
            if is_savable(encoder):
                writer.attach(ENCODER, *model_pieces(encoder))
            writer.reserve(len(span))
            if writer.is_done:
                log = SkipLog(listed, run, read_skipped(path))
            else:
                log = SkipLog.open(listed, run, resumed_after, span.start)
                if earlier is not None and quantizer is None and names is not None:
                    known = earlier.chunks(encoding, names, range(log.position_after(resumed_after), span.stop))
                _write_rows(writer, log, encoding, span, known, names, progress)
            if writer.rows_done == 0 and self.shard is None:
                name, reason = log.entries[0].name, log.entries[0].reason
                raise ValueError(f"at least one of the {len(span)} images must be usable; the first, {name}, {reason}")
            skipped = {entry.position for entry in log.entries}
            rows = [position for position in span if position not in skipped]
            if skipped:
                writer.attach(SKIPPED, log.content())
            entries = {key: [values[i] for i in rows] for key, values in self.columns.items() if values is not None}
            about: dict[str, Any] = {"images": len(span), "skipped": len(skipped)}
            about |= {} if self.shard is None else {SHARD: self.shard.json()}
            store = writer.commit(**entries, classes=self.classes, provenance={**self.provenance, **about})
        return FeatureRun(store, log.entries, resumed_after)

    def _own_identity(self) -> dict[str, Any]:
        return self.identity if self.shard is None else {**self.identity, SHARD: str(self.shard.shard)}

    def _whole(self) -> dict[str, Any]:
        """What must be the same of all parts."""
        # Names are among the images already.
        columns = {**self.columns, "classes": self.classes}
        labels = {key: values for key, values in columns.items() if key != "names" and values is not None}
        words = (f"{key} {values[i]}\0" for key, values in labels.items() for i in range(len(values)))
        versions = library_versions(("PIL", *getattr(self.encoding.encoder, "libraries", ())))
        return {"features": self.identity, "labels": sha256_digest(words), "versions": versions}


def _write_rows(
    writer: StoreWriter,
    log: SkipLog,
    encoding: Encoding,
    span: range,
    known: KnownLike,
    names: Sequence[str] | None,
    progress: Report | None,
) -> None:
    n, start = len(span), log.position_after(writer.rows_done)
    append = writer.append_codes if encoding.quantizer else writer.append

    def report(position: int) -> None:
        if progress:  # images that the quantizer learned from, or that were encoded earlier, are done as well
            progress(min(n, position - span.start + encoding.chunk_size * len(known)), n)

    report(start)
    for outcomes in encoding.encode_from(start, known, span.stop):
        rows, skipped = [], []
        for outcome in outcomes:
            if outcome.row is not None:
                rows.append(outcome.row)
            if outcome.reason is not None:
                name = names[outcome.position] if names is not None else str(outcome.position)
                skipped.append(SkippedImage(outcome.position, name, outcome.reason))
        if skipped:
            log.append(skipped)
        if rows:
            append(np.stack(rows))
        report(outcomes[-1].position + 1)


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

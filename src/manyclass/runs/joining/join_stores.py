"""Stores of parts: rows one part after the other, with labels, names, the encoder, and the images that were skipped."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.digest import json_digest
from manyclass._core.shards import SHARD
from manyclass._core.typing import Report
from manyclass.data.store.attachments import ENCODER, SKIPPED
from manyclass.data.store.columns import StoreColumns, concatenate_columns
from manyclass.data.store.manifest import Manifest, read_manifest
from manyclass.data.store.store import Store, quantizer_fingerprint
from manyclass.data.store.write import Source, source_of, stream_rows
from manyclass.data.store.writer import StoreWriter
from manyclass.features.extraction.skip_log import SkipLog, SkippedImage, read_skipped
from manyclass.runs.joining.parts import Part, in_order, refuse_other


def join_stores(out: Path, paths: Sequence[Path], overwrite: bool, resume: bool, report: Report) -> dict[str, Any]:
    """Write the store that `manyclass features` without --shard would have written; what it has, for a table."""
    found = {path: read_manifest(path) for path in paths}
    parts = in_order(_part(path, manifest) for path, manifest in found.items())
    manifests, total = [found[part.path] for part in parts], parts[0].record.total
    skipped = [entry for part in parts for entry in read_skipped(part.path)]
    if not any(manifest.n_rows for manifest in manifests):
        first = "".join(f"; the first, {entry.name}, {entry.reason}" for entry in skipped[:1])
        raise ValueError(f"at least one of the {total} images must be usable{first}")
    rows = _PartRows([part.path for part in parts], manifests)
    source, columns = rows.source(), concatenate_columns(rows.check_and_collect())
    identity = {"command": "join", "parts": [manifest.digest() for manifest in manifests]}
    settings: dict[str, Any] = {"identity": identity, "overwrite": overwrite, "resume": resume}
    learner = _who_learned(manifests)
    with StoreWriter(out, source.shape[1], source.dtype, quantizer=source.quantizer, **settings) as writer:
        if (encoder := rows.store(learner).attachment(ENCODER)) is not None:
            writer.attach(ENCODER, encoder, about=manifests[learner].attachments[ENCODER].about)
        if skipped:
            writer.attach(SKIPPED, _skip_list(out, parts, skipped))
        stream_rows(writer, source, columns, report)
        about = {key: value for key, value in manifests[learner].provenance.items() if key != SHARD}
        store = writer.commit_columns(columns, {**about, "images": total, "skipped": len(skipped)})
    return {"rows": store.shape[0], "dimensions": store.shape[1], "bytes": store.nbytes, "skipped": len(skipped)}


def _part(path: Path, manifest: Manifest) -> Part:
    skipped = manifest.provenance.get("skipped", 0)
    return Part.of(path, manifest.provenance, manifest.n_rows + (skipped if isinstance(skipped, int) else 0))


class _PartRows:
    """The rows of stores, one after the other; one store is open at a time, as each has a quantizer of its own."""

    def __init__(self, paths: list[Path], manifests: list[Manifest]):
        self._paths, self._manifests = paths, manifests
        self._starts = np.cumsum([0, *(manifest.n_rows for manifest in manifests)]).tolist()
        self._open: tuple[int, Store] | None = None

    def store(self, i: int) -> Store:
        """The store of a part."""
        if self._open is None or self._open[0] != i:
            self._open = None
            self._open = i, Store(self._paths[i], self._manifests[i])
        return self._open[1]

    def source(self) -> Source:
        """All rows, as the parts keep them."""
        first = source_of(self.store(0).X)
        return replace(first, shape=(self._starts[-1], first.shape[1]), read=self._read)

    def check_and_collect(self) -> list[StoreColumns]:
        """The columns of every part, which must have learned from the same images what the first has, to the bit."""
        columns, known = [], None
        for i, (path, manifest) in enumerate(zip(self._paths, self._manifests, strict=True)):
            store, encoder = self.store(i), manifest.attachments.get(ENCODER)
            learned = (
                None if store.quantizer is None else quantizer_fingerprint(store.quantizer),
                None if encoder is None else encoder.sha256,
            )
            known = known or learned
            if learned[0] != known[0]:
                refuse_other(self._paths[0], path, "the quantizer that they learned from the same images")
            if learned[1] != known[1]:
                refuse_other(self._paths[0], path, "features.encoder")
            columns.append(store.columns())
        return columns

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        pieces = []
        for i, (first, end) in enumerate(pairwise(self._starts)):
            a, b = max(start, first), min(stop, end)
            if a < b:
                pieces.append(source_of(self.store(i).X).read(a - first, b - first))
        return np.concatenate(pieces)


def _who_learned(manifests: list[Manifest]) -> int:
    """The first part that learned the encoder, as one run would have; the first of all where none did."""
    known = (i for i, one in enumerate(manifests) if ENCODER in one.attachments and one.attachments[ENCODER].about)
    return next(known, 0)


def _skip_list(out: Path, parts: list[Part], skipped: list[SkippedImage]) -> bytes:
    return SkipLog(out, json_digest(parts[0].record.whole.get("features")), skipped).content()

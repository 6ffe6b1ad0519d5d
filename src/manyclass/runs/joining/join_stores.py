"""Stores of parts: rows one part after the other, with labels, names, the encoder, and the images that were skipped."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyclass._core.digest import json_digest
from manyclass._core.shards import SHARD
from manyclass._core.typing import Report
from manyclass.data.store.attachments import ENCODER, SKIPPED
from manyclass.data.store.columns import concatenate_columns
from manyclass.data.store.manifest import Manifest, read_manifest
from manyclass.data.store.store import Store, same_quantizer
from manyclass.data.store.write import source_of, stream_rows
from manyclass.data.store.writer import StoreWriter
from manyclass.data.views import ShardedMatrix
from manyclass.features.extraction.skip_log import SkipLog, SkippedImage, read_skipped
from manyclass.runs.joining.parts import Part, in_order, refuse_other


def join_stores(out: Path, paths: Sequence[Path], overwrite: bool, resume: bool, report: Report) -> dict[str, Any]:
    """Write the store that `manyclass features` without --shard would have written; what it has, for a table."""
    found = {path: read_manifest(path) for path in paths}
    parts = in_order(_part(path, manifest) for path, manifest in found.items())
    manifests = [found[part.path] for part in parts]
    stores = [Store(part.path, manifest) for part, manifest in zip(parts, manifests, strict=True)]
    _check_learned(stores, manifests)
    skipped = [entry for part in parts for entry in read_skipped(part.path)]
    total = parts[0].record.total
    filled = [store.X for store in stores if len(store)]
    if not filled:
        first = "".join(f"; the first, {entry.name}, {entry.reason}" for entry in skipped[:1])
        raise ValueError(f"at least one of the {total} images must be usable{first}")
    source, columns = source_of(ShardedMatrix(filled)), concatenate_columns([store.columns() for store in stores])
    identity = {"command": "join", "parts": [manifest.digest() for manifest in manifests]}
    settings: dict[str, Any] = {"identity": identity, "overwrite": overwrite, "resume": resume}
    learned = _who_learned(manifests)
    with StoreWriter(out, source.shape[1], source.dtype, quantizer=source.quantizer, **settings) as writer:
        if (encoder := manifests[learned].attachments.get(ENCODER)) is not None:
            writer.attach(ENCODER, stores[learned].attachment(ENCODER) or b"", about=encoder.about)
        if skipped:
            writer.attach(SKIPPED, _skip_list(out, parts, skipped))
        stream_rows(writer, source, columns, report)
        about = {key: value for key, value in stores[learned].provenance.items() if key != SHARD}
        store = writer.commit_columns(columns, {**about, "images": total, "skipped": len(skipped)})
    return {"rows": store.shape[0], "dimensions": store.shape[1], "bytes": store.nbytes, "skipped": len(skipped)}


def _part(path: Path, manifest: Manifest) -> Part:
    skipped = manifest.provenance.get("skipped", 0)
    return Part.of(path, manifest.provenance, manifest.n_rows + (skipped if isinstance(skipped, int) else 0))


def _check_learned(stores: list[Store], manifests: list[Manifest]) -> None:
    """See that all parts have learned the same, to the bit, from the same images."""
    for store, manifest in zip(stores[1:], manifests[1:], strict=True):
        if not same_quantizer(stores[0].quantizer, store.quantizer):
            refuse_other(stores[0].path, store.path, "the quantizer that they learned from the same images")
        encoders = [one.attachments.get(ENCODER) for one in (manifests[0], manifest)]
        if len({None if encoder is None else encoder.sha256 for encoder in encoders}) > 1:
            refuse_other(stores[0].path, store.path, "features.encoder")


def _who_learned(manifests: list[Manifest]) -> int:
    """The first part that learned the encoder, as one run would have; the first of all where none did."""
    known = (i for i, one in enumerate(manifests) if ENCODER in one.attachments and one.attachments[ENCODER].about)
    return next(known, 0)


def _skip_list(out: Path, parts: list[Part], skipped: list[SkippedImage]) -> bytes:
    return SkipLog(out, json_digest(parts[0].record.whole.get("features")), skipped).content()

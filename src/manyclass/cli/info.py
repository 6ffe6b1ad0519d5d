"""manyclass info: what is in a file or folder?"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from manyclass._core.text import format_bytes
from manyclass.cli.terminal.command_errors import report_errors
from manyclass.cli.terminal.console import Console
from manyclass.cli.terminal.options import Json, path_argument


@report_errors("nothing was changed")
def info(
    source: Annotated[
        Path, path_argument("A store, .npy, .npz, parquet, a folder of shards, a run, a model, a gallery, a probe.")
    ],
    json: Json = False,
) -> None:
    """Say what a file or folder holds: shape, size, labels, and how it was made."""
    from manyclass.runs.run_record import RUN_FORMAT, run_rows

    console = Console(json=json)
    result = {"path": str(source), **describe(source, console.warn)}
    console.json(result)
    console.table(str(source), run_rows(result) if result["format"] == RUN_FORMAT else _rows(result))


def describe(source: Path, warn: Callable[[str], None]) -> dict[str, Any]:
    """A store's own summary, that of a run, a model, a gallery or a probe, or what can be told of the features."""
    from manyclass.data.store.manifest import JOURNAL, MANIFEST
    from manyclass.retrieval.storage.segments import is_gallery
    from manyclass.runs.folder import is_run, last_unfinished, read_whole_run
    from manyclass.runs.load_model import describe_model, is_model
    from manyclass.runs.records import AUDIT, AUDIT_FILE, PROBE, RUN_FILE, kind_of, read_record
    from manyclass.runs.run_record import run_summary

    if is_gallery(source):
        return describe_gallery(source)
    if os.path.lexists(source / MANIFEST) or (source / JOURNAL).exists():
        import manyclass as mc

        store = mc.open_store(source)
        store.X.rows(slice(0, 1))  # by which the manifest of another store is noticed
        summary: dict[str, Any] = store.summary()
        return summary
    if is_run(source) or os.path.lexists(source / RUN_FILE):
        unfinished = None if os.path.lexists(source / RUN_FILE) else last_unfinished(source)
        return run_summary(read_whole_run(source) if unfinished is None else unfinished.record)
    if is_model(source):
        return describe_model(source)
    if os.path.lexists(source / AUDIT_FILE):
        found = read_record(source / AUDIT_FILE, AUDIT)
        return {name: found[name] for name in ("format", "data", "settings", "counts", "expected_errors", "seconds")}
    if source.suffix == ".json" and kind_of(source) == PROBE:
        return describe_probe(source)
    return _describe_features(source, warn)


def _describe_features(source: Path, warn: Callable[[str], None]) -> dict[str, Any]:
    from manyclass.data.readers.as_matrix import layout_of
    from manyclass.datasets.dataset import count_classes
    from manyclass.runs.sources import read_source

    features = read_source(source, warn=warn)
    X, y = features.X, features.y
    return {
        "format": layout_of(source),
        "rows": X.shape[0],
        "columns": X.shape[1],
        "dtype": str(X.dtype),
        "bytes": int(X.nbytes),
        "labels": y is not None,
        "classes": count_classes(y) if features.classes is None and y is not None else _length(features.classes),
        "names": features.names is not None,
        "split": None if features.split is None else _counts(features.split),
    }


def _length(values: Any) -> int | None:
    return None if values is None else len(values)


def _counts(split: Any) -> dict[str, int]:
    import numpy as np

    names, counts = np.unique(np.asarray(split), return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(key.replace("_", " "), _words(key, value)) for key, value in result.items() if key != "path" and value]


def _words(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(name, inner)}" for name, inner in value.items() if inner not in (None, ""))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and len(value) <= 2 and all(type(one) is int for one in value):
        return ", ".join(_words(key, one) for one in value)  # of an encoder, and of the one that ranks again
    if isinstance(value, list):
        return f"{len(value):,}"
    if isinstance(value, int):
        return format_bytes(value) if key == "bytes" else f"{value:,}"
    return str(value)


def describe_gallery(path: Path) -> dict[str, Any]:
    """The images of a gallery, how they are compared, and where they came from."""
    import manyclass as mc
    from manyclass.retrieval.storage.segments import GALLERY_FORMAT, GALLERY_VERSION, read_gallery_manifest
    from manyclass.retrieval.storage.verify_gallery import gallery_bytes
    from manyclass.runs.galleries.gallery_builder import index_summary

    gallery = mc.Gallery.open(path)
    content, _ = read_gallery_manifest(path)
    records = gallery.metadata(gallery.ids)
    return {
        "format": GALLERY_FORMAT,
        "version": GALLERY_VERSION,
        "images": len(gallery),
        "columns": gallery.n_features_in_,
        "numbers_per_code": content["widths"],
        "bytes": gallery_bytes(path),
        "ids": "names" if gallery.ids.dtype.kind == "U" else "numbers",
        "classes": len({record.get("class") for record in records} - {None}),
        "metadata": {name: _distinct(records, name) for name in (records[0] if records else {})},
        "encoder": _model(gallery.encoder),
        "second": _model(gallery.reranker),
        "own_background": gallery.own_background,
        "index": index_summary(gallery),
        "search_by_pictures": content["models"].get("features") is not None,
        "provenance": gallery.provenance,
    }


def describe_probe(path: Path) -> dict[str, Any]:
    """Which embeddings a probe is of, by which rows they were judged, and what it found."""
    from manyclass.runs.records import PROBE, read_record

    record = read_record(path, PROBE)
    best = {one["name"]: _best(one["methods"]) for one in record["embeddings"]}
    return {
        "format": record["format"],
        "version": record["version"],
        "protocol": record["protocol"],
        "rows": record["rows"],
        "test_rows": record["test_rows"],
        "classes": record["classes"],
        "best_top_1": best,
        "verdict": record["verdict"],
    }


def _best(methods: list[dict[str, Any]]) -> float | None:
    return max((round(method["top_1"]["value"], 4) for method in methods), default=None)


def _distinct(records: list[dict[str, Any]], name: str) -> str:
    """How many values there are."""
    return f"{len({str(record[name]) for record in records}):,} values"


def _model(model: Any) -> dict[str, Any] | None:
    if model is None:
        return None
    settings = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return {"kind": type(model).__name__, **{key: value for key, value in settings.items() if value is not None}}

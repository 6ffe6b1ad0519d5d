"""What `manyclass info` says of a gallery."""

from pathlib import Path
from typing import Any


def describe_gallery(path: Path) -> dict[str, Any]:
    """The images of a gallery, how they are compared, and where they came from."""
    import manyclass as mc
    from manyclass.retrieval.files import NAME, VERSION, read_manifest
    from manyclass.retrieval.verifying import gallery_bytes

    gallery = mc.Gallery.open(path)
    content, _ = read_manifest(path)
    records = gallery.metadata(gallery.ids)
    return {
        "format": NAME,
        "version": VERSION,
        "images": len(gallery),
        "columns": gallery.n_features_in_,
        "numbers_per_code": content["widths"],
        "bytes": gallery_bytes(path),
        "ids": "names" if gallery.ids.dtype.kind == "U" else "numbers",
        "classes": len({record.get("class") for record in records} - {None}),
        "metadata": {name: _distinct(records, name) for name in (records[0] if records else {})},
        "encoder": _model(gallery.encoder),
        "second": _model(gallery.reranker),
        "search_by_pictures": content["models"].get("features") is not None,
        "provenance": gallery.provenance,
    }


def _distinct(records: list[dict[str, Any]], name: str) -> str:
    """How many values there are."""
    return f"{len({str(record[name]) for record in records}):,} values"


def _model(model: Any) -> dict[str, Any] | None:
    if model is None:
        return None
    settings = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return {"kind": type(model).__name__, **{key: value for key, value in settings.items() if value is not None}}

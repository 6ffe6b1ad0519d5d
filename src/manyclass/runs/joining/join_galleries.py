"""Galleries of parts: the images of all, and the neighbors of each among all, with the encoder that the parts share."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from manyclass._core.errors import StorageError
from manyclass._core.shards import SHARD
from manyclass._core.typing import Notify, Report
from manyclass.retrieval.gallery import Gallery
from manyclass.retrieval.storage.open import open_joined
from manyclass.retrieval.storage.save import save_gallery
from manyclass.retrieval.storage.segments import read_gallery_manifest
from manyclass.runs.galleries.gallery_builder import check_free, warn_of_background
from manyclass.runs.joining.parts import Part, in_order, refuse_other

# What the manifests of all parts must say alike, besides the widths of those that have images.
_SHARED = ("settings", "null", "models")


def join_galleries(
    out: Path, paths: Sequence[Path], overwrite: bool, warn: Notify | None, report: Report
) -> dict[str, Any]:
    """Save the gallery that `manyclass encode` without --shard would have saved; what it has, for a table."""
    found = {path: read_gallery_manifest(path)[0] for path in paths}
    try:
        parts = in_order(_part(path, content) for path, content in found.items())
        _check_alike(parts, found)
        check_free(out, overwrite)
        gallery = open_joined(Gallery, {part.path: found[part.path] for part in parts}, report)
    except (LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise StorageError(f"the parts cannot be understood as galleries ({error}); verify each of them") from error
    gallery.provenance = {key: value for key, value in gallery.provenance.items() if key != SHARD}
    save_gallery(gallery, out, overwrite)
    warn_of_background(gallery, warn or warnings.warn)
    things = gallery.state().neighbors.n_things(gallery.state().catalog)
    return {"images": len(gallery), "dimensions": gallery.n_features_in_, "things": things}


def _part(path: Path, content: dict[str, Any]) -> Part:
    if content["gone"] or content["next"] != content["images"]:
        raise StorageError(f"{path} was changed since it was made: images were added or removed; make it again")
    return Part.of(path, content.get("provenance") or {}, content["images"])


def _check_alike(parts: list[Part], found: dict[Path, dict[str, Any]]) -> None:
    """See that all parts have learned the same, to the bit, from the same negatives."""
    first = parts[0]
    for other in parts[1:]:
        for key in _SHARED:
            a, b = (_plain(found[part.path], key) for part in (first, other))
            if a != b and key != "models":
                refuse_other(first.path, other.path, "the column that says what images show" if key == "null" else key)
            for role in (role for role in a if a[role] != b[role]):
                refuse_other(first.path, other.path, f"the model {role} that they learned from the same rows")


def _plain(content: dict[str, Any], key: str) -> dict[str, Any]:
    """What a manifest says, without what depends on the images of the part: of files their content, and no name."""
    if key == "null":
        return {"things": content["null"]["things"]}
    if key == "models":
        # Without an encoder there is a background set, which a part without images does not save.
        kept = {role: part for role, part in content["models"].items() if content["images"] or role != "pool"}
        return {role: part and part["sha256"] for role, part in kept.items()}
    return dict(content[key])

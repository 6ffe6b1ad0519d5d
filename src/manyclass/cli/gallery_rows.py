"""Rows of features as images of a gallery: their ids, and what is known of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass.cli.progress import Report

if TYPE_CHECKING:
    from manyclass.datasets import Features
    from manyclass.retrieval.gallery import Gallery

_BLOCK = 1024  # the rows that encoders take at once, so that codes have the same bits as those of all rows together


def ids_of(features: "Features", data: Path) -> list[Any]:
    """The names of the rows, which must be distinct, or their numbers."""
    if features.names is None:
        return list(range(features.X.shape[0]))
    seen: set[str] = set()
    for name in (ids := [str(name) for name in features.names]):
        if name in seen:
            raise ValueError(f"{data} must name every row once, so that it is found by it; got {name!r} twice")
        seen.add(name)
    return ids


def words_of(features: "Features") -> list[str] | None:
    """The class of every row in words, or None."""
    if features.y is None:
        return None
    values = features.y.tolist()
    if features.classes is None or features.y.dtype.kind not in "iu":
        return [str(value) for value in values]
    return [str(features.classes[value]) for value in values]


def metadata_of(features: "Features") -> dict[str, list[str]]:
    """Columns of a gallery: class and split, where they are known."""
    split = None if features.split is None else features.split.astype(str).tolist()
    return {key: values for key, values in (("class", words_of(features)), ("split", split)) if values is not None}


def add_rows(gallery: "Gallery", features: "Features", ids: list[Any] | None, report: Report) -> None:
    """Add all rows, a block at a time; without ids they are numbers that count on."""
    n, metadata = features.X.shape[0], metadata_of(features)
    for start in range(0, n, _BLOCK):
        at = slice(start, min(n, start + _BLOCK))
        columns = {key: values[at] for key, values in metadata.items()}
        gallery.add(features.X.rows(at), ids=None if ids is None else ids[at], metadata=columns)
        report(at.stop, n)

"""What a record says of the data that a command worked on."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyclass.datasets import Features


def data_record(role: str, path: Path, features: "Features", part: str | None = None) -> dict[str, Any]:
    """The data at a path in some role ("gallery", "negatives", ...), as records of runs and evaluations hold it."""
    return {
        "role": role,
        "path": str(path),
        "part": part,
        "rows": int(features.X.shape[0]),
        "columns": int(features.X.shape[1]),
        "classes": _classes(features),
        "fingerprint": fingerprint(path),
        "bytes": int(features.X.nbytes),
    }


def fingerprint(path: Path) -> str:
    """SHA-256 of a file; of a store its manifest, which has checksums of the rest; else of the names and sizes."""
    from manyclass.data.store.layout import MANIFEST

    if (path / MANIFEST).is_file():
        path = path / MANIFEST
    if path.is_file():
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    files = sorted((str(file.relative_to(path)), file.stat().st_size) for file in path.rglob("*") if file.is_file())
    return hashlib.sha256(repr(files).encode("utf-8", "surrogatepass")).hexdigest()


def _classes(features: "Features") -> int | None:
    if features.y is None:
        return None
    return len(set(features.y.tolist())) if features.classes is None else len(features.classes)

"""Where the rows of a source came from: the encoder that made them, and the folder of the pictures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manyclass.cli.encoder_files import encoder_path

_MOST_STEPS = 8


def encoder_of(source: Path) -> Path | None:
    """The file of the encoder that made the rows of a store, or of the store that it was compressed from."""
    for store, provenance in _ancestors(source):
        for path in (encoder_path(store), Path(str(provenance.get("kind", ""))).expanduser()):
            if path.is_file() and path.suffix.lower() != ".onnx":
                return path
    return None


def pictures_of(source: Path) -> Path | None:
    """The folder below which the names of the rows are pictures."""
    origin = None
    for _, provenance in _ancestors(source):
        origin = Path(str(provenance["source"])).expanduser() if "source" in provenance else None
    if origin is None or not origin.exists():
        return None
    folder = origin if origin.is_dir() else origin.parent
    return folder.resolve()


def _ancestors(source: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A store and what it says of its making, then the store that it was made of, and so on."""
    from manyclass.data.store.layout import MANIFEST
    from manyclass.data.store.manifest_file import read_manifest

    for _ in range(_MOST_STEPS):
        if not (source / MANIFEST).is_file():
            return
        provenance = read_manifest(source).provenance
        yield source, provenance
        source = Path(str(provenance.get("source", ""))).expanduser()

"""Where features came from: the pictures, and the encoder that turned them into numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from manyclass.cli.encoder_files import encoder_path


def encoder_file(data: Path) -> Path | None:
    """The encoder of pictures that made a store: beside it, named by it, or that of the store that was compressed."""
    for store, provenance in _ancestry(data):
        if encoder_path(store).is_file():
            return encoder_path(store)
        named = _found(provenance.get("kind"), store)
        if named is not None and named.is_file():
            return named
    return None


def picture_folder(data: Path) -> Path | None:
    """The folder in which the names of a store's rows are paths of pictures, if it is still there."""
    for store, provenance in _ancestry(data):
        if provenance.get("made by") == "manyclass features":
            source = _found(provenance.get("source"), store)
            folder = source.parent if source is not None and source.is_file() else source
            return None if folder is None else folder.resolve()
    return None


def pictures_of(data: Path) -> dict[str, str] | None:
    """Where a report finds the pictures of a store's rows: a folder of files, or an array with a list of names."""
    folder = picture_folder(data)
    if folder is not None:
        return {"folder": str(folder)}
    for store, provenance in _ancestry(data):
        named = provenance.get("pictures")
        if isinstance(named, dict) and named.keys() == {"array", "names"}:
            return {key: str(store.resolve().parent / str(name)) for key, name in named.items()}
    return None


def _ancestry(data: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A store and its provenance, and so for the stores that it was compressed from."""
    seen: set[Path] = set()
    path: Path | None = data
    while path is not None and path.resolve() not in seen:
        seen.add(path.resolve())
        provenance = _provenance(path)
        yield path, provenance
        path = _found(provenance.get("source"), path) if provenance.get("made by") == "manyclass compress" else None


def _provenance(path: Path) -> dict[str, Any]:
    from manyclass.data.store import StorageError
    from manyclass.data.store.manifest_file import read_manifest

    try:
        return dict(read_manifest(path).provenance)
    except StorageError:
        return {}


def _found(word: Any, store: Path) -> Path | None:
    """A path as it was typed once: from here, or from beside the store."""
    if not isinstance(word, str):
        return None
    paths = (Path(word).expanduser(), store.absolute().parent / word)
    return next((path for path in paths if path.exists()), None)

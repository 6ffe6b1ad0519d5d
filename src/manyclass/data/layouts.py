"""Which of the layouts that we read a path has."""

import os
from pathlib import Path
from typing import Literal

Layout = Literal["npy", "npz", "parquet", "store", "clip_retrieval", "npy_shards", "parquet_shards"]

_FILES: dict[str, Layout] = {".npy": "npy", ".npz": "npz", ".parquet": "parquet", ".pq": "parquet"}


def layout_of(path: str | os.PathLike[str]) -> Layout:
    """The layout of a file, by its extension, or of a folder, by what it holds."""
    path = Path(path)
    if path.is_dir():
        return _of_folder(path)
    if not path.exists():
        raise FileNotFoundError(f"no file or folder at {path}")
    if path.suffix.lower() not in _FILES:
        known = ", ".join(_FILES)
        raise ValueError(f"{path} must be a folder or end in one of {known}; got {path.suffix or 'no extension'!r}")
    return _FILES[path.suffix.lower()]


def visible_files(folder: Path, *suffixes: str) -> list[Path]:
    """Files of a folder with one of these extensions, except hidden ones, in no special order."""
    return [
        path
        for path in folder.iterdir()
        if path.suffix.lower() in suffixes and not path.name.startswith(".") and path.is_file()
    ]


def _of_folder(folder: Path) -> Layout:
    if (folder / "manifest.json").is_file():
        return "store"
    if (folder / "img_emb").is_dir():
        return "clip_retrieval"
    if visible_files(folder, ".npy"):
        return "npy_shards"
    if visible_files(folder, ".parquet", ".pq"):
        return "parquet_shards"
    raise ValueError(f"{folder} must hold .npy or .parquet files, img_emb/ or manifest.json; got none of them")

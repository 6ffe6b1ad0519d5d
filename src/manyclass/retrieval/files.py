"""The files of a saved gallery: sealed parts, and the manifest that names them."""

import hashlib
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _atomic
from manyclass._tensors import Arrays, Format
from manyclass.data.store.errors import Damage, StorageError, StoreCorruptedError, unreadable
from manyclass.data.store.sealed import seal, unseal

MANIFEST = "manifest.json"
NAME, VERSION = "manyclass gallery", 1
PART = Format("manyclass gallery part", 1, "restore the file from a copy or save the gallery again")
_PART = re.compile(r"(?:labels|gone|pool|encoder|second|features)-(0|[1-9][0-9]{0,8})\.safetensors")
_OURS = re.compile(rf"(?:{_PART.pattern}|(?:X|codes)-(0|[1-9][0-9]{{0,8}})\.npy|manifest\.json)(?:\.tmp)?")

# What may lie in the folder before its manifest does, and stays when files of earlier states are removed.
_GUESTS = {"lock", "retrieval.json", "retrieval.json.tmp"}

Content = dict[str, Any]


def write_manifest(folder: Path, content: Content) -> bytes:
    """Make this the state of the gallery, at one instant; gives the bytes by which it is known again."""
    data = seal({"format": NAME, "version": VERSION, **content})
    _atomic.write_bytes(folder / MANIFEST, data)
    return data


def read_manifest(folder: Path) -> tuple[Content, bytes]:
    """(content, bytes) of the manifest; StorageError or StoreCorruptedError if none is good."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise StorageError(
            f"{folder} is not a gallery; give the folder that Gallery.save or manyclass encode wrote"
        ) from None
    except OSError as error:
        raise unreadable(folder / MANIFEST, error) from error
    try:
        content = unseal(data)
    except StorageError as error:
        raise StoreCorruptedError(folder, Damage(MANIFEST, None, str(error))) from None
    if content.get("format") != NAME:
        raise StorageError(f"{folder} must hold a {NAME}; it holds a {content.get('format')}")
    if not isinstance(content.get("version"), int) or content["version"] > VERSION:
        raise StorageError(
            f"{folder} is a {NAME} of version {content.get('version')}, and this manyclass reads {VERSION}"
        )
    return content, data


def is_gallery(folder: Path) -> bool:
    """Whether a folder has the manifest of a gallery, good or damaged."""
    try:
        return NAME.encode() in (folder / MANIFEST).read_bytes()
    except OSError:
        return False


def write_part(folder: Path, name: str, content: Any, arrays: dict[str, NDArray[Any]]) -> Content:
    """Write a sealed part, and give its record."""
    PART.write(folder / name, content, arrays)
    return record(folder, name)


def record(folder: Path, name: str) -> Content:
    """What the manifest says of a part: its name and the SHA-256 of the file."""
    return {"name": name, "sha256": _digest(folder / name)}


def part_path(folder: Path, record: Any) -> Path:
    """The file of a record, if it is the one that was written."""
    name = record["name"]
    if not isinstance(name, str) or not _PART.fullmatch(name):
        raise StorageError(f"a part of a gallery cannot be named {name!r}")
    try:
        if _digest(folder / name) != record["sha256"]:
            raise StoreCorruptedError(folder, Damage(name, None, "does not match its checksum"))
    except FileNotFoundError:
        raise StoreCorruptedError(folder, Damage(name, None, "is missing")) from None
    except OSError as error:
        raise unreadable(folder / name, error) from error
    return folder / name


def read_part(folder: Path, record: Any) -> tuple[Any, Arrays]:
    """(content, arrays) of a part."""
    return PART.read(part_path(folder, record))


def tidy(folder: Path, keep: set[str]) -> None:
    """Remove files of ours that the manifest does not name: those of earlier states, and what a crash left."""
    doomed = [name for name in os.listdir(folder) if _OURS.fullmatch(name) and name not in keep]
    for name in doomed:
        (folder / name).unlink(missing_ok=True)
    if doomed:
        _atomic.sync_folder(folder)


def only_ours(folder: Path) -> bool:
    """Whether a folder holds nothing but what a gallery may have left."""
    return all(_OURS.fullmatch(name) or name in _GUESTS for name in os.listdir(folder))


def names_of(content: Content) -> set[str]:
    """The files that belong to a manifest."""
    names = {MANIFEST}
    names |= {model["name"] for model in content["models"].values() if model}
    for segment in content["segments"]:
        names |= {segment["labels"]["name"], *(file["name"] for file in segment["codes"])}
    return names | {gone["name"] for gone in content["gone"]}


def as_numbers(numbers: Any) -> NDArray[np.int64]:
    return np.asarray(numbers, np.int64).reshape(-1)


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

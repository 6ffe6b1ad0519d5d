"""Generated arrays kept on disk, under a name made of all that they depend on, with a checksum before them."""

import io
import os
from pathlib import Path

import numpy as np

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import FileRefusedError
from manyclass._core.files import replace_file, write_bytes
from manyclass._core.reading import read_file
from manyclass._core.typing import Arrays
from manyclass.data.readers.npz import Archive


def user_folder() -> Path | None:
    """$XDG_CACHE_HOME/manyclass, or ~/.cache/manyclass; None for a user without a home, as in some containers."""
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(base or Path.home() / ".cache", "manyclass")
    except RuntimeError:
        return None


def cache_path(folder: Path, name: str, settings: str) -> Path:
    """Where arrays that depend on `settings` are kept: other settings, another file."""
    return folder / f"{name}-{sha256_digest([settings])[:20]}.cache"


def load_glyphs(path: Path) -> Arrays | None:
    """The arrays, or None where the file is missing, unreadable, or not what was written."""
    try:
        content = read_file(path, "model")
    except (OSError, FileRefusedError):
        return None
    digest, body = content[:32], content[32:]
    if bytes.fromhex(sha256_digest([body])) != digest:
        return None
    archive = Archive(io.BytesIO(body), path)
    return {name: archive.read(name) for name in archive.names}


def save_glyphs(path: Path, arrays: Arrays) -> None:
    """Write all or nothing, also when several processes write the same."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    body = buffer.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        write_bytes(mine, bytes.fromhex(sha256_digest([body])), body)
        replace_file(mine, path)
    finally:
        mine.unlink(missing_ok=True)

"""Files that are elsewhere, at s3://, gs://, hf:// and what else fsspec knows: fetched once into a folder, then local.

A copy is taken for what is there if its size and the tag or time that the other side gives are the same. What was
fetched in part is gone on with. Readers of manyclass map files, ask for their sizes and go back in them; so they get
files.
"""

import errno
import glob
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import expand_home, lock_folder, write_bytes
from manyclass._core.text import format_bytes

CACHE = "MANYCLASS_CACHE"  # the variable that names the folder of copies

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/{1,2}(?=[^/]|/)(.*)", re.DOTALL)

_TAGS = ("ETag", "etag", "md5Hash", "crc32c", "sha256", "blob_id", "mtime", "LastModified", "last_modified", "created")

_PIECE = 8 << 20

# What fsspec needs besides itself, by the beginning of an address.
_PACKAGES = {
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub", "abfs": "adlfs", "az": "adlfs",
    "http": "aiohttp requests", "https": "aiohttp requests", "sftp": "paramiko", "ssh": "paramiko",
}  # fmt: skip

# How services say that they do not know who asks: by the classes of their errors, or in words.
_REFUSED = re.compile(
    "credential|forbidden|access ?denied|unauthori[sz]ed|permission|status=40[13]|40[13] client", re.I
)


def local_path(path: str | os.PathLike[str]) -> Path:
    """The path, of which ~ is the home folder; of an address such as s3://bucket/photos, a copy that is fetched now."""
    url = as_url(path)
    return expand_home(path) if url is None else fetch(url)


def as_url(path: str | os.PathLike[str]) -> str | None:
    """The address that a path is, also where pathlib has taken a stroke away; None for a path.

    >>> as_url("s3:/bucket/x.npy"), as_url("hf://datasets/a/b"), as_url("photos/x.npy")
    ('s3://bucket/x.npy', 'hf://datasets/a/b', None)
    """
    found = _URL.fullmatch(os.fspath(path))
    if found is None or os.path.lexists(path):
        return None
    return f"{found[1]}://{'/' if found[1] in ('file', 'local') else ''}{found[2].lstrip('/')}"


def cache_folder() -> Path:
    """Where copies are kept: what MANYCLASS_CACHE names, or manyclass in the folder that systems have for copies."""
    named = os.environ.get(CACHE)
    if named:
        return expand_home(named)
    return expand_home(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "manyclass"


@dataclass(frozen=True)
class RemoteFile:
    """A file on the other side: its path there, its name below what was asked for, its bytes and its tag."""

    path: str
    name: str
    size: int | None
    tag: str

    def is_copied(self, place: Path) -> bool:
        """Whether there is a copy of it as it is."""
        noted = _note(place)
        return place.is_file() and noted.is_file() and noted.read_text("utf-8", "replace") == self._words(place)

    def note(self, place: Path) -> None:
        """Keep what a copy is of."""
        write_bytes(_note(place), self._words(place).encode("utf-8", "surrogatepass"))

    def _words(self, place: Path) -> str:
        return f"{self.path}\n{place.stat().st_size} {self.size}\n{self.tag}\n"


def fetch(url: str) -> Path:
    """A copy of the file or folder at an address; what is there already and has not changed is not fetched again."""
    with _explained(url):
        try:
            import fsspec
        except ImportError:
            raise ImportError(f'{url} needs fsspec to be read; pip install "manyclass[remote]"') from None
        system, root = fsspec.core.url_to_fs(url)
        system.invalidate_cache()  # what an earlier call in this process was told may have changed
        files = _listed(system, str(root), url)
    home = cache_folder() / url.split(":")[0] / sha256_digest([url])[:16]
    name = os.path.basename(str(root).rstrip("/"))
    top = home / (name if name not in ("", ".", "..") else "root")
    lock = lock_folder(home)
    try:
        _check_room(home, [file for file in files if not file.is_copied(_place(top, file))], url)
        for file in files:
            place = _place(top, file)
            if not file.is_copied(place):
                with _explained(url):
                    _copy(system, file, place)
        _drop_others(top, {_place(top, file) for file in files})
    finally:
        lock.release()
    return top


def _listed(system: Any, root: str, url: str) -> list[RemoteFile]:
    """What is at an address, a file or all files below a folder; names that would lead out of the copy are refused."""
    about = system.info(root)
    if about["type"] != "directory":
        return [_remote_file(root, "", about)]
    found = system.find(root, detail=True)
    above = str(about.get("name", root)).rstrip("/") + "/"
    files = []
    for path, one in sorted(found.items()):
        name = path[len(above) :] if path.startswith(above) else path.rsplit("/", 1)[-1]
        if any(part in ("", ".", "..") for part in name.split("/")) or "\0" in name:
            raise StorageError(f"{url} must have files of plain names; it has {path!r}")
        files.append(_remote_file(path, name, one))
    if not files:
        raise StorageError(f"{url} must have at least one file; it has none")
    return files


def _remote_file(path: str, name: str, about: dict[str, Any]) -> RemoteFile:
    tags = " ".join(f"{key}={about[key]}" for key in _TAGS if about.get(key) is not None)
    size = about.get("size")
    return RemoteFile(path, name, size if isinstance(size, int) else None, tags)


def _place(top: Path, file: RemoteFile) -> Path:
    return top / file.name if file.name else top


def _note(place: Path) -> Path:
    return place.with_name(f".{place.name}.fetched")


def _copy(system: Any, file: RemoteFile, place: Path) -> None:
    """Fetch a file, after what an earlier attempt has fetched of the same one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f".{place.name}.{sha256_digest([f'{file.size} {file.tag}'])[:12]}.part")
    large = file.size is None or file.size > _PIECE
    before = _state(system, file) if large else None  # a listing tells other things than a look at one file
    with open(part, "ab") as out:
        if file.size is None or out.tell() > file.size or not file.tag:
            out.truncate(0)
            out.seek(0)
        with system.open(file.path, "rb") as source:
            _append(source, out, file)
        out.flush()
        os.fsync(out.fileno())
        done = out.tell()
    if file.size is not None and done != file.size:
        part.unlink()
        raise StorageError(f"{file.path} must have the {file.size:,} bytes that are told of it; got {done:,}")
    if large and _state(system, file) != before:  # or some bytes would be of one file, and some of another
        part.unlink()
        raise StorageError(f"{file.path} was changed while it was fetched; give the same command again")
    os.replace(part, place)
    for old in place.parent.glob(f".{glob.escape(place.name)}.{'[0-9a-f]' * 12}.part"):  # of what the file was before
        old.unlink(missing_ok=True)
    file.note(place)


def _state(system: Any, file: RemoteFile) -> RemoteFile:
    """What the other side tells of a file now."""
    system.invalidate_cache()
    return _remote_file(file.path, file.name, system.info(file.path))


def _append(source: IO[bytes], out: IO[bytes], file: RemoteFile) -> None:
    if out.tell():
        source.seek(out.tell())
    while piece := source.read(_PIECE):
        out.write(piece)
        if file.size is not None and out.tell() > file.size:
            return


def _check_room(home: Path, files: list[RemoteFile], url: str) -> None:
    needed, free = sum(file.size or 0 for file in files), shutil.disk_usage(home).free
    if needed > free:
        raise StorageError(
            f"{url} needs {format_bytes(needed)} in {home}, which has {format_bytes(free)} left; set {CACHE} to a "
            "folder with more room"
        )


def _drop_others(top: Path, wanted: set[Path]) -> None:
    """Remove copies of what is gone on the other side, which would be read as if it were there."""
    for folder, _, names in os.walk(top):
        for name in names:
            path = Path(folder, name)
            if not name.startswith(".") and path not in wanted:
                path.unlink()
                _note(path).unlink(missing_ok=True)


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """What other libraries raise becomes one sentence that names the address."""
    try:
        yield
    except StorageError:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(2, "no file or folder", url) from None
    except ImportError as error:
        words, package = str(error).splitlines()[0], _PACKAGES.get(url.split(":")[0])
        if url in words:
            raise
        if package is not None:
            named = package.replace(" ", " and ")
            raise ImportError(f"{url} needs {named} to be read; pip install {package}") from None
        raise ImportError(f"{url} needs another package to be read: {words}") from None
    except Exception as error:  # every service has errors of its own
        words = (str(error).splitlines() or [type(error).__name__])[0][:200] or type(error).__name__
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            way_out = f"make room and give the same command again, which goes on, or set {CACHE} to another folder"
            raise StorageError(f"{url} does not fit into {cache_folder()}: the disk is full; {way_out}") from error
        if isinstance(error, PermissionError) or _REFUSED.search(f"{type(error).__name__} {words}"):
            package = _PACKAGES.get(url.split(":")[0], "fsspec")
            way_out = f"set up the credentials that {package} looks for, or ask who owns it"
            raise StorageError(f"{url} may not be read: {words}; {way_out}") from error
        raise StorageError(f"{url} cannot be fetched: {words}") from error

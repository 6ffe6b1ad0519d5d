"""Preparation: whatever a user has, a gallery, features, a run or just pictures, becomes a collection that is served.

Pictures are turned into features by the best encoder that is at hand, and features into a gallery. Both lie in the home
folder of the server and are gone on with after an interruption, so that the next start has nothing to do; what has
changed since is seen by names and sizes of the pictures, or by the manifest of the features, and made anew. Of pictures
only those that are new or were touched since are encoded again.
"""

import json
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyclass._core.digest import file_digest
from manyclass._core.errors import StoreCorruptedError
from manyclass._core.files import make_folder, write_bytes
from manyclass._core.reading import read_json
from manyclass._core.text import pluralize
from manyclass.retrieval.gallery import Gallery
from manyclass.retrieval.storage.segments import is_gallery
from manyclass.server.app import ServerSettings, ServerState
from manyclass.server.collection import Collection, source_of
from manyclass.server.jobs import Job, sentence_of

if TYPE_CHECKING:
    from manyclass.datasets.image_folders import ImageSet
    from manyclass.features.extraction.earlier_rows import EarlierRows

GALLERY, RUN, FEATURES, PICTURES = "gallery", "run", "features", "pictures"

_STORE, _GALLERY, _RECORD = "photos.store", "photos.gallery", "prepared.json"


def home_of(path: Path) -> Path:
    """The folder that a server writes to, if no other is named: beside what is served.

    >>> home_of(Path("/data/photos")).name
    'photos.serve'
    """
    place = path.resolve()
    return place.with_name(place.name + ".serve")


def kind_of_path(path: Path) -> str:
    """What there is at a path; ValueError or FileNotFoundError in one sentence if it can be none of these."""
    from manyclass.data.archives import packed_file
    from manyclass.data.readers.as_matrix import layout_of
    from manyclass.datasets.image_folders import find_files
    from manyclass.runs.folder import is_run

    if not path.exists():
        raise FileNotFoundError(f"no gallery, features, run or folder of pictures at {path}")
    if is_gallery(path):
        return GALLERY
    if is_run(path):
        return RUN
    try:
        layout_of(path)
    except ValueError:
        pass
    else:
        return FEATURES
    if path.suffix.lower() in (".csv", ".tsv") and path.is_file():
        return PICTURES
    endings = packed_file.PICTURES + packed_file.TARS
    if path.is_dir() and any(name.lower().endswith(endings) for name in find_files(path).files):
        return PICTURES
    raise ValueError(f"{path} must be a gallery, features, a run or a folder of pictures; it is none of these")


@dataclass
class Preparation:
    """What is to be served, how, and where what is made of it is kept."""

    path: Path
    home: Path
    kind: str | None = None  # of features; None for the best that is at hand
    negatives: Path | None = None
    run: Path | None = None  # whose classifier proposes labels
    settings: ServerSettings = field(default_factory=ServerSettings)

    def __post_init__(self) -> None:
        self.what = kind_of_path(self.path)
        self.notes: list[str] = []
        self._run_data()

    def open(self) -> Collection | None:
        """The collection, if there is nothing to be done for it."""
        if self.what == GALLERY:
            return self._collection(self.path)
        place = self.home / _GALLERY
        record = self._record()
        if not is_gallery(place) or record is None:
            return None
        now, known = self._state(record.get("kind")), record.get("state")
        if now != known:
            self.notes.append(self._change(known, now))
            return None
        try:
            return self._collection(place)
        except StoreCorruptedError as error:
            if Path(error.path).resolve() != place.resolve():
                raise
            self.notes.append(f"{place} is damaged ({error.damage}); it is made anew")
            return None

    def begin(self, state: ServerState) -> None:
        """Make the collection in the background."""
        state.jobs.start("prepare", lambda job: self._prepare(job, state), "looking at the pictures")

    def _prepare(self, job: Job, state: ServerState) -> None:
        try:
            state.set_ready(self.make(job))
        except BaseException as error:
            state.fail(sentence_of(error))
            raise

    def make(self, job: Job) -> Collection:
        """Features, a gallery and the collection of it, one after the other."""
        from manyclass.runs.galleries.gallery_builder import build_gallery
        from manyclass.runs.provenance import recommended_kind

        make_folder(self.home)
        kind = self.kind or str((self._record() or {}).get("kind") or recommended_kind())
        state, data, folder, began = self._state(kind), self.data, None, None
        if self.what == PICTURES:
            data, folder, began = self.home / _STORE, _folder_of(self.path), self._make_store(kind, job)
        (self.home / _RECORD).unlink(missing_ok=True)
        build_gallery(
            data,
            self.home / _GALLERY,
            negatives=self.negatives,
            pictures=folder,
            seed=self.settings.seed,
            overwrite=True,
            warn=self.notes.append,
            progress=job.stage,
        )
        record = {"path": str(self.path.resolve()), "kind": kind, "state": state, "began": began}
        write_bytes(self.home / _RECORD, json.dumps(record).encode())
        return self._collection(self.home / _GALLERY)

    @property
    def data(self) -> Path:
        """The features of what is served, which may yet have to be made."""
        return self._data if self._data is not None else self.home / _STORE

    def _run_data(self) -> None:
        """Where the rows of a run are."""
        self._data: Path | None = self.path if self.what == FEATURES else None
        if self.what != RUN:
            return
        from manyclass.runs.folder import read_run
        from manyclass.runs.provenance import found_path

        record = read_run(self.path)
        named = record["data"][0]["path"] if record["data"] else None
        self._data = found_path(named, self.path)
        if self._data is None:
            raise ValueError(
                f"{self.path} was trained on {named}, which is not there; serve that, with --run {self.path}"
            )
        self.run = self.run or self.path

    def _collection(self, place: Path) -> Collection:
        gallery = Gallery.open(place)
        source = source_of(gallery, place) if self.what == GALLERY else self.data
        model = None if self.run is None else _classifier(self.run)
        made = Collection(gallery, self.path, self.home, source, model, self.settings)
        made.notes += self.notes
        return made

    def _record(self) -> dict[str, Any] | None:
        place = self.home / _RECORD
        try:
            found = read_json(place, "record") if place.is_file() else None
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    def _images(self) -> "ImageSet":
        from manyclass.runs.feature_store import list_pictures

        return list_pictures(self.path, self.home)

    def _state(self, kind: Any) -> dict[str, Any]:
        """What tells whether something has changed: the pictures by names and sizes, or the manifest of features."""
        from manyclass.data.store.manifest import MANIFEST
        from manyclass.features.extraction.run_identity import images_digest

        asked = {"kind": self.kind or kind, "seed": self.settings.seed, "negatives": _words(self.negatives)}
        if self.what == PICTURES:
            images = self._images()
            return {**asked, "pictures": len(images), "digest": images_digest(images.paths, images.names)}
        manifest = self.data / MANIFEST
        if manifest.is_file():
            return {**asked, "digest": file_digest(manifest)}
        about = self.data.stat()
        return {**asked, "digest": f"{about.st_mtime_ns}-{about.st_size}"}

    def _change(self, known: Any, now: dict[str, Any]) -> str:
        """What is different from when it was read, in a sentence."""
        before = known if isinstance(known, dict) else {}
        for key, name in (("kind", "--kind"), ("negatives", "--negatives")):
            if before.get(key) != now[key]:
                return f"{self.path} was prepared with another {name}; it is prepared anew"
        if self.what == PICTURES:
            counts = f"{pluralize(now['pictures'], 'picture')} now, {before.get('pictures', 0):,} then"
            return f"{self.path} has changed since it was read ({counts}); it is read again"
        return f"{self.data} has changed since its gallery was made; it is made anew"

    def _make_store(self, kind: str, job: Job) -> float | None:
        """Make the features of the pictures; an attempt at other pictures or with other settings is dropped.

        The time before which no picture was read; None if it is not known, as some were read by an earlier attempt.
        """
        from manyclass.runs.feature_store import make_store
        from manyclass.runs.provenance import choose_kind

        began, earlier, images = time.time(), self._earlier(kind), self._images()
        wanted = choose_kind(kind, self.settings.seed, {})
        make = partial(make_store, self.path, self.home / _STORE, wanted, images, overwrite=True, progress=job.stage)
        try:
            run = make(earlier=earlier)
        except ValueError:
            try:
                run = make(resume=False, earlier=earlier)
            except StoreCorruptedError:  # what was encoded earlier cannot be read
                run = make(resume=False)
        if run.skipped:
            first = run.skipped[0]
            self.notes.append(f"{pluralize(len(run.skipped), 'file')} left out; {first.name} {first.reason}")
        return None if run.resumed_after else began

    def _earlier(self, kind: str) -> "EarlierRows | None":
        """What was encoded for the last start, in the same way."""
        from manyclass.data.store.store import open_store
        from manyclass.features.extraction.earlier_rows import EarlierRows

        record = self._record() or {}
        known, began = record.get("state"), record.get("began")
        same = isinstance(known, dict) and (known.get("kind"), known.get("seed")) == (kind, self.settings.seed)
        if not same or not isinstance(began, float):
            return None
        try:
            return EarlierRows(open_store(self.home / _STORE), began)
        except (OSError, ValueError):
            return None


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _classifier(run: Path) -> Any:
    from manyclass.runs.load_model import open_classifier

    return open_classifier(run).model


def _words(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())

"""RunFolder: where a run keeps its record, its model, and what it needs to go on; and what a run has seen of data.

`run.json` is the manifest of a run that is done: it names the files of that run. A run that is under way has a folder
of its own beside them, and a number above all that are there, which the names of its files have. So an earlier run
stays where it is, with all that it has, until the rename of `run.json` puts the new one in its place.
"""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyclass._core.digest import file_digest
from manyclass._core.errors import Damage, StorageError, StoreCorruptedError
from manyclass._core.files import LOCK, TEMPORARY_SUFFIX, FolderLock, make_folder, sync_folder
from manyclass._core.models import save_model
from manyclass._core.reading import read_file
from manyclass.runs.records import EVALUATION, RUN, RUN_FILE, UNFINISHED, read_record, write_record

EVALUATIONS = "evaluations"

_BEGUN = "begun.json"  # in the folder of a run that is under way

_SERIAL = re.compile(r"(?:(?:model|encoder)-(\d{1,9})\.safetensors(?:\.tmp)?|unfinished-(\d{1,9}))")

_LEFTOVERS = {RUN_FILE + TEMPORARY_SUFFIX, LOCK}  # with which a folder is free all the same

_FORMER = ("model.safetensors", "encoder", "checkpoint", "replaced")  # of a run whose record is of version 1


@dataclass(frozen=True)
class UnfinishedRun:
    """A run that is under way: its folder, where its model and its encoder are to go, and what it began with."""

    path: Path
    model: Path
    encoder: Path
    record: dict[str, Any]

    @classmethod
    def of(cls, folder: Path, serial: int, record: dict[str, Any]) -> "UnfinishedRun":
        """The run of this number."""
        model, encoder = (folder / f"{role}-{serial}.safetensors" for role in ("model", "encoder"))
        return cls(folder / f"unfinished-{serial}", model, encoder, record)

    @classmethod
    def begin(cls, folder: Path, record: dict[str, Any]) -> "UnfinishedRun":
        """A new run, with the next number."""
        run = cls.of(folder, max((serial for serial, _ in _numbered(folder)), default=-1) + 1, record)
        make_folder(run.path)
        write_record(run.path / _BEGUN, UNFINISHED, {**record, "status": "running"})
        return run

    def give_up(self) -> None:
        """After an error, remove what the run made; but not what it can go on from, or what took its place already."""
        folder = self.path.parent
        with suppress(OSError):
            if all(file.name.startswith(_BEGUN) for file in self.path.iterdir()):
                _remove(self.path)
        with suppress(OSError, ValueError):  # of a record that cannot be read nobody knows what it names
            named = _named_files(read_run(folder) if (folder / RUN_FILE).exists() else None)
            for file in (self.model, self.encoder):
                if file.name not in named:
                    _remove(file)


class RunFolder:
    """A folder that is free, or holds a run that is done, and perhaps one that is unfinished."""

    done: dict[str, Any] | None
    unfinished: UnfinishedRun | None

    def __init__(self, path: Path):
        self.path = path
        self._look()

    def check(self, resume: bool, overwrite: bool) -> None:
        """Refuse a folder that is taken, unless its run is to be gone on with or replaced."""
        if overwrite:
            return
        if self._damage is not None:
            raise self._damage
        if self.unfinished is not None and not resume:
            raise ValueError(
                f"{self.path} holds a run that is unfinished; pass `resume=True` to go on with it, or "
                "`overwrite=True` to begin again"
            )
        if self.done is not None and not resume:
            raise self._taken()

    def is_done(self, record: dict[str, Any], resume: bool, overwrite: bool) -> bool:
        """Whether the run that is asked for is there already; another is refused, or to be replaced."""
        if not resume or self.done is None or self.unfinished is not None:
            return False
        return self._is_same(self.done, record, overwrite)

    def same_run(self, record: dict[str, Any], digests: dict[str, str | None]) -> dict[str, Any]:
        """The run that is done, if it has these settings, these data and the files of these digests; else refuse it."""
        done = self.done or {"files": {}}
        named = {role: None if file is None else file["sha256"] for role, file in done["files"].items()}
        if named != digests or not self._is_same(done, record, overwrite=True):
            raise self._taken()
        return read_whole_run(self.path)

    def tidy_done(self, record: dict[str, Any]) -> None:
        """Remove what earlier attempts at the run that is done could not, if nobody writes here."""
        with suppress(OSError, StorageError), self.locked(resume=True, overwrite=False):
            done, left = self.done, self.unfinished
            if done is not None and left is not None and self._is_same(left.record, record, overwrite=True):
                tidy(self.path, done)

    @contextmanager
    def locked(self, resume: bool, overwrite: bool) -> Iterator[None]:
        """The right to write here. What is there is looked at again, as others may have been quicker, and tidied up."""
        make_folder(self.path)
        lock = FolderLock(self.path)
        try:
            self._look()
            self.check(resume, overwrite)
            if self._damage is None:  # or nobody knows what belongs to the run
                tidy(self.path, self.done, self.unfinished)
            yield
        finally:
            lock.release()
            with suppress(OSError):
                self.path.rmdir()  # if nothing was kept in it

    def begin(self, record: dict[str, Any], resume: bool, overwrite: bool) -> UnfinishedRun:
        """The run that is unfinished, if it is to go on; or else a new one, beside all that is there."""
        before = self.unfinished
        if before is not None and resume and self._is_same(before.record, record, overwrite):
            return before
        return UnfinishedRun.begin(self.path, record)

    def finish(self, record: dict[str, Any], files: list[Path]) -> dict[str, Any]:
        """Put a run, whose files are written, in the place of what is there; the record as it is written."""
        named = {file.name.partition("-")[0]: describe_file(file) for file in files}
        sync_folder(self.path)  # the record must not name what may vanish
        whole = write_record(self.path / RUN_FILE, RUN, {**record, "status": "done", "files": named})
        tidy(self.path, whole)
        for name in _FORMER if self._damage else ():
            _remove(self.path / name)
        return whole

    def replace_model(self, model: Any) -> dict[str, Any]:
        """Put a model in the place of that of the run that is done; its encoder and the rest of its record stay."""
        if self.done is None:
            raise ValueError(f"{self.path} holds a run that is unfinished; go on with it by manyclass train --resume")
        new = UnfinishedRun.of(self.path, 1 + max(serial for serial, _ in _numbered(self.path)), self.done)
        named = self.done["files"]["encoder"]
        try:
            save_model(model, new.model)
            return self.finish(self.done, [new.model, *([] if named is None else [self.path / named["name"]])])
        except Exception:
            new.give_up()
            raise

    def _look(self) -> None:
        self.done = self.unfinished = None
        self._damage: StorageError | None = None
        path, taken = self.path, ValueError(f"{self.path} is a folder with other content; choose another name")
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file, and a run is a folder; choose another name")
        try:
            self.done = read_record(path / RUN_FILE, RUN) if (path / RUN_FILE).exists() else None
            self.unfinished = last_unfinished(path) if path.exists() else None
        except StorageError as error:
            self._damage = error  # it is ours, and may be replaced
        except ValueError:
            raise taken from None
        if path.exists() and not (path / RUN_FILE).exists():
            names = {file.name for file in path.iterdir()} - _LEFTOVERS
            if not all(map(_SERIAL.fullmatch, names)):
                raise taken

    def _taken(self) -> ValueError:
        way_out = "pass `overwrite=True` to replace it, or choose another name"
        return ValueError(f"{self.path} holds a run already; {way_out}")

    def _is_same(self, before: dict[str, Any], record: dict[str, Any], overwrite: bool) -> bool:
        """Whether two records are of one run; if not, the later is refused unless it may replace the other."""
        old, new = before["settings"], json.loads(json.dumps(record["settings"]))
        different = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        different += ["seed"] * (before["seed"] != record["seed"])
        if [one["fingerprint"] for one in before["data"]] != [one["fingerprint"] for one in record["data"]]:
            different.append("the data")
        if different and not overwrite:
            raise ValueError(
                f"{self.path} was begun with other settings, which differ in {', '.join(different)}; "
                "give the same command to go on, or pass `overwrite=True` to begin again"
            )
        return not different


def tidy(folder: Path, done: dict[str, Any] | None, unfinished: UnfinishedRun | None = None) -> None:
    """Remove what belongs neither to the run that is done nor to the unfinished one; what cannot be removed stays."""
    named = _named_files(done)
    with suppress(OSError):
        kept = () if unfinished is None else (unfinished.path, unfinished.model, unfinished.encoder)
        for _, path in _numbered(folder):
            if path.name not in named and path not in kept:
                _remove(path)
        # What a link leads to is not ours.
        for file in () if (folder / EVALUATIONS).is_symlink() else (folder / EVALUATIONS).glob("*.json"):
            if done is not None and _is_former(file, done):
                _remove(file)


def _named_files(run: dict[str, Any] | None) -> set[str]:
    """The files of a run that is done."""
    return set() if run is None else {file["name"] for file in run["files"].values() if file is not None}


def _is_former(evaluation: Path, run: dict[str, Any]) -> bool:
    """Whether an evaluation is of another model than that of the run, or cannot be told to be of it."""
    try:
        return bool(read_record(evaluation, EVALUATION)["model"] != run["files"]["model"]["sha256"])
    except StorageError:
        return True
    except ValueError:
        return False  # not ours


def _numbered(folder: Path) -> list[tuple[int, Path]]:
    """The files of runs, and the folders of unfinished ones, by their numbers."""
    found = ((_SERIAL.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted((int(match[1] or match[2]), path) for match, path in found if match)


def _remove(path: Path) -> None:
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            (path / _BEGUN).unlink(missing_ok=True)  # first: half of what is to go on from must not be gone on with
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def describe_file(file: Path) -> dict[str, Any]:
    """What a record says of a file of its run."""
    return {"name": file.name, "size": file.stat().st_size, "sha256": file_digest(file)}


def file_damage(folder: Path, named: dict[str, Any]) -> Damage | None:
    """What is wrong with a file of a run, by what the record says of it."""
    file = folder / named["name"]
    if not file.is_file():
        return Damage(file.name, None, "is missing")
    size = file.stat().st_size
    if size != named["size"]:
        return Damage(file.name, None, f"has {size} bytes instead of {named['size']}")
    return None if file_digest(file) == named["sha256"] else Damage(file.name, None, "does not match its checksum")


def encoder_content(folder: Path, run: dict[str, Any]) -> bytes | None:
    """The bytes of the encoder of a run; None if it has none."""
    named = run["files"]["encoder"]
    return None if named is None else read_file(folder / named["name"], "model")


def last_unfinished(folder: Path) -> UnfinishedRun | None:
    """The run in a folder that is to be gone on with, if there is one."""
    begun = _begun(folder)
    if not begun:
        return None
    serial, path = begun[-1]
    return UnfinishedRun.of(folder, serial, read_record(path / _BEGUN, UNFINISHED))


def _begun(folder: Path) -> list[tuple[int, Path]]:
    # What is written into what is unfinished must stay in the folder: a link is none, and is removed.
    found = _numbered(folder)
    return [(serial, path) for serial, path in found if not path.is_symlink() and (path / _BEGUN).is_file()]


def is_run(path: Path) -> bool:
    """Whether a folder holds a run, done or unfinished."""
    return (path / RUN_FILE).is_file() or (path.is_dir() and bool(_begun(path)))


def read_run(path: Path) -> dict[str, Any]:
    """The record of the run in a folder, which must be done."""
    if not (path / RUN_FILE).exists() and is_run(path):
        raise ValueError(f"{path} holds a run that is unfinished; go on with it by manyclass train --resume")
    return read_record(path / RUN_FILE, RUN)


def check_has_all_classes(path: Path, run: dict[str, Any]) -> None:
    """Refuse a run that has machines of a part of the classes only."""
    if run["shard"]:
        shard = run["settings"].get("classes")
        raise ValueError(f"{path} must have all classes; it is part {shard} of a run; make it whole by manyclass join")


def read_whole_run(path: Path) -> dict[str, Any]:
    """The same of a run whose files are those that the record names; else that is what is to be told of it."""
    run = read_run(path)
    while (damage := _first_damage(path, run)) is not None:
        # Perhaps the run was replaced just then, and its files are gone with it.
        before, run = run, read_run(path)
        if run == before:
            raise StoreCorruptedError(path, damage)
    return run


def _first_damage(path: Path, run: dict[str, Any]) -> Damage | None:
    found = (file_damage(path, file) for file in run["files"].values() if file is not None)
    return next(filter(None, found), None)


_USES = {"train": "it was trained on", "validation": "its settings or its epochs were chosen by"}


def seen_rows(run: dict[str, Any], data: dict[str, Any]) -> str | None:
    """A sentence if a run has used some of the data of an evaluation; None if nothing is known of that.

    Rows are the same by their fingerprint, or if a run took a part of a file and all of it is judged.

    >>> train = {"role": "train", "path": "x.store", "part": "train", "fingerprint": "a1"}
    >>> seen_rows({"data": [train]}, {"path": "x.store", "part": "all", "fingerprint": "b2"})
    'some of these rows are what it was trained on'
    >>> seen_rows({"data": [train]}, {"path": "x.store", "part": "test", "fingerprint": "c3"})
    """
    for used in run["data"]:
        words = _USES.get(used.get("role") or "")
        if words is None:
            continue
        if used.get("fingerprint") and used["fingerprint"] == data.get("fingerprint"):
            return f"these rows are what {words}"
        if used.get("path") and used["path"] == data.get("path") and data.get("part") == "all":
            return f"some of these rows are what {words}"
    return None

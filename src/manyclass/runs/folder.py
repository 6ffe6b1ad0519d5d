"""RunFolder: where a run keeps its record, its model, and what it needs to go on; and what a run has seen of data."""

import json
import shutil
from pathlib import Path
from typing import Any

from manyclass._core.files import LOCK, TEMPORARY_SUFFIX
from manyclass.runs.records import RUN, RUN_FILE, read_record, write_record

MODEL, ENCODER, CHECKPOINT, EVALUATIONS = "model.safetensors", "encoder", "checkpoint", "evaluations"

_REPLACED = "replaced"  # the run that was there before, until the new one is done

# The record goes last, so that a folder is known for what it is.
_CONTENT = (CHECKPOINT, EVALUATIONS, MODEL, ENCODER, RUN_FILE)

# What a run that was killed before its first record leaves.
_LEFTOVERS = {RUN_FILE + TEMPORARY_SUFFIX, LOCK, _REPLACED}

_RUNNING, _DONE = "running", "done"


class RunFolder:
    """A folder that is free, or holds a run that is unfinished or done."""

    def __init__(self, path: Path):
        self.path = path
        self.checkpoint = path / CHECKPOINT
        self.record: dict[str, Any] | None = None
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is a file, and a run is a folder; choose another name")
        if (path / RUN_FILE).exists():
            self.record = read_run(path)
        elif path.is_dir() and {file.name for file in path.iterdir()} - _LEFTOVERS:
            raise ValueError(f"{path} is a folder with other content; choose another name")
        self.is_done = self.record is not None and self.record["status"] == _DONE

    def check(self, resume: bool, overwrite: bool) -> None:
        """Refuse a folder that is taken, unless its run is to be gone on with or replaced."""
        if self.record is None or overwrite or resume:
            return
        if self.is_done:
            raise ValueError(
                f"{self.path} holds a run already; pass `overwrite=True` to replace it, or choose another name"
            )
        raise ValueError(
            f"{self.path} holds a run that is unfinished; pass `resume=True` to go on with it, or `overwrite=True` to "
            "begin again"
        )

    def begin(self, record: dict[str, Any], overwrite: bool) -> dict[str, Any]:
        """Write the record of a run that begins, or find that it is the one that is to go on; the record."""
        if self.record is not None and not overwrite:
            self.refuse_another(record)
            record = {**record, "started": self.record["started"]}
        else:
            self._set_aside()
        write_record(self.path / RUN_FILE, RUN, {**record, "status": _RUNNING})
        self.checkpoint.mkdir(exist_ok=True)
        return record

    def finish(self, record: dict[str, Any]) -> dict[str, Any]:
        """Write the record of a run that is over, and give it; nothing is needed any more to go on with it."""
        whole = write_record(self.path / RUN_FILE, RUN, {**record, "status": _DONE})
        for name in (CHECKPOINT, _REPLACED):
            shutil.rmtree(self.path / name, ignore_errors=True)
        return whole

    def give_up(self) -> None:
        """After an error that leaves nothing to go on from, make the folder what it was before."""
        if self.checkpoint.is_dir() and any(self.checkpoint.iterdir()):
            return
        for name in _CONTENT:
            _remove(self.path / name)
        aside = self.path / _REPLACED
        for name in _CONTENT:
            if (aside / name).exists():
                (aside / name).replace(self.path / name)
        _remove(aside)

    def refuse_another(self, record: dict[str, Any]) -> None:
        """Refuse to go on with a run of other settings or data than those of the record."""
        before = self.record or {}
        old, new = before["settings"], _as_json(record["settings"])
        different = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        different += ["seed"] * (before["seed"] != record["seed"])
        if [one["fingerprint"] for one in before["data"]] != [one["fingerprint"] for one in record["data"]]:
            different.append("the data")
        if different:
            raise ValueError(
                f"{self.path} was begun with other settings, which differ in {', '.join(different)}; "
                "give the same command to go on, or pass `overwrite=True` to begin again"
            )

    def _set_aside(self) -> None:
        """Make room for a new run; what an earlier one left is kept for as long as the new one may fail."""
        aside = self.path / _REPLACED
        for name in _CONTENT:
            if (self.path / name).exists():
                aside.mkdir(exist_ok=True)
                _remove(aside / name)
                (self.path / name).replace(aside / name)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read_run(path: Path) -> dict[str, Any]:
    """The record of the run in a folder."""
    return read_record(path / RUN_FILE, RUN)


def is_run(path: Path) -> bool:
    """Whether a folder holds a run."""
    return (path / RUN_FILE).is_file()


def _as_json(settings: dict[str, Any]) -> Any:
    return json.loads(json.dumps(settings))


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

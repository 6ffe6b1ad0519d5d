"""Runs of parts: the machines of all classes, as one process would have trained them by the same plan."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manyclass._core.errors import is_of_machine
from manyclass._core.files import expand_home
from manyclass._core.shards import SHARD
from manyclass._core.typing import Notify
from manyclass.estimators.multilabel.thresholds import RULES
from manyclass.runs.folder import RunFolder, encoder_content, read_whole_run
from manyclass.runs.joining.parts import Part, in_order, refuse_other
from manyclass.runs.load_model import load_run_file
from manyclass.runs.sources import draw_sample, read_subset
from manyclass.runs.trained_run import write_run

if TYPE_CHECKING:
    from manyclass.datasets.dataset import Dataset

# What the machines of a class are, and which class.
_OF_CLASSES = ("classes_", "coef_", "intercept_", "steps_", "class_counts_", "class_weights_", *RULES)


def join_runs(
    out: Path,
    paths: Sequence[Path],
    overwrite: bool,
    resume: bool,
    notify: Notify | None = None,
    warn: Notify | None = None,
) -> dict[str, Any]:
    """Make the run that `manyclass train` without --classes would have made; what it has, for a table."""
    found = {path: read_whole_run(path) for path in paths}
    parts = in_order(_part(path, record) for path, record in found.items())
    records = [found[part.path] for part in parts]
    _check_encoders(parts, records)
    folder = RunFolder(out)
    folder.check(resume, overwrite)
    model = _joined([load_run_file(part.path, found[part.path], "model") for part in parts])
    record = _joined_record(records)
    histories = zip(*(one["history"] or [] for one in records), strict=True)
    outcome = {"history": [_joined_epoch(epochs) for epochs in histories], "tuning": [], "grid": None}
    encoder = records[0]["encoder"]
    return _facts(
        write_run(
            folder,
            record,
            model,
            outcome,
            (None if encoder is None else Path(encoder), encoder_content(parts[0].path, records[0])),
            examples=lambda: _examples(record, warn or warnings.warn),
            seconds=lambda: sum(one["seconds"] or 0 for one in records),
            resume=resume,
            overwrite=overwrite,
            notify=notify or _ignore,
        )
    )


def _ignore(message: str) -> None:
    pass


def _facts(record: dict[str, Any]) -> dict[str, Any]:
    model = record["model"]
    return {"classes": model["classes"], "dimensions": model["columns"], "bytes": model["bytes"]}


def _part(path: Path, record: dict[str, Any]) -> Part:
    provenance = {} if record["shard"] is None else {SHARD: record["shard"]}
    return Part.of(path, provenance, record["model"]["classes"], option="classes")


def _check_encoders(parts: list[Part], records: list[dict[str, Any]]) -> None:
    """See that all parts saw rows of the same encoder of pictures."""
    digests = [None if (file := one["files"]["encoder"]) is None else file["sha256"] for one in records]
    for part, sha256 in zip(parts[1:], digests[1:], strict=True):
        if sha256 != digests[0]:
            refuse_other(parts[0].path, part.path, "features.encoder")


def _joined(models: list[Any]) -> Any:
    """The classifier of all classes."""
    whole = models[0]
    for name in _OF_CLASSES:
        if all(hasattr(model, name) for model in models):  # parts of earlier versions have no sizes of classes
            setattr(whole, name, np.concatenate([getattr(model, name) for model in models]))
    whole.history_ = [_joined_epoch(epochs) for epochs in zip(*(model.history_ for model in models), strict=True)]
    return whole


def _joined_epoch(epochs: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """One epoch of all parts. Losses are whole numbers of a small unit, which add up in any order."""
    slowest = {key: max(one[key] for one in epochs) for key in epochs[0] if key.endswith("seconds")}
    return {**epochs[0], **slowest, "loss": sum(one["loss"] for one in epochs)}


def _joined_record(records: list[dict[str, Any]]) -> dict[str, Any]:
    """What all parts had in common before they began."""
    first = records[0]
    kept = ("command", "arguments", "versions", "machine", "seed", "threads", "data", "started")
    settings = {name: value for name, value in first["settings"].items() if name != "classes"}
    return {**{key: first[key] for key in kept}, "settings": settings}


def _examples(record: dict[str, Any], warn: Notify) -> "Dataset | None":
    """The rows that all parts were trained on, if they are still there."""
    settings, data = record["settings"], record["data"][0]
    try:
        source = expand_home(data["path"])
        found = read_subset(
            source, settings["labels"], data["part"], (), settings["test_fraction"], record["seed"], lambda _: None
        )
        sample = settings.get("sample")
        found = draw_sample(found, None if sample is None else int(sample), record["seed"])
        if found.fingerprint() == data["fingerprint"]:
            return found
        why = "they are others now"
    except (OSError, ValueError) as error:
        if is_of_machine(error):  # they may well be there
            raise
        why = str(error)
    warn(f"how many of the rows of {data['path']} are right is not known: {why}")
    return None

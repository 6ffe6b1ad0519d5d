"""Records: what a run, an evaluation or a comparison of galleries leaves as JSON; checked when written and read."""

import json
import os
from pathlib import Path
from typing import Any

from manyclass._core.files import write_bytes
from manyclass.runs.schema import (
    Shape,
    anything,
    boolean,
    count,
    entries_of,
    fraction,
    list_of,
    name,
    number,
    object_of,
    optional,
    text,
)

RUN, EVALUATION, RETRIEVAL = "run", "evaluation", "retrieval"

RUN_FILE, RETRIEVAL_FILE = "run.json", "retrieval.json"  # in the folder of a run, and of a gallery

VERSION = 1

_DATA = object_of(
    role=optional(text),
    path=optional(text),
    part=optional(text),
    rows=optional(count),
    columns=optional(count),
    classes=optional(count),
    fingerprint=optional(text),
    bytes=optional(count),
)

_PICTURES = optional(object_of(folder=optional(text), array=optional(text), names=optional(text)))

_TRIED = object_of(name=text, value=optional(anything), accuracy=optional(fraction))

_RUN = object_of(
    command=text,
    arguments=list_of(text),
    settings=entries_of,
    versions=entries_of,
    machine=entries_of,
    seed=optional(count),
    threads=optional(count),
    data=list_of(_DATA),
    started=optional(text),
    seconds=optional(number),
    peak_bytes=optional(count),
    status=text,
    model=optional(entries_of),
    history=optional(list_of(entries_of)),
    tuning=optional(list_of(_TRIED)),
    spectrum=optional(list_of(number)),
    rank=optional(count),
    grid=optional(list_of(entries_of)),
    embedding=optional(object_of(classes=list_of(name), x=list_of(number), y=list_of(number))),
)

_EVALUATION = object_of(
    data=_DATA,
    rows=count,
    seconds=optional(number),
    top_1=fraction,
    top_5=optional(fraction),
    mean_per_class=optional(fraction),
    per_class=list_of(object_of(class_=name, rows=count, right=count, accuracy=optional(fraction))),
    confusions=optional(list_of(object_of(class_=name, predicted=name, count=count, examples=list_of(name)))),
    examples=optional(
        list_of(
            object_of(class_=name, right=list_of(name), wrong=list_of(object_of(name=name, predicted=optional(name))))
        )
    ),
    pictures=_PICTURES,
)

_RETRIEVAL = object_of(
    data=list_of(_DATA),
    protocol=text,
    methods=list_of(
        object_of(
            name=text,
            map=fraction,
            low=optional(fraction),
            high=optional(fraction),
            columns=optional(count),
            seconds=optional(number),
            against=optional(object_of(method=text, difference=number, low=number, high=number)),
        )
    ),
    queries=optional(
        list_of(
            object_of(
                name=name,
                class_=optional(name),
                results=list_of(object_of(name=name, class_=optional(name), score=optional(number), right=boolean)),
            )
        )
    ),
    pictures=_PICTURES,
)

_SHAPES: dict[str, Shape] = {RUN: _RUN, EVALUATION: _EVALUATION, RETRIEVAL: _RETRIEVAL}


def write_record(path: str | os.PathLike[str], kind: str, record: dict[str, Any]) -> dict[str, Any]:
    """Write a record of a kind ("run", "evaluation", "retrieval") as JSON, whole or not at all; gives it as written.

    "format" and "version" are put in if they are absent. NaN and infinity are refused: what is not known is None.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = {"data": [], "protocol": "holidays", "methods": []}
    ...     _ = write_record(f"{folder}/retrieval.json", "retrieval", record)
    ...     read_record(f"{folder}/retrieval.json", "retrieval")["protocol"]
    'holidays'
    """
    whole = _checked({**_head(kind), **record}, kind, f"the record of {Path(path).name}")
    # Names of files may hold bytes that are no text, which Python keeps as lone surrogates.
    content = json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False)
    write_bytes(path, f"{content}\n".encode("utf-8", "surrogatepass"))
    return whole


def read_record(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """The record of a kind in a file, with None for what it may leave out; ValueError in one sentence for all else."""
    _head(kind)
    try:
        value = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError):
        raise ValueError(f"{path} must be a record of manyclass in JSON; it cannot be read as JSON") from None
    return _checked(value, kind, str(path))


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Which kind of record a file of JSON says that it is; None if it says nothing of the sort."""
    try:
        value = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError):
        return None
    said = value.get("format") if isinstance(value, dict) else None
    return next((kind for kind in _SHAPES if said == _format(kind)), None)


def _format(kind: str) -> str:
    return f"manyclass {kind}"


def _head(kind: str) -> dict[str, Any]:
    if kind not in _SHAPES:
        raise ValueError(f"kind must be one of {', '.join(_SHAPES)}; got {kind!r}")
    return {"format": _format(kind), "version": VERSION}


def _checked(value: Any, kind: str, where: str) -> dict[str, Any]:
    said = value.get("format") if isinstance(value, dict) else None
    if said != _format(kind):
        raise ValueError(f"{where} must have the format {_format(kind)!r}; got {said!r}")
    if value.get("version") != VERSION:
        raise ValueError(f"{where} must have version {VERSION}; got {value.get('version')!r}; update manyclass")
    checked: dict[str, Any] = _SHAPES[kind](value, where)
    embedding = checked.get("embedding")
    if embedding and not len(embedding["classes"]) == len(embedding["x"]) == len(embedding["y"]):
        raise ValueError(f"{where}.embedding must have as many classes as x and y; got different lengths")
    return {**_head(kind), **checked}

"""Records: what a run, an evaluation or a comparison of galleries leaves as JSON; checked when written and read."""

import json
import os
from pathlib import Path
from typing import Any

from manyclass import _atomic
from manyclass.report.shapes import (
    Shape,
    anything,
    count,
    entries,
    list_of,
    maybe,
    name,
    number,
    record,
    share,
    text,
    truth,
)

RUN, EVALUATION, RETRIEVAL = "run", "evaluation", "retrieval"
VERSION = 1

_DATA = record(
    role=maybe(text),
    path=maybe(text),
    part=maybe(text),
    rows=maybe(count),
    columns=maybe(count),
    classes=maybe(count),
    fingerprint=maybe(text),
    bytes=maybe(count),
)
_PICTURES = maybe(record(folder=maybe(text), array=maybe(text), names=maybe(text)))
_TRIED = record(name=text, value=maybe(anything), accuracy=maybe(share))
_RUN = record(
    command=text,
    arguments=list_of(text),
    settings=entries,
    versions=entries,
    machine=entries,
    seed=maybe(count),
    threads=maybe(count),
    data=list_of(_DATA),
    started=maybe(text),
    seconds=maybe(number),
    peak_bytes=maybe(count),
    status=text,
    model=maybe(entries),
    history=maybe(list_of(entries)),
    tuning=maybe(list_of(_TRIED)),
    spectrum=maybe(list_of(number)),
    rank=maybe(count),
    grid=maybe(list_of(entries)),
    embedding=maybe(record(classes=list_of(name), x=list_of(number), y=list_of(number))),
)
_EVALUATION = record(
    data=_DATA,
    rows=count,
    seconds=maybe(number),
    top_1=share,
    top_5=maybe(share),
    mean_per_class=maybe(share),
    per_class=list_of(record(class_=name, rows=count, right=count, accuracy=maybe(share))),
    confusions=maybe(list_of(record(class_=name, predicted=name, count=count, examples=list_of(name)))),
    examples=maybe(
        list_of(record(class_=name, right=list_of(name), wrong=list_of(record(name=name, predicted=maybe(name)))))
    ),
    pictures=_PICTURES,
)
_RETRIEVAL = record(
    data=list_of(_DATA),
    protocol=text,
    methods=list_of(
        record(
            name=text,
            map=share,
            low=maybe(share),
            high=maybe(share),
            columns=maybe(count),
            seconds=maybe(number),
            against=maybe(record(method=text, difference=number, low=number, high=number)),
        )
    ),
    queries=maybe(
        list_of(
            record(
                name=name,
                class_=maybe(name),
                results=list_of(record(name=name, class_=maybe(name), score=maybe(number), right=truth)),
            )
        )
    ),
    pictures=_PICTURES,
)
_SHAPES: dict[str, Shape] = {RUN: _RUN, EVALUATION: _EVALUATION, RETRIEVAL: _RETRIEVAL}


def write_record(path: str | os.PathLike[str], kind: str, record: dict[str, Any]) -> None:
    """Write a record of a kind ("run", "evaluation", "retrieval") as JSON, whole or not at all.

    "format" and "version" are put in if they are absent. NaN and infinity are refused: what is not known is None.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_record(f"{folder}/retrieval.json", "retrieval", {"data": [], "protocol": "holidays", "methods": []})
    ...     read_record(f"{folder}/retrieval.json", "retrieval")["protocol"]
    'holidays'
    """
    whole = _checked({**_head(kind), **record}, kind, f"the record of {Path(path).name}")
    _atomic.write_bytes(path, _bytes(whole))


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


def _bytes(record: dict[str, Any]) -> bytes:
    # Names of files may hold bytes that are no text, which Python keeps as lone surrogates.
    text = json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False)
    return f"{text}\n".encode("utf-8", "surrogatepass")


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
    if embedding and len({len(embedding[axis]) for axis in ("classes", "x", "y")}) > 1:
        raise ValueError(f"{where}.embedding must have as many classes as x and y; got different lengths")
    return {**_head(kind), **checked}

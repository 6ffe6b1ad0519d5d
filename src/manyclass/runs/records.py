"""Records: what a run, an evaluation, a comparison of galleries or an audit leaves as JSON; sealed, and checked.

The last entry of the file is its seal: the SHA-256 of all of its bytes, with 64 zeros in place of the digits.
What their JSON must look like is said by shapes (`record_shapes.py`).
"""

import json
import os
from pathlib import Path
from typing import Any

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import write_bytes
from manyclass._core.reading import load_json, read_file
from manyclass.runs.record_shapes import (
    Shape,
    anything,
    boolean,
    count,
    digest,
    entries_of,
    file_name,
    fraction,
    having,
    list_of,
    name,
    number,
    object_of,
    optional,
    text,
)

RUN, UNFINISHED, EVALUATION, RETRIEVAL, AUDIT = "run", "unfinished run", "evaluation", "retrieval", "audit"

PROBE = "probe"

# In the folder of a run, of a gallery, and of an audit.
RUN_FILE, RETRIEVAL_FILE, AUDIT_FILE = "run.json", "retrieval.json", "audit.json"

PROBE_FILE = "probe.json"  # by which a report finds it in a folder

VERSION = 2  # records of version 1 had no seal, and those of runs named no files

_ADVICE = {
    RUN: "train it again with `overwrite=True`",
    UNFINISHED: "begin it again with `overwrite=True`",
    EVALUATION: "evaluate again",
    RETRIEVAL: "build its gallery again",
    AUDIT: "audit again",
    PROBE: "probe again",
}

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

_FILE = object_of(name=file_name, size=count, sha256=digest)

_MODEL = having(
    object_of(estimator=text, objective=optional(text), loss=optional(text), classes=count, columns=count),
    **dict.fromkeys(("step", "beta", "regularization", "trace", "ridge", "gap", "center_scale"), number),
    **dict.fromkeys(("n_epochs", "rank", "bytes"), count),
    **dict.fromkeys(("status", "prior"), text),
)

_BEGUN = dict[str, Shape](
    command=text,
    arguments=list_of(text),
    settings=having(entries_of, test_fraction=fraction),
    versions=entries_of,
    machine=having(entries_of, memory_bytes=count),
    seed=optional(count),
    threads=optional(count),
    data=list_of(_DATA),
    started=optional(text),
    status=text,
    shard=optional(entries_of),
)

_TRAINING = object_of(rows=count, right=count, per_class=list_of(object_of(class_=name, rows=count)))

_FEATURES = object_of(source=text, kind=text, seed=optional(count), test_fraction=optional(fraction))

_RUN = object_of(
    **_BEGUN,
    files=object_of(model=_FILE, encoder=optional(_FILE)),
    seconds=optional(number),
    peak_bytes=optional(count),
    model=optional(_MODEL),
    encoder=optional(text),
    history=optional(list_of(having(entries_of, accuracy=number))),
    training=optional(_TRAINING),
    tuning=optional(list_of(_TRIED)),
    spectrum=optional(list_of(number)),
    rank=optional(count),
    grid=optional(list_of(having(entries_of, accuracy=number))),
    embedding=optional(object_of(classes=list_of(name), x=list_of(number), y=list_of(number))),
)

_SIZE_GROUP = object_of(
    name=text, accuracy=fraction, **dict.fromkeys(("smallest", "largest", "classes", "rows", "right"), count)
)


_SPAN = {"low": fraction, "high": fraction}
_ERROR = object_of(value=fraction, chance=fraction, **_SPAN)
_BIN = object_of(rows=count, probability=fraction, accuracy=fraction, **_SPAN)

_EVALUATION = object_of(
    model=digest,
    data=_DATA,
    labels=optional(text),
    features=optional(_FEATURES),
    fingerprint=optional(text),
    rows=count,
    seconds=optional(number),
    top_1=fraction,
    top_5=optional(fraction),
    mean_per_class=optional(fraction),
    per_class=list_of(object_of(class_=name, rows=count, right=count, accuracy=optional(fraction))),
    prior=optional(text),
    by_size=optional(list_of(_SIZE_GROUP)),
    confusions=optional(
        list_of(
            object_of(class_=name, predicted=name, count=count, examples=list_of(name), representative=optional(name))
        )
    ),
    mistakes=optional(list_of(object_of(name=name, class_=name, predicted=name, surer_than=fraction))),
    calibration=optional(
        object_of(rows=count, accuracy=fraction, probability=fraction, error=_ERROR, bins=list_of(_BIN))
    ),
    sets=optional(list_of(object_of(promised=fraction, coverage=fraction, size=number, single=fraction, **_SPAN))),
    examples=optional(
        list_of(
            object_of(class_=name, right=list_of(name), wrong=list_of(object_of(name=name, predicted=optional(name))))
        )
    ),
    pictures=_PICTURES,
)

_MULTILABEL = having(
    object_of(labels_per_row=number, predicted_per_row=number, micro_f1=fraction, macro_f1=fraction),
    **dict.fromkeys(("samples_f1", "all_right", "mean_average_precision"), fraction),
    **dict.fromkeys(("precision_at", "propensity_scored"), list_of(object_of(k=count, precision=fraction))),
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

_ROW = {"row": count, "name": name}

_PAIR = object_of(
    **_ROW,
    class_=optional(name),
    part=optional(text),
    other=count,
    other_name=name,
    other_class=optional(name),
    other_part=optional(text),
    similarity=number,
    group=count,
)

_AUDIT = object_of(
    data=_DATA,
    settings=entries_of,
    versions=entries_of,
    machine=entries_of,
    started=optional(text),
    seconds=optional(number),
    peak_bytes=optional(count),
    noise=optional(fraction),
    expected_errors=optional(number),
    counts=entries_of,
    label_errors=list_of(object_of(**_ROW, given=name, proposed=name, probability=fraction, score=number)),
    duplicates=list_of(_PAIR),
    outliers=list_of(object_of(**_ROW, class_=optional(name), distance=number, percentile=number)),
    class_pairs=list_of(
        object_of(
            first=name,
            second=name,
            confused=count,
            rows=count,
            low=fraction,
            high=fraction,
            p_value=number,
            same=boolean,
        )
    ),
    class_splits=list_of(
        object_of(
            class_=name,
            smaller=count,
            rows=count,
            explained=fraction,
            p_value=number,
            examples=list_of(name),
        )
    ),
    notes=list_of(text),
    pictures=_PICTURES,
)

_SHARE = object_of(value=fraction, low=fraction, high=fraction)

_DIFFERENCE = dict[str, Shape](difference=number, low=number, high=number, p=fraction)

_PROBE = object_of(
    arguments=list_of(text),
    versions=entries_of,
    machine=entries_of,
    threads=optional(count),
    seed=optional(count),
    started=optional(text),
    data=list_of(_DATA),
    protocol=text,
    rows=count,
    test_rows=count,
    classes=count,
    sampled=boolean,
    embeddings=list_of(
        object_of(
            name=text,
            columns=count,
            methods=list_of(
                object_of(
                    name=text,
                    title=text,
                    top_1=_SHARE,
                    top_5=_SHARE,
                    mean_per_class=_SHARE,
                    settings=entries_of,
                    bytes=count,
                    fit_seconds=number,
                    predict_seconds=number,
                    against=optional(object_of(name=text, **_DIFFERENCE)),
                )
            ),
            shots=list_of(object_of(shots=count, name=text, title=text, top_1=_SHARE)),
        )
    ),
    comparison=list_of(object_of(method=text, first=text, second=text, **_DIFFERENCE, verdict=text)),
    verdict=text,
    seconds=optional(number),
)

_SHAPES: dict[str, Shape] = {
    RUN: _RUN,
    UNFINISHED: object_of(**_BEGUN),
    EVALUATION: having(_EVALUATION, multilabel=_MULTILABEL),
    RETRIEVAL: _RETRIEVAL,
    AUDIT: _AUDIT,
    PROBE: _PROBE,
}


def write_record(path: str | os.PathLike[str], kind: str, record: dict[str, Any]) -> dict[str, Any]:
    """Write a record of a kind ("run", "evaluation", ...) as sealed JSON, whole or not at all; gives it as written.

    "format" and "version" are put in if they are absent. NaN and infinity are refused: what is not known is None.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = {"data": [], "protocol": "holidays", "methods": []}
    ...     _ = write_record(f"{folder}/retrieval.json", "retrieval", record)
    ...     read_record(f"{folder}/retrieval.json", "retrieval")["protocol"]
    'holidays'
    """
    whole, data = sealed_record(kind, record, f"the record of {Path(path).name}")
    write_bytes(path, data)
    return whole


def sealed_record(kind: str, record: dict[str, Any], where: str) -> tuple[dict[str, Any], bytes]:
    """A record as it is written, checked, and the bytes of its file; `where` are words for it."""
    whole = _checked({**_head(kind), **record}, kind, where)
    return whole, _seal(whole)


def read_record(path: str | os.PathLike[str], kind: str) -> dict[str, Any]:
    """The record of a kind in a file, with None for what it may leave out; ValueError in one sentence for all else."""
    _head(kind)
    data = read_file(path, "record")
    value = _parse(data)
    if data[_DIGITS] == _digits(data) and value.pop("sha256", None):
        return _checked(value, kind, str(path))
    if value.get("format") == _format(kind) and value.get("version") == 1:
        raise StorageError(f"{path} is of an earlier version, which had no checksum; {_ADVICE[kind]}")
    if f'"format": "{_format(kind)}"'.encode() in data:
        raise StorageError(f"{path} is damaged: its {len(data)} bytes do not match their checksum; {_ADVICE[kind]}")
    raise ValueError(f"{path} must be a record of a manyclass {kind}; it is something else")


def kind_of(path: str | os.PathLike[str]) -> str | None:
    """Which kind of record a file of JSON says that it is; None if it says nothing of the sort."""
    said = _parse(read_file(path, "record")).get("format")
    return next((kind for kind in _SHAPES if said == _format(kind)), None)


_END = b'"\n}\n'  # after the digits of the seal

_DIGITS = slice(-64 - len(_END), -len(_END))


def _seal(record: dict[str, Any]) -> bytes:
    content = json.dumps({**record, "sha256": "0" * 64}, indent=1, allow_nan=False, ensure_ascii=False)
    # Names of files may hold bytes that are no text, which Python keeps as lone surrogates.
    data = f"{content}\n".encode("utf-8", "surrogatepass")
    return data[: _DIGITS.start] + _digits(data) + _END


def _digits(data: bytes) -> bytes:
    """What the digits of a record must be."""
    return sha256_digest([data[: _DIGITS.start], b"0" * 64, data[_DIGITS.stop :]]).encode()


def _parse(data: bytes) -> dict[str, Any]:
    """The object of JSON in some bytes; an empty one if there is none."""
    try:
        value = load_json(data, "the record")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _format(kind: str) -> str:
    return f"manyclass {kind}"


def _head(kind: str) -> dict[str, Any]:
    if kind not in _SHAPES:
        raise ValueError(f"kind must be one of {', '.join(_SHAPES)}; got {kind!r}")
    return {"format": _format(kind), "version": VERSION}


def _checked(value: dict[str, Any], kind: str, where: str) -> dict[str, Any]:
    if value.get("format") != _format(kind):
        raise ValueError(f"{where} must have the format {_format(kind)!r}; got {value.get('format')!r}")
    if value.get("version") != VERSION:
        raise ValueError(f"{where} must have version {VERSION}; got {value.get('version')!r}; update manyclass")
    checked: dict[str, Any] = _SHAPES[kind](value, where)
    embedding = checked.get("embedding")
    if embedding and not len(embedding["classes"]) == len(embedding["x"]) == len(embedding["y"]):
        raise ValueError(f"{where}.embedding must have as many classes as x and y; got different lengths")
    return {**_head(kind), **checked}

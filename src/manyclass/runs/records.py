"""Records: what a run, an evaluation or a comparison of galleries leaves as JSON; sealed, and checked on both sides.

The last entry of the file is its seal: the SHA-256 of all of its bytes, with 64 zeros in place of the digits.

What JSON must look like is said by shapes. A shape is a function of a value and of words for its place. It gives the
value back, with entries that may be absent filled in as None and NumPy's scalars as plain numbers, or raises ValueError
in one sentence about the first place that is wrong.
"""

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.files import write_bytes
from manyclass._core.reading import load_json, read_file

RUN, UNFINISHED, EVALUATION, RETRIEVAL = "run", "unfinished run", "evaluation", "retrieval"

RUN_FILE, RETRIEVAL_FILE = "run.json", "retrieval.json"  # in the folder of a run, and of a gallery

VERSION = 2  # records of version 1 had no seal, and those of runs named no files

_ADVICE = {
    RUN: "train it again with `overwrite=True`",
    UNFINISHED: "begin it again with `overwrite=True`",
    EVALUATION: "evaluate again",
    RETRIEVAL: "build its gallery again",
}

Shape = Callable[[Any, str], Any]


def text(value: Any, where: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise _wrong(where, "text", value)
    return str(value)


def name(value: Any, where: str) -> str:
    """A name of a class or row: text, or a whole number, which becomes text."""
    if isinstance(value, bool) or not isinstance(value, str | int | np.integer):
        raise _wrong(where, "a name", value)
    return str(value)


def boolean(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool | np.bool_):
        raise _wrong(where, "true or false", value)
    return bool(value)


def number(value: Any, where: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise _wrong(where, "a number", value)
    plain = value.item() if isinstance(value, np.generic) else value
    if not math.isfinite(plain):
        raise ValueError(f"{where} must be a finite number or null; got {plain}")
    return plain  # whole numbers stay whole


def count(value: Any, where: str) -> int:
    """A whole number, at least 0."""
    if number(value, where) < 0 or value != int(value):
        raise _wrong(where, "a whole number, at least 0", value)
    return int(value)


def fraction(value: Any, where: str) -> float:
    """A number from 0 to 1."""
    if not 0 <= number(value, where) <= 1:
        raise _wrong(where, "a share from 0 to 1", value)
    return float(value)


def digest(value: Any, where: str) -> str:
    """A SHA-256 in hexadecimal digits."""
    if not re.fullmatch("[0-9a-f]{64}", text(value, where)):
        raise _wrong(where, "a SHA-256 in 64 digits", value)
    return str(value)


def file_name(value: Any, where: str) -> str:
    """The name of a file of a run, which lies in its folder."""
    if not re.fullmatch(r"(?:model|encoder)-(?:0|[1-9][0-9]{0,8})\.safetensors", text(value, where)):
        raise _wrong(where, "the name of a model or an encoder", value)
    return str(value)


def anything(value: Any, where: str) -> Any:
    """Whatever JSON holds, with finite numbers and text for keys."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.number):
        return number(value, where)
    if isinstance(value, list | tuple):
        return list_of(anything)(list(value), where)
    if isinstance(value, Mapping):
        return {text(key, f"a key of {where}"): anything(entry, f"{where}.{key}") for key, entry in value.items()}
    raise _wrong(where, "what JSON can hold", value)


def entries_of(value: Any, where: str) -> dict[str, Any]:
    """Any object of JSON."""
    if not isinstance(value, Mapping):
        raise _wrong(where, "an object", value)
    plain: dict[str, Any] = anything(value, where)
    return plain


def optional(shape: Shape) -> Shape:
    """That shape, or null; an entry of a record that may be absent."""

    def check(value: Any, where: str) -> Any:
        return None if value is None else shape(value, where)

    check.optional = True  # type: ignore[attr-defined]
    return check


def list_of(shape: Shape) -> Shape:
    """A list whose items have one shape."""

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise _wrong(where, "a list", value)
        return [shape(item, f"{where}[{i}]") for i, item in enumerate(value)]

    return check


def object_of(**shapes: Shape) -> Shape:
    """An object with these entries; `class_` is the entry "class". Others that are there are kept.

    >>> object_of(rows=count, note=optional(text))({"rows": 3}, "data")
    {'rows': 3, 'note': None}
    >>> object_of(rows=count)({"rows": -1}, "data")
    Traceback (most recent call last):
    ValueError: data.rows must be a whole number, at least 0; got -1
    """
    named = {key.rstrip("_"): shape for key, shape in shapes.items()}

    def check(value: Any, where: str) -> dict[str, Any]:
        plain = entries_of(value, where) if not isinstance(value, dict) else value
        for key, shape in named.items():
            if key not in plain and not hasattr(shape, "optional"):
                raise ValueError(f"{where} must have the entry {key!r}; got {', '.join(map(str, plain))[:80] or None}")
        known = {key: shape(plain.get(key), f"{where}.{key}") for key, shape in named.items()}
        others = {text(key, f"a key of {where}"): entry for key, entry in plain.items() if key not in named}
        return known | {key: anything(entry, f"{where}.{key}") for key, entry in others.items()}

    return check


def having(shape: Shape, **shapes: Shape) -> Shape:
    """An object of a shape, in which these entries have theirs if they are there and not null.

    >>> having(entries_of, rank=count)({"name": "x"}, "model")
    {'name': 'x'}
    """

    def check(value: Any, where: str) -> dict[str, Any]:
        plain: dict[str, Any] = shape(value, where)
        given = {key: one for key, one in shapes.items() if plain.get(key) is not None}
        return plain | {key: one(plain[key], f"{where}.{key}") for key, one in given.items()}

    return check


def _wrong(where: str, rule: str, value: Any) -> ValueError:
    return ValueError(f"{where} must be {rule}; got {str(value)[:60] if np.isscalar(value) else type(value).__name__}")


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
    **dict.fromkeys(("step", "beta", "regularization", "trace", "ridge", "gap"), number),
    **dict.fromkeys(("n_epochs", "rank", "bytes"), count),
    status=text,
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
    confusions=optional(
        list_of(
            object_of(
                class_=name,
                predicted=name,
                count=count,
                examples=list_of(name),
                representative=optional(name),
            )
        )
    ),
    mistakes=optional(list_of(object_of(name=name, class_=name, predicted=name, surer_than=fraction))),
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

_SHAPES: dict[str, Shape] = {
    RUN: _RUN,
    UNFINISHED: object_of(**_BEGUN),
    EVALUATION: having(_EVALUATION, multilabel=_MULTILABEL),
    RETRIEVAL: _RETRIEVAL,
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
    whole = _checked({**_head(kind), **record}, kind, f"the record of {Path(path).name}")
    write_bytes(path, _seal(whole))
    return whole


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

"""What leaves the page as files: labels as a table, lists of paths, near-duplicates, and what a model was learned on.

Cells that a spreadsheet would take for a formula have an apostrophe before them, which `manyclass` takes away when it
reads them. The table of labels has a line for every row of the features, so that they can be trained on by it.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from manyclass._core.models import model_pieces
from manyclass.datasets.label_files import shielded_cell
from manyclass.runs.labeling import LabelEvent
from manyclass.server.app import ApiError

if TYPE_CHECKING:
    from manyclass.server.collection import Collection
    from manyclass.server.desks.audit_desk import AuditDesk
    from manyclass.server.desks.labeling_desk import LabelingDesk

_LINES = 1000  # that are sent at once

_COPY_COLUMNS = ("group", "keep", "id", "path", "similarity", "width", "height", "bytes", "modified", "set_aside")


def labels_table(desk: "LabelingDesk") -> Iterator[bytes]:
    """What each picture is, as CSV: path, label, who said it and when, and whether a person or the data did.

    The label of pictures that are set aside, or of which nobody knows, is empty.
    """
    about, said, last = desk.collection, desk.said(), _last_words(desk)
    ids = data_ids(about) or about.ids
    given = dict(zip(about.ids, about.given, strict=True))

    def line(one: str) -> list[str]:
        event = last.get(one)
        if one in said.set_aside:
            return [one, "", event.who if event else "", event.time if event else "", "set aside"]
        if one in said.labels:
            return [one, said.labels[one], event.who if event else "", event.time if event else "", "person"]
        came = given.get(one)
        return [one, came or "", "", "", "data" if came else ""]

    return _csv(("path", "label", "who", "time", "from"), map(line, ids))


def data_ids(collection: "Collection") -> list[str] | None:
    """The ids of all rows of the features that a collection was made of; None if these are not at hand.

    A gallery may have lost some of them since.
    """
    from manyclass.runs.galleries.encoder_comparison import row_ids
    from manyclass.runs.sources import read_source

    if collection.data is None:
        return None
    try:
        ids = [str(one) for one in row_ids(read_source(collection.data, labels="none", warn=lambda words: None))]
    except (ValueError, OSError):
        return None
    return ids if set(ids).issuperset(collection.ids) else None


def paths_list(
    desk: "LabelingDesk", label: str | None, name: str | None, set_aside: bool, end: str = "\n"
) -> Iterator[bytes]:
    """Pictures, one a line: files, or ids of those without; by default those that people labeled."""
    desk.log  # noqa: B018 - what cannot be read is an error here
    about, said = desk.collection, desk.said()

    def is_wanted(one: str, given: str | None) -> bool:
        mine = said.labels.get(one)
        if set_aside:
            return one in said.set_aside
        if one in said.set_aside or (label is not None and mine != label):
            return False
        return mine is not None if name is None else (mine or given) == name

    lines = []
    for number, (one, given) in enumerate(zip(about.ids, about.given, strict=True)):
        if is_wanted(one, given):
            path = about.pictures.path(number)
            lines.append(one if path is None else str(path))
            if end == "\n" and "\n" in lines[-1]:
                raise ApiError(409, "a path has a line break in it; ask with end=null, for which xargs has -0")
    return (_encoded("".join(f"{line}{end}" for line in part)) for part in _parts(lines))


def duplicates_table(audits: "AuditDesk", rule: str, folder: str) -> Iterator[bytes]:
    """Groups of near-duplicates as CSV, a line for each picture, which says whether to keep it."""
    pictures = audits.collection.pictures

    def lines() -> Iterator[list[Any]]:
        for number, copies in enumerate(audits.audit().copies or [], 1):
            group = audits.group(copies, rule, folder)
            for one in group["pictures"]:
                known = {
                    **one,
                    "group": number,
                    "keep": "yes" if one["id"] == group["keeper"] else "no",
                    "path": pictures.path(one["number"]) or "",
                    "similarity": group["similarity"],
                    "set_aside": "yes" if one["set_aside"] else "no",
                }
                yield [known[column] for column in _COPY_COLUMNS]

    audits.audit()  # the error is to come before the first line
    return _csv(_COPY_COLUMNS, lines())


def learned_model(desk: "LabelingDesk") -> tuple[Any, dict[str, Any]]:
    """The classifier that labels have taught, and what is to be known of it: its classes, its features, its use."""
    session, about = desk.session, desk.collection
    model = session.classifier()
    if model is None:
        raise ApiError(409, "nothing is learned yet; label pictures of two classes or more, and wait a moment")
    features = data_ids(about) is not None
    encoder = about.gallery.features if features else None
    said = {
        "estimator": type(model).__name__,
        "classes": len(model.classes_),
        "columns": int(about.X.shape[1]),
        "learned_on": "features" if features else "embeddings",
        "data": str(about.data) if features else None,
        "labels": len(desk.said().labels),
        "encoder": encoder is not None,
    }
    return model, {**said, "words": _words(said, predict_command(about))}


def predict_command(collection: "Collection") -> str | None:
    """The command that tells a picture by the model; None where there is no encoder of pictures."""
    if data_ids(collection) is None or collection.gallery.features is None:
        return None
    # The store has it; what stands in a gallery alone has to be fetched.
    place = collection.data if _has_encoder(collection.data) else "encoder.safetensors"
    return f"manyclass predict model.safetensors picture.jpg --encoder {quote(str(place))}"


def _has_encoder(data: Path | None) -> bool:
    from manyclass.runs.provenance import encoder_file

    try:
        return data is not None and data.is_dir() and encoder_file(data) is not None
    except (ValueError, OSError):
        return False


def model_bytes(model: Any) -> Iterator[bytes]:
    """The file of a model, or of an encoder of pictures, a piece at a time."""
    return (bytes(piece) for piece in model_pieces(model))


def _words(said: dict[str, Any], command: str | None) -> str:
    if said["learned_on"] == "embeddings":
        return "it takes embeddings of the gallery, as its features are not at hand; pictures it cannot tell"
    if command is None:
        return f"it takes rows of {said['columns']} features such as {said['data']} has"
    return f"it tells pictures: {command}"


def _last_words(desk: "LabelingDesk") -> dict[str, LabelEvent]:
    """The last event of each picture that labeled it or set it aside, and holds."""
    log, last = desk.log, {}
    for event in log.events():
        if event.action in ("label", "set_aside") and not log.is_undone(event.number):
            last.update(dict.fromkeys(event.ids, event))
    return last


def _csv(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    yield ",".join(columns).encode() + b"\n"
    for part in _parts(lines):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([[_cell(value) for value in line] for line in part])
        yield _encoded(text.getvalue())


def _encoded(text: str) -> bytes:
    """Names of files as the disk has them, whatever their letters."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _cell(value: Any) -> Any:
    return "" if value is None else value if isinstance(value, int | float) else shielded_cell(str(value))


def _parts(lines: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(lines)
    while part := list(islice(rest, _LINES)):
        yield part

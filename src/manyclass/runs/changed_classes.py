"""Classes more, less, and by other names: a new run of a classifier that is there; the old one stays as it is."""

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.files import expand_home
from manyclass._core.models import save_model
from manyclass._core.typing import Notify
from manyclass.data.dense import DenseMatrix
from manyclass.datasets.dataset import Dataset
from manyclass.datasets.image_folders import read_images
from manyclass.runs.evaluating.priors import change_with_prior
from manyclass.runs.evaluating.priors import class_sizes as rows_by_class
from manyclass.runs.folder import RunFolder, encoder_content
from manyclass.runs.load_model import OpenedModel, check_columns, open_classifier, open_encoder
from manyclass.runs.pictures import holds_archives, picture_blocks, pictures_among
from manyclass.runs.run_record import describe_data, here_and_now
from manyclass.runs.sources import labeled_subset, passing_warnings, read_source
from manyclass.runs.trained_run import write_run

CHANGES = "changes"  # an entry of the settings of a run: what became of its classes, in words


@dataclass(frozen=True)
class ChangedClasses:
    """What became of the classes of a run.

    Parameters
    ----------
    path : Path
        The new run, or the new file of a model.
    classes : int
        Classes that it has.
    changed : list of str
        The classes that came, went, or have another name now.
    rows : int
        Rows that were learned.
    """

    path: Path
    classes: int
    changed: list[str]
    rows: int = 0


def add_classes(
    run: str | os.PathLike[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    name: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    encoder: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    arguments: Sequence[str] = (),
    notify: Notify | None = None,
    warn: Notify | None = None,
) -> ChangedClasses:
    """Write a run that knows more classes, imprinted from a few pictures or rows of each; nothing is trained again.

    Parameters
    ----------
    run : path-like
        Folder of a run, or file of a model.
    data : path-like
        A picture, a folder of pictures of one class, or with a folder for each class; or features with labels.
    out : path-like
        Folder of the new run; a file if `run` is one.
    name : str, default=None
        The class of all rows; None for their labels, or the name of a folder of pictures without any.
    labels : path-like, default=None
        File of one label per row of features.
    encoder : path-like, default=None
        The encoder of pictures; None for that of the run.
    overwrite : bool, default=False
        Whether to replace a run that is at `out`.
    arguments : sequence of str, default=()
        Words of the command that asked for it, for the record.
    notify, warn : callable, default=None
        Called with a sentence on what is done, and on pictures that cannot be read; None for Python's warnings.

    Returns
    -------
    ChangedClasses
        The new run and its new classes.
    """
    place = expand_home(run)
    opened = open_classifier(place)
    model, known = opened.model, set(opened.model.classes_.tolist())
    source = expand_home(data)
    rows = _read_new_rows(place, opened, source, name, labels, encoder, warn or warnings.warn)
    y = np.asarray(rows.label_names())
    with passing_warnings(warn):
        change_with_prior(model, lambda: model.imprint_classes(rows.X, y), warn or warnings.warn)
    new = [label for label in model.classes_.tolist() if label not in known]
    counts = dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True)), strict=True))
    words = f"added {_listed(new)} from {source}"

    def sizes(before: dict[str, int]) -> dict[str, int]:
        return before | {str(label): before.get(str(label), 0) + n for label, n in counts.items()}

    make = _Changed(place, opened, words, arguments, sizes, [describe_data("train", rows)])
    return ChangedClasses(make.write(expand_home(out), overwrite, notify), len(model.classes_), _texts(new), len(y))


def remove_classes(
    run: str | os.PathLike[str],
    classes: Sequence[str],
    out: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    arguments: Sequence[str] = (),
    notify: Notify | None = None,
) -> ChangedClasses:
    """Write a run without some classes; the machines of all others are as they were.

    Parameters
    ----------
    run : path-like
        Folder of a run, or file of a model.
    classes : sequence of str
        Names of the classes to leave out.
    out : path-like
        Folder of the new run; a file if `run` is one.
    overwrite : bool, default=False
        Whether to replace a run that is at `out`.
    arguments : sequence of str, default=()
        Words of the command that asked for it, for the record.
    notify : callable, default=None
        Called with a sentence on what is done.

    Returns
    -------
    ChangedClasses
        The new run and the classes that it has no more.
    """
    place = expand_home(run)
    opened = open_classifier(place)
    known = _labels_by_text(opened.model)
    gone = [_label_of(known, place, one) for one in classes]
    change_with_prior(opened.model, lambda: opened.model.remove_classes(gone), warnings.warn)

    def sizes(before: dict[str, int]) -> dict[str, int]:
        return {label: n for label, n in before.items() if label not in set(_texts(gone))}

    make = _Changed(place, opened, f"removed {_listed(gone)}", arguments, sizes)
    return ChangedClasses(make.write(expand_home(out), overwrite, notify), len(opened.model.classes_), _texts(gone))


def rename_classes(
    run: str | os.PathLike[str],
    names: Mapping[str, str],
    out: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    arguments: Sequence[str] = (),
    notify: Notify | None = None,
) -> ChangedClasses:
    """Write a run whose classes have other names.

    Parameters
    ----------
    run : path-like
        Folder of a run, or file of a model.
    names : dict
        New names by old ones.
    out : path-like
        Folder of the new run; a file if `run` is one.
    overwrite : bool, default=False
        Whether to replace a run that is at `out`.
    arguments : sequence of str, default=()
        Words of the command that asked for it, for the record.
    notify : callable, default=None
        Called with a sentence on what is done.

    Returns
    -------
    ChangedClasses
        The new run and its new names.
    """
    place = expand_home(run)
    opened = open_classifier(place)
    known = _labels_by_text(opened.model)
    labels = {_label_of(known, place, old): _as_label(opened.model, new, names) for old, new in names.items()}
    opened.model.rename_classes(labels)
    texts = {str(old): str(new) for old, new in labels.items()}
    words = "renamed " + ", ".join(f"{old} to {new}" for old, new in texts.items())

    def sizes(before: dict[str, int]) -> dict[str, int]:
        return {texts.get(label, label): n for label, n in before.items()}

    make = _Changed(place, opened, words, arguments, sizes)
    path = make.write(expand_home(out), overwrite, notify)
    return ChangedClasses(path, len(opened.model.classes_), list(texts.values()))


def class_sizes(run: str | os.PathLike[str]) -> dict[str, int | None]:
    """List the classes of a run, with the rows that each was learned from where that is on record.

    Parameters
    ----------
    run : path-like
        Folder of a run, or file of a model.

    Returns
    -------
    dict of str to int or None
        Rows by class, in the order of the classes.
    """
    opened = open_classifier(expand_home(run))
    known = rows_by_class(opened.model, opened.run) or {}
    return {label: known.get(label) for label in _texts(opened.model.classes_.tolist())}


@dataclass(frozen=True)
class _Changed:
    """A classifier whose classes were changed, and what is on record of that."""

    place: Path
    opened: OpenedModel
    words: str
    arguments: Sequence[str]
    sizes: Callable[[dict[str, int]], dict[str, int]]
    data: Sequence[dict[str, Any]] = ()

    def write(self, out: Path, overwrite: bool, notify: Notify | None) -> Path:
        """Write it as a run, or as a file where it was in a file."""
        before = self.opened.run
        if before is None:
            _check_free(out, overwrite)
            save_model(self.opened.model, out)
            return out
        if out.resolve() == self.place.resolve():
            raise ValueError(f"{out} must be another folder than the run that is changed, which stays as it is")
        started, folder = time.perf_counter(), RunFolder(out)
        folder.check(resume=True, overwrite=overwrite)
        encoder = None if before["encoder"] is None else Path(before["encoder"])
        write_run(
            folder,
            self._record(before),
            self.opened.model,
            {name: before[name] for name in ("history", "tuning", "grid")},
            (encoder, encoder_content(self.place, before)),
            examples=lambda: None,
            seconds=lambda: time.perf_counter() - started,
            resume=True,
            overwrite=overwrite,
            notify=notify or _ignore,
        )
        return out

    def _record(self, before: dict[str, Any]) -> dict[str, Any]:
        """That of the run before, with one change more and the rows that came; how many of all are right is unknown."""
        settings, sizes = before["settings"], self.sizes(_sizes(before))
        per_class = [{"class": label, "rows": n} for label, n in sorted(sizes.items())]
        return {
            "command": "classes",
            "arguments": list(self.arguments),
            "settings": {**settings, CHANGES: [*settings.get(CHANGES, []), self.words]},
            "seed": before["seed"],
            "data": [*before["data"], *self.data],
            "before": {"path": str(self.place), "model": self.opened.sha256},
            "training": {"rows": 0, "right": 0, "per_class": per_class} if before["training"] else None,
            **here_and_now(),
        }


def _ignore(message: str) -> None:
    pass


def _sizes(run: dict[str, Any] | None) -> dict[str, int]:
    """Rows that each class was learned from, if that is on record."""
    training = (run or {}).get("training") or {"per_class": []}
    return {one["class"]: one["rows"] for one in training["per_class"]}


def _check_free(out: Path, overwrite: bool) -> None:
    if out.exists() and not overwrite:
        raise ValueError(f"{out} is there already; pass `overwrite=True` to replace it, or choose another name")


def _texts(labels: Sequence[Any]) -> list[str]:
    return [str(label) for label in labels]


def _listed(labels: Sequence[Any]) -> str:
    return ", ".join(_texts(labels))


def _labels_by_text(model: Any) -> dict[str, Any]:
    return {str(label): label for label in model.classes_.tolist()}


def _label_of(known: dict[str, Any], place: Path, name: str) -> Any:
    """The label that is written like this."""
    if str(name) not in known:
        raise ValueError(f"{place} must know the class {name!r}; it knows {len(known):,} others")
    return known[str(name)]


def _as_label(model: Any, name: str, names: Mapping[str, str]) -> Any:
    """A new name as a label of the kind that the others have; as text if all of them are renamed."""
    if model.classes_.dtype.kind in "UO" or len(names) == len(model.classes_):
        return name
    try:
        return int(name)
    except ValueError:
        raise ValueError(
            f"new names must be whole numbers, as the {len(model.classes_):,} classes have; got {name!r}; "
            "rename all of them to change that"
        ) from None


def _read_new_rows(
    place: Path,
    opened: OpenedModel,
    source: Path,
    name: str | None,
    labels: Any,
    encoder: Any,
    warn: Notify,
) -> Dataset:
    """Rows with labels: of pictures by the encoder of the run, or of features."""
    if pictures_among([source]):
        encodes = open_encoder(place, None if encoder is None else expand_home(encoder), opened)
        return _encoded(source, encodes, name, warn)
    found = read_source(source, "none" if name is not None else None if labels is None else os.fspath(labels), warn)
    check_columns(opened.model, place, found.X, source)
    if name is not None:
        return Dataset(found.X, y=_one_label(opened.model, name, len(found)), names=found.names, path=source)
    if found.y is None:
        raise ValueError(f"{source} must have labels; it has none; say with `name` which class all rows are")
    return labeled_subset(found, None, ("train",), warn)


def _one_label(model: Any, name: str, n: int) -> Any:
    """The same label for n rows, a number where classes are numbers."""
    return np.array([name if model.classes_.dtype.kind in "UO" else _as_label(model, name, {})] * n)


def _encoded(source: Path, encoder: Any, name: str | None, warn: Notify) -> Dataset:
    """The rows of pictures that can be read; of each the label that its folder gives it, or the name."""
    paths: list[Any]
    paths, labels = [str(source)], [name or source.resolve().parent.name]
    if source.is_dir() or holds_archives(source):
        images = read_images(source)
        given = images.y if name is None and images.y is not None else [name or source.resolve().name] * len(images)
        paths, labels = images.paths, [str(label) for label in given]
    label_of = dict(zip(map(str, paths), labels, strict=True))
    blocks = list(picture_blocks(paths, encoder, lambda picture, why: warn(f"{picture} {why}")))
    if not blocks:
        raise ValueError(f"{source} must hold a picture that can be read; it holds none")
    read = [str(path) for block in blocks for path in block.names or ()]
    X = DenseMatrix(np.concatenate([block.X.rows(slice(None)) for block in blocks]))
    return Dataset(X, y=np.array([label_of[path] for path in read]), names=read, path=source)

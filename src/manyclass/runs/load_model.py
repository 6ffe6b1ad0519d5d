"""Models that users name by a path: the classifier of a run or in a file, and the encoder that goes with it."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from manyclass._core.digest import file_digest
from manyclass._core.errors import StoreCorruptedError
from manyclass._core.files import expand_home
from manyclass.runs.folder import check_has_all_classes, file_damage, is_run, read_run
from manyclass.runs.records import RUN_FILE


def load(path: str | os.PathLike[str]) -> Any:
    """Load a classifier or an encoder that `save` wrote, or the classifier of a run.

    The model predicts or encodes to the same bits as the one that was saved. Callbacks, checkpoints, generators of
    random numbers and the times that a fit took are not saved.

    Parameters
    ----------
    path : str or os.PathLike
        The file, or the folder that `manyclass train` or `runs.train` wrote.

    Returns
    -------
    object
        The model, fitted.

    Raises
    ------
    ValueError
        If the file is damaged, cut short, not a model, or of a later version, or the run is unfinished.

    Examples
    --------
    >>> import tempfile
    >>> from manyclass import TraceNormClassifier
    >>> path = tempfile.mkdtemp() + "/model.safetensors"
    >>> TraceNormClassifier().fit([[0.0], [1.0]], ["a", "b"]).save(path)
    >>> load(path).predict([[1.0]]).tolist()
    ['b']
    """
    return open_model(expand_home(path)).model


class OpenedModel(NamedTuple):
    """A model, the SHA-256 of its file, and the record of its run, if it has one."""

    model: Any
    sha256: str
    run: dict[str, Any] | None


def open_classifier(path: Path) -> OpenedModel:
    """The classifier of a run that is done, or in a file."""
    opened = open_model(path)
    if not hasattr(opened.model, "predict_top"):
        raise ValueError(f"{path} must hold a classifier; it holds a {type(opened.model).__name__}")
    return opened


def open_model(path: Path) -> OpenedModel:
    """The classifier of a run that is done, or whatever a file holds."""
    from manyclass._core.models import load as load_file

    if not path.exists():
        raise FileNotFoundError(f"no run or model at {path}")
    if not path.is_dir():
        return OpenedModel(load_file(path), file_digest(path), None)
    if not is_run(path):
        raise ValueError(f"{path} must be a folder that manyclass train made, or a model file; it has no {RUN_FILE}")
    run = read_run(path)
    check_has_all_classes(path, run)
    while True:
        try:
            return OpenedModel(load_run_file(path, run, "model"), run["files"]["model"]["sha256"], run)
        except StoreCorruptedError:
            # Perhaps the run was replaced just then, and its files are gone with it.
            before, run = run, read_run(path)
            if run == before:
                raise


def load_run_file(path: Path, run: dict[str, Any], role: str) -> Any:
    """The model or the encoder of a run of this record; None if it has none."""
    from manyclass._core.models import load as load_file

    named = run["files"][role]
    if named is None:
        return None
    damage = file_damage(path, named)
    if damage is not None:
        raise StoreCorruptedError(path, damage)
    return load_file(path / named["name"])


def check_columns(model: Any, path: Path, X: Any, source: Path) -> None:
    """Refuse rows of another width than those that a model was trained on."""
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{source} must have {model.n_features_in_} columns, as the data of {path} had; got {X.shape[1]}"
        )


def check_labels(model: Any, path: Path, y: Any, source: Path) -> None:
    """Refuse labels that a model does not know."""
    known, found = model.classes_, np.unique(y)
    if not len(found):
        raise ValueError(f"{source} must have labels to judge by; no row has any")
    if (known.dtype.kind in "UO") != (found.dtype.kind in "UO"):
        mine, theirs = ("names", "numbers") if known.dtype.kind in "UO" else ("numbers", "names")
        raise ValueError(
            f"{source} must label its rows by {mine} such as {known.tolist()[0]!r}, as the data of {path} did; "
            f"got {theirs} such as {found.tolist()[0]!r}; give others with `labels`"
        )
    strange = found[~np.isin(found, known)]
    if len(strange):
        more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
        raise ValueError(
            f"{source} must hold classes among the {len(known):,} that {path} knows; got {strange.tolist()[0]!r}{more}"
        )


def open_encoder(path: Path, given: Path | None, opened: OpenedModel) -> Any:
    """What turns pictures into the rows that a classifier takes: the encoder given, or the one of its run.

    A store that is given stands for the encoder that made its rows.
    """
    from manyclass._core.models import load as load_file
    from manyclass.runs.provenance import encoder_file

    file = encoder_file(given) if given and given.is_dir() else given
    if given and file is None:
        raise ValueError(f"`encoder` must be the file of an encoder, or a store that holds one; {given} holds none")
    encoder = load_file(file) if file else load_run_file(path, opened.run, "encoder") if opened.run else None
    if encoder is None:
        raise ValueError(
            f"images need the encoder that made the features of {path}, which has none; give its file with `encoder`"
        )
    where = given or path
    if not hasattr(encoder, "encode") or not hasattr(encoder, "n_features_out_"):
        raise ValueError(f"{where} must hold an encoder of images; it holds a {type(encoder).__name__}")
    if encoder.n_features_out_ != opened.model.n_features_in_:
        width = opened.model.n_features_in_
        raise ValueError(f"{where} must give {width} columns, as {path} takes; it gives {encoder.n_features_out_}")
    return encoder


def is_model(path: Path) -> bool:
    """Whether a file begins as models do."""
    from manyclass._core.sealed import starts_sealed

    return path.is_file() and starts_sealed(path)


def describe_model(path: Path) -> dict[str, Any]:
    """What there is to say of a classifier or an encoder in a file."""
    from manyclass.runs.run_record import describe_fit

    model = load(path)
    known = {"format": "manyclass model", "estimator": type(model).__name__, "bytes": path.stat().st_size}
    if hasattr(model, "classes_"):
        return known | describe_fit(model)
    return known | {"columns": getattr(model, "n_features_out_", None)}

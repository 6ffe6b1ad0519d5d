"""Models that users name by a path: the classifier of a run or in a file, and the encoder that goes with it."""

from pathlib import Path
from typing import Any

import numpy as np

from manyclass.runs.folder import ENCODER, MODEL, is_run, read_run
from manyclass.runs.records import RUN_FILE


def open_classifier(path: Path) -> Any:
    """The classifier of a run that is done, or in a file."""
    from manyclass._core.models import load

    model = load(_model_file(path))
    if not hasattr(model, "predict_top"):
        raise ValueError(f"{path} must hold a classifier; it holds a {type(model).__name__}")
    return model


def _model_file(path: Path) -> Path:
    if not path.exists():
        raise FileNotFoundError(f"no run or model at {path}")
    if path.is_file():
        return path
    if not is_run(path):
        raise ValueError(f"{path} must be a folder that manyclass train made, or a model file; it has no {RUN_FILE}")
    if not (path / MODEL).is_file() or read_run(path)["status"] != "done":
        raise ValueError(f"{path} holds a run that is unfinished; go on with it by manyclass train --resume")
    return path / MODEL


def check_columns(model: Any, path: Path, X: Any, source: Path) -> None:
    """Refuse rows of another width than those that a model was trained on."""
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{source} must have {model.n_features_in_} columns, as the data of {path} had; got {X.shape[1]}"
        )


def check_labels(model: Any, path: Path, y: Any, source: Path) -> None:
    """Refuse labels that a model does not know."""
    known, found = model.classes_, np.unique(y)
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


def open_encoder(path: Path, given: Path | None, model: Any) -> Any:
    """What turns pictures into the rows that a classifier takes: the encoder given, or the one of its run."""
    from manyclass._core.models import load

    file = given or (path / ENCODER if path.is_dir() else None)
    if file is None or (given is None and not file.is_file()):
        raise ValueError(
            f"images need the encoder that made the features of {path}, which has none; give its file with `encoder`"
        )
    encoder = load(file)
    if not hasattr(encoder, "encode") or not hasattr(encoder, "n_features_out_"):
        raise ValueError(f"{file} must hold an encoder of images; it holds a {type(encoder).__name__}")
    if encoder.n_features_out_ != model.n_features_in_:
        width = model.n_features_in_
        raise ValueError(f"{file} must give {width} columns, as {path} takes; it gives {encoder.n_features_out_}")
    return encoder


def is_model(path: Path) -> bool:
    """Whether a file begins as models do."""
    from manyclass._core.sealed import START

    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(8 + len(START))[8:] == START


def describe_model(path: Path) -> dict[str, Any]:
    """What there is to say of a classifier or an encoder in a file."""
    from manyclass._core.models import load
    from manyclass.runs.run_record import describe_fit

    model = load(path)
    known = {"format": "manyclass model", "estimator": type(model).__name__, "bytes": path.stat().st_size}
    if hasattr(model, "classes_"):
        return known | describe_fit(model)
    return known | {"columns": getattr(model, "n_features_out_", None)}

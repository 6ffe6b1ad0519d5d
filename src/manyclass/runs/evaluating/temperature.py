"""Probabilities that mean what they say: the temperature of a classifier, found on rows that it has not seen."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.files import expand_home
from manyclass._core.models import save_model
from manyclass._core.typing import Notify
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix
from manyclass.runs.evaluating.evaluation import labels_for, with_split_of_run
from manyclass.runs.folder import RunFolder, is_run, seen_rows
from manyclass.runs.load_model import check_columns, check_labels, open_classifier
from manyclass.runs.run_record import describe_data
from manyclass.runs.sources import labeled_subset, passing_warnings, read_labeled

_SCORES = 1 << 24  # rows times classes that are looked at, and half of rows times columns: 128 MB of either


@dataclass(frozen=True)
class Calibrated:
    """What `calibrate` found.

    Parameters
    ----------
    temperature : float
        The temperature: probabilities are softmax(scores / temperature).
    rows : int
        Rows that it was found on.
    accuracy : float
        How often the best class is right on them.
    confidence : float
        What the classifier says of itself: the mean probability of its best class.
    log_loss : float
        Mean of -log(probability of the right class).
    """

    temperature: float
    rows: int
    accuracy: float
    confidence: float
    log_loss: float


def calibrate(
    run: str | os.PathLike[str],
    data: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | None = None,
    subset: str | None = None,
    known: str | os.PathLike[str] | None = None,
    warn: Notify | None = None,
) -> Calibrated:
    """Find the temperature at which the probabilities of a classifier fit data best, and keep it with the classifier.

    Which class is best does not change. Evaluations of the run are of what it was before, and are removed.

    Parameters
    ----------
    run : path-like
        Folder of a run, or file of a model.
    data : path-like
        Features with labels that the classifier has not seen: whatever `read_features` reads.
    labels : path-like, default=None
        File of one label per row, in place of those found with the features.
    subset : str, default=None
        Rows of this value of the split, or "all"; None for "val" or "test" if there is one, or else all rows.
    known : path-like, default=None
        Features with labels that the classifier was trained on, of which rows of the split "train" are taken if there
        is one: rows of none of the classes are then told by their distance to classes too.
    warn : callable, default=None
        Called with a sentence on what is left out, or if the classifier has seen the rows; None for Python's warnings.

    Returns
    -------
    Calibrated
        The temperature, and how far accuracy and probabilities agree now.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import manyclass as mc
    >>> X = mc.datasets.low_rank_classes(300, d=16, n_classes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=X.rows(slice(None)), y=X.y, split=np.repeat(["train", "val"], 150))
    ...     run = mc.runs.train(Path(folder) / "x.npz", Path(folder) / "run", max_epochs=5)
    ...     found = mc.runs.calibrate(run.path, Path(folder) / "x.npz")
    ...     found.rows, abs(found.accuracy - found.confidence) < 0.1, hasattr(mc.load(run.path), "predict_proba")
    (150, True, True)
    """
    place, source = expand_home(run), expand_home(data)
    model, _, record = open_classifier(place)
    if not hasattr(model, "calibrate"):
        raise ValueError(f"{place} must hold a classifier that can be calibrated; it holds a {type(model).__name__}")
    if getattr(model, "has_several_labels", False):
        raise ValueError(
            f"{place} must have one label per row to be calibrated; thresholds of several are found by train"
        )
    whole = with_split_of_run(read_labeled(source, None if labels is None else os.fspath(labels), warn), record)
    check_columns(model, place, whole.X, source)
    examples = labeled_subset(whole, subset, ("val", "test"), warn)
    if not len(examples):
        raise ValueError(f"{source} must have at least one row to calibrate by; got none")
    y = labels_for(model, examples)
    check_labels(model, place, y, source)
    seen = None if record is None else seen_rows(record, describe_data("test", examples))
    if seen is not None:
        (warn or warnings.warn)(f"{seen}: probabilities will be too high for others")
    most = max(1000, min(_SCORES // len(model.classes_), 2 * _SCORES // examples.X.shape[1]))
    index = np.linspace(0, len(y) - 1, min(len(y), most)).astype(np.intp)
    X, y = DenseMatrix(examples.X.rows(index)), y[index]
    learned = None if known is None else _learned(model, place, expand_home(known), record, warn)
    with passing_warnings(warn):
        model.calibrate(X, y, known=learned)
    if is_run(place):
        folder = RunFolder(place)
        with folder.locked(resume=True, overwrite=False):
            folder.replace_model(model)
    else:
        save_model(model, place)
    return _judge(model, X, y)


def _learned(
    model: Any, place: Path, source: Path, record: dict[str, Any] | None, warn: Notify | None
) -> tuple[Matrix, Any]:
    """Rows that the classifier was trained on, and their labels."""
    whole = with_split_of_run(read_labeled(source, None, warn), record)
    check_columns(model, place, whole.X, source)
    examples = labeled_subset(whole, None, ("train",), warn)
    y = labels_for(model, examples)
    check_labels(model, place, y, source)
    return examples.X, y


def _judge(model: Any, X: Matrix, y: Any) -> Calibrated:
    """How far accuracy and probabilities agree."""
    S = np.asarray(model.predict_proba(X), np.float64)
    best, places = S.argmax(axis=1), np.searchsorted(model.classes_, y)
    right = S[np.arange(len(y)), places]
    return Calibrated(
        float(model.temperature_),
        len(y),
        float(np.mean(best == places)),
        float(S.max(axis=1).mean()),
        float(-np.log(np.maximum(right, np.finfo(np.float64).tiny)).mean()),
    )

"""evaluate: a classifier against labels; accuracies, classes, confusions, and rows that show them."""

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import SettingsError, StorageError
from manyclass._core.files import TEMPORARY_SUFFIX, FolderLock, check_output, expand_home, make_folder
from manyclass._core.typing import Notify, ProgressFactory, Report, no_progress
from manyclass.datasets.dataset import ALL, Dataset
from manyclass.evaluation.class_sizes import group_by_size
from manyclass.evaluation.classification import confusions
from manyclass.runs.evaluating.confidence import confidence_record
from manyclass.runs.evaluating.multilabel_evaluation import evaluate_several_labels
from manyclass.runs.evaluating.priors import TRAINING, UNIFORM, Prior, class_sizes, prior_name, set_prior
from manyclass.runs.folder import EVALUATIONS, seen_rows
from manyclass.runs.load_model import check_columns, check_labels, open_classifier
from manyclass.runs.provenance import features_of, pictures_of
from manyclass.runs.records import EVALUATION, write_record
from manyclass.runs.run_record import describe_data
from manyclass.runs.sources import draw_test_subset, labeled_subset, labels_words, passing_warnings, read_labeled

if TYPE_CHECKING:
    from manyclass.estimators.linear_model import LinearModel

_TOP = 5

_PAIRS, _CLASSES, _ROWS = (
    30,
    6,
    8,
)  # confusions, best and worst classes, and rows of each: what a page of a report shows

_PATIENCE, _PAUSE = 10.0, 0.05  # seconds to wait for another evaluation that is being written, and between two looks

_BLOCK = 16384  # rows between two reports; thousands, as very many classes are prepared for each time

_MOST_SCORES = 1 << 22  # scores that are held at once where all of a row are needed

_SURE, _JUDGED = 24, 2000  # mistakes that are kept, and rows, right and wrong, whose margins are looked at


@dataclass(frozen=True)
class Evaluation:
    """How good a classifier is on some data.

    Parameters
    ----------
    path : Path or None
        The file that holds the record; None if there is none.
    record : dict
        `top_1`, `top_5` and `mean_per_class`, numbers `per_class`, `by_size` of classes of many, medium and few
        examples, `confusions`, and `examples` of rows; `calibration` of the probabilities and coverage of `sets`, where
        the classifier has these.
    """

    path: Path | None
    record: dict[str, Any]


def evaluate(
    run: str | os.PathLike[str],
    data: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | None = None,
    label_separator: str | None = None,
    subset: str | None = None,
    prior: Prior | None = None,
    out: str | os.PathLike[str] | None = None,
    notify: Notify | None = None,
    warn: Notify | None = None,
    progress: ProgressFactory | None = None,
) -> Evaluation:
    """Judge a classifier on data with labels, which must have its columns and classes; classes go by name.

    The result is kept in the folder of the run, where a report finds it.

    Parameters
    ----------
    run : path-like
        Folder of a run, or file of a model.
    data : path-like
        Features with labels: whatever `read_features` reads.
    labels : path-like, default=None
        File of one label per row, in place of those found with the features.
    label_separator : str, default=None
        What stands between labels of rows that have several; None for that of the run.
    subset : str, default=None
        Rows of this value of the split, or "all"; None for "test" or "val" if there is one, or else all rows. A split
        that `train` drew in this data is drawn again.
    prior : "uniform", "training", path-like or dict, default=None
        Judge the classifier with another prior of the classes, as `set_prior` gives it: "training" for that of the rows
        that it learned from, or a CSV file of classes and shares. None for the one that it has.
    out : path-like, default=None
        File for the record; None for one in the folder of the run, or for none if `run` is a file.
    notify : callable, default=None
        Called with a sentence on what is being done.
    warn : callable, default=None
        Called with a sentence on what is left out, on rows of another scale than those of the fit, or if the
        classifier has seen the rows; None for Python's warnings.
    progress : callable, default=None
        Called as progress("judging", "rows") for a context manager that gives a function of (done, total).

    Returns
    -------
    Evaluation
        The record, and where it is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import manyclass as mc
    >>> X = mc.datasets.low_rank_classes(200, d=16, n_classes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=X.rows(slice(None)), y=X.y)
    ...     run = mc.runs.train(Path(folder) / "x.npz", Path(folder) / "run", test_fraction=0.2, max_epochs=5)
    ...     result = mc.runs.evaluate(run.path, Path(folder) / "x.npz")
    ...     result.path.name, result.record["rows"]
    ('x-test.json', 40)
    """
    place, source = expand_home(run), expand_home(data)
    target = None if out is None else expand_home(out)
    if target is not None:
        check_output(target, "leave `out` away and pass `json=True`")
    elif (place / EVALUATIONS).is_symlink():
        raise StorageError(f"{place / EVALUATIONS} must be a folder of the run; it is a link; remove it")
    model, model_digest, trained = open_classifier(place)
    set_prior(model, prior)
    separator = separator_for(model, place, label_separator, trained)
    found = read_labeled(source, None if labels is None else os.fspath(labels), warn, separator)
    whole = with_split_of_run(found, trained)
    check_columns(model, place, whole.X, source)
    examples = labeled_subset(whole, subset, ("test", "val"), warn)
    if not len(examples):
        raise ValueError(f"{source} must have at least one row to judge; got none")
    y = labels_for(model, examples)
    check_labels(model, place, y if separator is None else [label for one in y for label in one], source)
    if notify is not None:
        which = f" of the part {examples.subset_name}" if examples.subset_name != ALL else ""
        notify(f"judging {len(examples):,} rows{which} of {source}{labels_words(examples)}")
    started = time.perf_counter()
    with passing_warnings(warn), (progress or no_progress)("judging", "rows") as report:
        numbers = (
            evaluate_model(model, examples, y, report)
            if separator is None
            else evaluate_several_labels(model, examples, y, *_training_sizes(trained), report)
        )
    record = {
        "model": model_digest,
        "data": describe_data("test", examples),
        "labels": None if labels is None else os.fspath(labels),
        "features": features_of(source),
        # Other features of the same pictures are the same test.
        "fingerprint": examples.examples_fingerprint(),
        "rows": len(examples),
        "seconds": time.perf_counter() - started,
        "prior": prior_name(prior),
        **numbers,
        "by_size": _by_size(numbers["per_class"], class_sizes(model, trained)),
        "pictures": pictures_of(source),
    }
    seen = None if trained is None else seen_rows(trained, record["data"])
    if seen is not None:
        (warn or warnings.warn)(
            f"{seen}: what it reaches on them says little of others; judge rows that it has not seen, such as those "
            "that training leaves out with `test_fraction=0.2`"
        )
    file = _file_of(place, examples, prior) if target is None else target
    if file is not None:
        make_folder(file.parent)
        with _tidied(file.parent) if out is None else nullcontext():
            write_record(file, EVALUATION, record)
    return Evaluation(file, record)


@contextmanager
def _tidied(folder: Path) -> Iterator[None]:
    """The right to write an evaluation in the folder of a run, without what those left that were killed at it."""
    lock = _wait_for_lock(folder)
    try:
        for leftover in folder.glob(f"*.json{TEMPORARY_SUFFIX}"):
            with suppress(OSError):
                leftover.unlink()
        yield
    finally:
        lock.release()


def _wait_for_lock(folder: Path) -> FolderLock:
    """The lock, which others hold for a moment only."""
    for _ in range(round(_PATIENCE / _PAUSE)):
        with suppress(StorageError):
            return FolderLock(folder)
        time.sleep(_PAUSE)
    return FolderLock(folder)


def with_split_of_run(dataset: Dataset, record: dict[str, Any] | None) -> Dataset:
    """The rows with the split that a run drew in them; as they are, if it was trained on other rows."""
    fraction = record["settings"].get("test_fraction") if record else None
    if record is None or fraction is None or dataset.split is not None or dataset.y is None:
        return dataset
    drawn = draw_test_subset(dataset, fraction, record["seed"])
    fingerprint = describe_data("train", drawn.subset("train"))["fingerprint"]
    known = {one["fingerprint"] for one in record["data"] if one["role"] == "train"}
    return drawn if fingerprint in known else dataset


def separator_for(model: Any, place: Path, given: str | None, trained: dict[str, Any] | None) -> str | None:
    """What stands between the labels of a row, for a model of several: as given, or as its run had it."""
    several = getattr(model, "has_several_labels", False)
    if given is not None and not several:
        raise SettingsError(f"`label_separator` is for classifiers of several labels per row; {place} is none")
    found = given or ((trained or {}).get("settings") or {}).get("label_separator")
    if several and not found:
        raise SettingsError(f"`label_separator` must say what stands between labels, as {place} has several per row")
    return found if several else None


def _training_sizes(trained: dict[str, Any] | None) -> tuple[dict[str, int] | None, int | None]:
    """(how many training rows have each label, how many there were), if the record of a run tells."""
    training = (trained or {}).get("training")
    if trained is None or not training:
        return None, None
    return {one["class"]: one["rows"] for one in training["per_class"]}, trained["data"][0]["rows"]


def labels_for(model: Any, examples: Dataset) -> Any:
    """The labels of rows as a model has them: names, unless it was trained on numbers and there are numbers too."""
    if examples.separator is not None:
        return examples.label_lists()
    y = np.asarray(examples.y)
    by_number = model.classes_.dtype.kind in "iu" and y.dtype.kind != "U"
    return y if by_number else np.asarray(examples.label_names())


def _file_of(run: Path, examples: Dataset, prior: Prior | None) -> Path | None:
    """Where the result of a run goes; None for a model that is a file."""
    if run.is_file():
        return None
    source = Path(str(examples.path))
    name = source.name if source.is_dir() else source.stem
    with_prior = "" if prior is None else f"-{prior}" if prior in (UNIFORM, TRAINING) else "-prior"
    return run / EVALUATIONS / f"{name.removesuffix('.store')}-{examples.subset_name}{with_prior}.json"


def _by_size(classes: list[dict[str, Any]], sizes: dict[str, int] | None) -> list[dict[str, Any]] | None:
    """How classes of many, medium and few examples do; None where sizes are not known, or much the same."""
    if sizes is None or any(one["class"] not in sizes for one in classes):
        return None
    learned, rows, right = (
        np.array([sizes[one["class"]] for one in classes]),
        *(np.array([one[key] for one in classes]) for key in ("rows", "right")),
    )
    return [group._asdict() for group in group_by_size(learned, rows, right)] or None


def evaluate_model(model: "LinearModel", examples: Dataset, y: NDArray[Any], report: Report) -> dict[str, Any]:
    """What a record of an evaluation says of the predictions for rows with labels y (n,)."""
    y = y.astype(np.str_) if model.classes_.dtype.kind == "U" else y
    top = top_labels(model, examples, report)
    right = top[:, 0] == y
    classes = _per_class(y, right)
    shown = sorted(classes, key=lambda one: (one["accuracy"], -one["rows"]))
    chosen = shown[:_CLASSES] + shown[_CLASSES:][-_CLASSES:]
    return {
        "top_1": float(right.mean()),
        "top_5": float((top == y[:, None]).any(axis=1).mean()),
        "mean_per_class": float(np.mean([one["accuracy"] for one in classes])),
        "per_class": [{**one, "class": str(one["class"])} for one in classes],
        "confusions": _confusions(examples, y, top[:, 0]),
        "mistakes": _surest_mistakes(model, examples, y, top[:, 0]),
        **confidence_record(model, examples, y),
        "examples": [_examples(model, examples, one["class"], y, top[:, 0]) for one in chosen],
    }


def top_labels(model: "LinearModel", examples: Dataset, report: Report) -> NDArray[Any]:
    """The five classes of highest score for every row (n, 5), some rows at a time."""
    n = len(examples)
    found = []
    for start in range(0, n, _BLOCK):
        found.append(model.predict_top(examples.X.row_slice(slice(start, start + _BLOCK)), _TOP))
        report(min(n, start + _BLOCK), n)
    return np.concatenate(found)


def _per_class(y: NDArray[Any], right: NDArray[np.bool_]) -> list[dict[str, Any]]:
    labels, codes = np.unique(y, return_inverse=True)
    counts, hits = np.bincount(codes).tolist(), np.bincount(codes[right], minlength=len(labels)).tolist()
    return [
        {"class": label, "rows": rows, "right": hit, "accuracy": hit / rows}
        for label, rows, hit in zip(labels.tolist(), counts, hits, strict=True)
    ]


def _confusions(examples: Dataset, y: NDArray[Any], predicted: NDArray[Any]) -> list[dict[str, Any]]:
    return [
        {
            "class": str(pair.truth),
            "predicted": str(pair.predicted),
            "count": pair.times,
            "examples": _names(examples, np.flatnonzero((y == pair.truth) & (predicted == pair.predicted))),
            "representative": _representative(examples, pair.predicted, y, predicted),
        }
        for pair in confusions(y, predicted, _PAIRS)
    ]


def _representative(examples: Dataset, label: Any, y: NDArray[Any], predicted: NDArray[Any]) -> str | None:
    """The name of a row of a class, one that is right if there is one."""
    of_class = np.flatnonzero(y == label)
    rows = of_class[np.argsort(predicted[of_class] != label, kind="stable")]
    return examples.row_name(rows[0]) if len(rows) else None


def _surest_mistakes(
    model: "LinearModel", examples: Dataset, y: NDArray[Any], predicted: NDArray[Any]
) -> list[dict[str, Any]]:
    """Rows that are wrong by the widest margins, with the share of right rows of narrower ones; of many, a sample."""
    drawn = np.random.default_rng(0).permutation(len(y))
    right, wrong = (drawn[hit][:_JUDGED] for hit in ((predicted == y)[drawn], (predicted != y)[drawn]))
    if not (len(right) and len(wrong)):
        return []
    usual, margins = np.sort(_margins(model, examples, right)), _margins(model, examples, wrong)
    order = np.lexsort((wrong, -margins))[:_SURE]
    return [
        {
            "name": examples.row_name(wrong[i]),
            "class": str(y[wrong[i]]),
            "predicted": str(predicted[wrong[i]]),
            "surer_than": float(np.searchsorted(usual, margins[i]) / len(usual)),
        }
        for i in order
    ]


def _examples(
    model: "LinearModel", examples: Dataset, label: Any, y: NDArray[Any], predicted: NDArray[Any]
) -> dict[str, Any]:
    """Rows of a class that are right, the most confident first, and rows that are wrong."""
    of_class = np.flatnonzero(y == label)
    right = of_class[predicted[of_class] == label]
    wrong = of_class[predicted[of_class] != label][:_ROWS]
    surest = right[np.argsort(-_margins(model, examples, right), kind="stable")] if len(right) else right
    mistakes = [{"name": examples.row_name(row), "predicted": str(predicted[row])} for row in wrong]
    return {"class": str(label), "right": _names(examples, surest), "wrong": mistakes}


def _margins(model: "LinearModel", examples: Dataset, rows: NDArray[np.intp]) -> NDArray[Any]:
    """By how much the best class is ahead of the next, some rows at a time."""
    size = max(1, _MOST_SCORES // len(model.classes_))
    return np.concatenate([_leads(model, examples.take(rows[i : i + size])) for i in range(0, len(rows), size)])


def _leads(model: "LinearModel", examples: Dataset) -> NDArray[Any]:
    S = model.decision_function(examples.X)
    if S.ndim == 1:
        return np.abs(S)
    two = np.partition(S, -2, axis=1)[:, -2:]
    leads: NDArray[Any] = two[:, 1] - two[:, 0]
    return leads


def _names(examples: Dataset, rows: NDArray[np.intp]) -> list[str]:
    return [examples.row_name(row) for row in rows[:_ROWS]]

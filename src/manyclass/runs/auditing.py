"""audit: what is wrong with labeled data, in a folder of tables; the data itself is never changed."""

import csv
import io
import os
import platform
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from manyclass._core.checks import check_one_of
from manyclass._core.files import check_new_folder, expand_home, write_new_folder
from manyclass._core.text import pluralize
from manyclass._core.typing import Notify, ProgressFactory
from manyclass.audit.class_structure import class_pairs, class_splits
from manyclass.audit.cosine_join import TooManyPairsError
from manyclass.audit.mislabeled import LabelErrors, label_errors
from manyclass.audit.near_duplicates import THRESHOLD, Duplicates, check_threshold, duplicates
from manyclass.audit.outlying import outliers
from manyclass.datasets.dataset import ALL, Dataset
from manyclass.runs.provenance import pictures_of
from manyclass.runs.records import AUDIT, AUDIT_FILE, sealed_record
from manyclass.runs.run_record import describe_data, machine, peak_bytes
from manyclass.runs.sources import labeled_subset, passing_warnings, read_source

LABELS, DUPLICATES, OUTLIERS, CLASSES = CHECKS = ("labels", "duplicates", "outliers", "classes")

LEAST, LIKELY = 0.05, 0.5  # the probability from which on a label is in the table, and is counted as likely wrong

_KEPT = 500  # entries of each table that the record has, for a page; the tables have all

_EXAMPLES = 8  # rows of a kind

_TABLES: dict[str, tuple[str, ...]] = {
    "label_errors": ("row", "name", "given", "proposed", "probability", "score"),
    "duplicates": (
        "row", "name", "class", "part", "other", "other_name", "other_class", "other_part", "similarity", "group",
    ),
    "outliers": ("row", "name", "class", "distance", "percentile"),
    "classes": ("kind", "class", "other", "count", "rows", "low", "high", "p_value"),
}  # fmt: skip

_OF_CLASSES = ("class_pairs", "class_splits")

_LISTS = ("label_errors", "duplicates", "outliers", *_OF_CLASSES)


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Parameters
    ----------
    path : Path or None
        The folder that holds the tables and the record; None if there is none.
    record : dict
        `counts` of what was found, and the first entries of every table: `label_errors`, `duplicates`, `outliers`,
        `class_pairs`, `class_splits`.
    """

    path: Path | None
    record: dict[str, Any]


def audit(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    labels: str | os.PathLike[str] | None = None,
    subset: str | None = None,
    checks: Sequence[str] = CHECKS,
    threshold: float = THRESHOLD,
    notify: Notify | None = None,
    warn: Notify | None = None,
    progress: ProgressFactory | None = None,
) -> Audit:
    """Look for wrong labels, near-duplicates, outliers, and classes that should be one or two.

    Parameters
    ----------
    data : path-like
        Features, with labels for all but duplicates and outliers: whatever `read_features` reads.
    out : path-like, default=None
        The folder to write, which must not be there; None for none.
    labels : path-like, default=None
        File of one label per row, in place of those found with the features.
    subset : str, default=None
        Rows of this value of the split; None for all, so that pairs of rows of two parts are found, too.
    checks : sequence of {"labels", "duplicates", "outliers", "classes"}, default=all of them
        What to look for.
    threshold : float, default=0.95
        The least cosine of near-duplicates.
    notify : callable, default=None
        Called with a sentence on what is being done.
    warn : callable, default=None
        Called with a sentence on what is left out; None for Python's warnings.
    progress : callable, default=None
        Called as progress("judging labels", "rows") for a context manager that gives a function of (done, total).

    Returns
    -------
    Audit
        The record, and where the folder is.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import manyclass as mc
    >>> X = mc.datasets.low_rank_classes(200, d=16, n_classes=5)
    >>> y = X.y.copy()
    >>> y[3] = (y[3] + 1) % 5
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=X.rows(slice(None)), y=y)
    ...     found = mc.runs.audit(Path(folder) / "x.npz", Path(folder) / "audit")
    ...     sorted(path.name for path in found.path.iterdir())[:3], found.record["label_errors"][0]["row"]
    (['audit.json', 'classes.csv', 'duplicates.csv'], 3)
    """
    source, target = expand_home(data), None if out is None else expand_home(out)
    for check in checks:
        check_one_of(check, "checks", CHECKS)
    check_threshold(threshold)
    if target is not None:
        check_new_folder(target)
    began, started = datetime.now(UTC), time.perf_counter()
    read = read_source(source, None if labels is None else os.fspath(labels), warn)
    rows, labeled = read.subset(subset or ALL), _labeled(read, subset or ALL)
    if labeled is None and not {DUPLICATES, OUTLIERS} & set(checks):
        raise ValueError(f"{source} must have labels of two classes or more to look for {' and '.join(checks)}")
    if notify is not None:
        notify(f"auditing {len(rows):,} rows of {source}")
    with passing_warnings(warn):
        tables, about = _look(rows, labeled, checks, threshold, warn or warnings.warn, progress)
    record = {
        "data": describe_data("audit", rows),
        "settings": {"checks": list(checks), "threshold": threshold, "part": subset, "labels": labels and str(labels)},
        "versions": _versions(),
        "machine": machine(),
        "started": began.isoformat(timespec="seconds"),
        "seconds": time.perf_counter() - started,
        "peak_bytes": peak_bytes(),
        **about,
        **{name: tables.get(name, [])[:_KEPT] for name in _LISTS},
        "pictures": pictures_of(source),
    }
    whole, content = sealed_record(AUDIT, record, f"the record of {AUDIT_FILE}")
    if target is not None:
        both = [tables.pop(name) for name in _OF_CLASSES if name in tables]
        tables |= {"classes": [_class_line(one) for lines in both for one in lines]} if both else {}
        files = {f"{name}.csv": _csv(_TABLES[name], lines) for name, lines in tables.items()}
        write_new_folder(target, {**files, AUDIT_FILE: content})
    return Audit(target, whole)


def _versions() -> dict[str, str]:
    from manyclass import __version__

    return {"manyclass": __version__, "numpy": np.__version__, "python": platform.python_version()}


def _labeled(dataset: Dataset, subset: str) -> Dataset | None:
    """The rows of a subset that have a label; None where these are not of two classes."""
    if dataset.y is None:
        return None
    try:
        labeled = labeled_subset(dataset, subset, (), lambda message: None)
    except ValueError:  # no row has one
        return None
    return labeled if len(np.unique(np.asarray(labeled.label_names()))) > 1 else None


def _look(
    rows: Dataset,
    labeled: Dataset | None,
    checks: Sequence[str],
    threshold: float,
    warn: Notify,
    progress: ProgressFactory | None,
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    """The tables, and what the record says beside them."""
    tables: dict[str, list[dict[str, Any]]] = {}
    notes: list[str] = []
    counts: dict[str, int] = {}
    judged, errors = labeled or rows, None
    y = None if labeled is None else labeled.label_names()
    if y is None and {LABELS, CLASSES} & set(checks):
        why = "there are no labels" if rows.y is None else "labels are not of two classes"
        notes.append(f"{why}, so that only duplicates and outliers were looked for")
    if len(judged) < len(rows):
        notes.append(f"{pluralize(len(rows) - len(judged), 'row')} without a label took part in duplicates alone")
    if y is not None and {LABELS, CLASSES} & set(checks):
        errors = label_errors(judged.X, y, progress=progress)
    if errors is not None and LABELS in checks:
        tables["label_errors"] = _label_errors(judged, errors)
        counts["labels"] = len(judged)
        counts["label_errors"] = int(np.count_nonzero(errors.probability >= LIKELY))
    if DUPLICATES in checks:
        try:
            found = duplicates(rows.X, threshold=threshold, progress=progress)
            tables["duplicates"] = _duplicates(rows, found)
            counts["leaks"] = sum(one["part"] != one["other_part"] for one in tables["duplicates"])
        except TooManyPairsError as error:
            notes.append(f"duplicates were left out: {error}")
    if OUTLIERS in checks:
        tables["outliers"] = _outliers(judged, y, progress)
    if errors is not None and CLASSES in checks:
        tables["class_pairs"] = [_pair(pair) for pair in class_pairs(judged.X, y, errors=errors)]
        tables["class_splits"] = [_split(judged, split) for split in class_splits(judged.X, y)]
    for note in notes:
        warn(note)
    known = {} if errors is None else {"noise": errors.noise, "expected_errors": errors.expected}
    return tables, {"counts": {name: len(lines) for name, lines in tables.items()} | counts, "notes": notes, **known}


def _number(rows: Dataset, row: int) -> int:
    """The number of a row in what it was taken from."""
    return int(row if rows.rows is None else rows.rows[row])


def _label_errors(rows: Dataset, errors: LabelErrors) -> list[dict[str, Any]]:
    return [
        {
            "row": _number(rows, row),
            "name": rows.row_name(row),
            "given": str(errors.given[row]),
            "proposed": str(errors.proposed[row]),
            "probability": round(float(errors.probability[row]), 6),
            "score": round(float(errors.score[row]), 6),
        }
        for row in errors.ranked(LEAST).tolist()
    ]


def _duplicates(rows: Dataset, found: Duplicates) -> list[dict[str, Any]]:
    group = {int(row): number for number, members in enumerate(found.groups(), 1) for row in members}
    lines = []
    for (row, other), cosine in zip(found.pairs.tolist(), found.similarities.tolist(), strict=True):
        mine, theirs = _described(rows, row), {f"other_{key}": value for key, value in _described(rows, other).items()}
        pair = {"row": _number(rows, row), **mine, "other": _number(rows, other), **theirs}
        lines.append({**pair, "similarity": round(cosine, 6), "group": group[row]})
    return lines


def _described(rows: Dataset, row: int) -> dict[str, Any]:
    y = rows.label_names()
    return {
        "name": rows.row_name(row),
        "class": None if y is None else str(y[row]),
        "part": None if rows.split is None else str(rows.split[row]),
    }


def _outliers(rows: Dataset, y: Any, progress: ProgressFactory | None) -> list[dict[str, Any]]:
    found = outliers(rows.X, y, progress=progress)
    return [
        {
            "row": _number(rows, row),
            "name": rows.row_name(row),
            "class": None if y is None else str(y[row]),
            "distance": round(float(found.distance[row]), 6),
            "percentile": round(float(found.percentile[row]), 4),
        }
        for row in found.ranked().tolist()
    ]


def _pair(pair: Any) -> dict[str, Any]:
    return {
        **{name: getattr(pair, name) for name in ("confused", "rows", "low", "high", "p_value", "same")},
        "first": str(pair.first),
        "second": str(pair.second),
    }


def _split(rows: Dataset, split: Any) -> dict[str, Any]:
    return {
        "class": str(split.label),
        "smaller": len(split.rows),
        "rows": split.size,
        "explained": split.explained,
        "p_value": split.p_value,
        "examples": [rows.row_name(row) for row in split.rows[:_EXAMPLES].tolist()],
    }


def _class_line(one: dict[str, Any]) -> dict[str, Any]:
    """A line of the table of classes, whichever of the two it is of."""
    if "first" in one:
        kind = "one, cannot be told apart" if one["same"] else "one, taken for one another"
        known = {"class": one["first"], "other": one["second"], "count": one["confused"]}
        return {"kind": kind, **known, **{name: one[name] for name in ("rows", "low", "high", "p_value")}}
    known = {"class": one["class"], "count": one["smaller"], "rows": one["rows"], "p_value": one["p_value"]}
    return {"kind": "two", "other": None, "low": None, "high": None, **known}


def _csv(columns: Sequence[str], lines: Iterable[dict[str, Any]]) -> bytes:
    """A table with a head; what is not known is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([["" if line[name] is None else line[name] for name in columns] for line in lines])
    return text.getvalue().encode("utf-8", "surrogatepass")

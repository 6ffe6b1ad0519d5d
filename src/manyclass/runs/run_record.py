"""The record of a run: with what it was made, on what data, and what came of it; and the same in a few lines."""

import math
import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manyclass._core.reading import open_file
from manyclass._core.text import format_bytes, format_seconds

if TYPE_CHECKING:
    from manyclass._core.shards import Shard
    from manyclass.datasets.dataset import Dataset
    from manyclass.runs.recipe import Recipe

# Classes or columns, of which the fewer count, up to which the singular values of W are worth their time: seconds at
# this size, and eight times that at twice the size.
_MOST_SQUARE = 2048

# Rows of the training data that are predicted: their accuracy is known to 1.4 points or better, for the time of less
# than one epoch of a larger set.
_MOST_SEEN = 5000


def begin_record(
    recipe: "Recipe",
    data: Iterable[tuple[str, "Dataset"]],
    given: dict[str, Any],
    arguments: Sequence[str],
    shard: "Shard | None" = None,
) -> dict[str, Any]:
    """What is known of a run, or of a part of its classes, before it begins; datasets have roles such as "train"."""
    described = [describe_data(role, dataset) for role, dataset in data]
    part = {} if shard is None else {"shard": _shard_record(shard, recipe, described, given)}
    return {
        **part,
        "command": "train",
        "arguments": list(arguments),
        "settings": {**recipe.record, **given},
        "seed": recipe.seed,
        "data": described,
        **here_and_now(),
    }


def here_and_now() -> dict[str, Any]:
    """With what a run is made, and when: versions, the machine, threads."""
    from manyclass import __version__
    from manyclass._core.parallel import get_threads

    return {
        "versions": {"manyclass": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "machine": machine(),
        "threads": get_threads(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _shard_record(
    shard: "Shard", recipe: "Recipe", described: list[dict[str, Any]], given: dict[str, Any]
) -> dict[str, Any]:
    """Which classes a part has, and what all parts must have in common."""
    from manyclass._core.shards import ShardRecord, library_versions
    from manyclass.solvers.sgd.linear_weights import PANEL

    whole = {
        "settings": {name: value for name, value in {**recipe.record, **given}.items() if name != "classes"},
        "seed": recipe.seed,
        "data": [(one["part"], one["fingerprint"]) for one in described],
        "versions": library_versions(()),
    }
    k = described[0]["classes"]
    return ShardRecord.of(shard, shard.span(k, PANEL), k, whole).json()


def finish_record(
    record: dict[str, Any],
    model: Any,
    outcome: dict[str, Any],
    examples: "Dataset | None",
    n_bytes: int,
    encoder: Path | None,
    seconds: float,
) -> dict[str, Any]:
    """The record of a run that is over; `outcome` has the history of the fit, all that was tried, and the grid.

    Without the examples, it is not known how many of them are right.
    """
    is_part = "shard" in record  # of the classes, which is no classifier yet
    return {
        **record,
        "seconds": seconds,
        "peak_bytes": peak_bytes(),
        "model": {**describe_fit(model), "bytes": n_bytes},
        **replace_nonfinite(outcome),
        "encoder": None if encoder is None else str(encoder),
        **({} if is_part or examples is None else {"training": training_record(model, examples)}),
        **({} if is_part else latent_record(model)),
    }


def describe_data(role: str, dataset: "Dataset") -> dict[str, Any]:
    """What a record says of rows in some role: "train", "gallery", ..."""
    from manyclass.datasets.dataset import count_classes

    y = dataset.label_names()
    return {
        "role": role,
        "path": str(dataset.path),
        "part": dataset.subset_name,
        "rows": len(dataset),
        "columns": int(dataset.X.shape[1]),
        "classes": None if y is None else _count_labels(dataset) if dataset.separator else count_classes(y),
        "fingerprint": dataset.fingerprint(),
        "bytes": int(dataset.X.nbytes),
    }


def _count_labels(dataset: "Dataset") -> int:
    return len({label for labels in dataset.label_lists() for label in labels})


def training_record(model: Any, examples: "Dataset") -> dict[str, Any]:
    """How many of the rows that made a model, or of 5,000 of them, it gets right; and how many each class has.

    Of rows with several labels, all of them and no others must be found.
    """
    from manyclass.data.dense import DenseMatrix
    from manyclass.data.matrix import spans

    n, lists = len(examples), examples.label_lists() if examples.separator else None
    y = np.asarray(examples.label_names()) if lists is None else np.array([label for row in lists for label in row])
    looked_at = np.sort(np.random.default_rng(0).permutation(n)[:_MOST_SEEN])
    parts = spans(len(looked_at), max(1, (1 << 22) // examples.X.shape[1]))
    right = np.zeros(0, np.bool_)
    with suppress(ValueError):  # of rows whose scores overflow, which must not cost the fit
        found = [model.predict(DenseMatrix(examples.X.rows(looked_at[at]))) for at in parts]
        if lists is None:
            right = np.concatenate(found) == y[looked_at]
        else:
            predicted = [labels for part in found for labels in part]
            given = (lists[row] for row in looked_at)
            right = np.array([set(a) == set(b) for a, b in zip(predicted, given, strict=True)], np.bool_)
    labels, counts = np.unique(y, return_counts=True)
    per_class = [{"class": str(label), "rows": rows} for label, rows in zip(labels, counts.tolist(), strict=True)]
    return {"rows": len(right), "right": int(np.count_nonzero(right)), "per_class": per_class}


_SETTINGS = ("trace", "ridge", "regularization", "bits")


def describe_fit(model: Any) -> dict[str, Any]:
    """What there is to say of a classifier in a few words and numbers."""
    found = ("step_", "beta_", "regularization_", "center_scale_", "n_epochs_", "n_iter_", "status_", "gap_", "rank_")
    about: dict[str, Any] = replace_nonfinite(
        {
            "estimator": type(model).__name__,
            "objective": _objective(model),
            "loss": _loss(model),
            "classes": len(model.classes_),
            "columns": int(model.n_features_in_),
            **{name: getattr(model, name) for name in _SETTINGS if hasattr(model, name)},
            **{name.strip("_"): getattr(model, name) for name in found if hasattr(model, name)},
            **({"prior": "uniform" if np.ptp(model.prior_) == 0 else "given"} if hasattr(model, "prior_") else {}),
        }
    )
    return about


def _objective(model: Any) -> str:
    """The one by which it was trained, where there was a choice."""
    return str(getattr(model, "trained_", [getattr(model, "objective", "trace")])[0])


def _loss(model: Any) -> str | None:
    """By its name, of objectives that have a choice of them."""
    loss = getattr(model, "trained_", (None, getattr(model, "loss", None)))[1]
    return loss if isinstance(loss, str) and _objective(model) in ("ovr", "trace") else None


def machine() -> dict[str, Any]:
    """The processor, its cores, the memory, and the instruction set that is used."""
    import manyclass._native as native

    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": pages if pages > 0 else None,
        "level": native.level(),
    }


def _processor() -> str:
    lines = _lines("/proc/cpuinfo")
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, None) or platform.processor() or platform.machine()


def peak_bytes() -> int | None:
    """The most memory that this process has had, if the system tells."""
    for line in _lines("/proc/self/status"):
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return None


def _lines(path: str) -> list[str]:
    try:
        with open_file(path) as file:
            return file.read(1 << 20).decode(errors="replace").splitlines()
    except OSError:
        return []


def latent_record(model: Any) -> dict[str, Any]:
    """The spectrum of W, its rank, and the classes in its two leading latent directions; nothing where W is large."""
    names = [str(label) for label in model.classes_.tolist()]
    if hasattr(model, "factors_"):
        _, s, V = model.factors_
    elif min(model.coef_.shape) <= _MOST_SQUARE:
        s, V = _left_factors(model.coef_)
    else:
        return {"spectrum": None, "rank": None, "embedding": None}
    places = np.zeros((len(V), 2))
    places[:, : min(2, len(s))] = (V * np.sqrt(s))[:, :2]
    x, y = places.T.tolist()
    return {"spectrum": s.tolist(), "rank": len(s), "embedding": {"classes": names, "x": x, "y": y}}


def _left_factors(coef: Any) -> tuple[Any, Any]:
    """Singular values above rounding, and their singular vectors on the side of the classes."""
    from manyclass._core.algebra.singular import column_signs, rank_above_rounding
    from manyclass._core.parallel import one_blas_thread

    with one_blas_thread():
        V, s, _ = np.linalg.svd(coef.astype(np.float64), full_matrices=False)
    r = rank_above_rounding(s, coef.dtype)
    return s[:r], (V * column_signs(V))[:, :r]


def replace_nonfinite(value: Any) -> Any:
    """The same with None for every number that is not finite, and plain numbers for NumPy's.

    >>> replace_nonfinite({"gap": float("inf"), "steps": [1, 2.5]})
    {'gap': None, 'steps': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {key: replace_nonfinite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [replace_nonfinite(entry) for entry in value]
    plain = value.item() if hasattr(value, "item") else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


RUN_FORMAT = "manyclass run"


def run_summary(record: dict[str, Any]) -> dict[str, Any]:
    """What a command prints of a run, done or begun, as JSON: the record without its long lists, and the accuracy."""
    train = record["data"][0] if record["data"] else dict.fromkeys(("path", "part", "rows"))
    history, grid = record.get("history") or [], record.get("grid") or []
    changes = record.get("settings", {}).get("changes")
    judged = [one["accuracy"] for one in (*history, *grid) if one.get("accuracy") is not None and not changes]
    return {
        "format": RUN_FORMAT,
        "status": record["status"],
        "data": train["path"],
        "part": train["part"],
        "shard": record.get("shard"),
        "changes": changes,
        "rows": train["rows"],
        "model": record.get("model"),
        "validation_accuracy": max(judged, default=None),
        "tuning": record.get("tuning"),
        "pairs": len(grid) or None,
        "seed": record["seed"],
        "encoder": record.get("encoder"),
        "seconds": record.get("seconds"),
        "peak_bytes": record.get("peak_bytes"),
    }


def run_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for people."""
    model = summary["model"] or {}
    accuracy, tried = _accuracy(summary["validation_accuracy"]), _tried(summary)
    rows = [
        ("status", summary["status"]),
        ("data", _data_words(summary)),
        *model_rows(model),
        ("classes", _classes_words(summary["shard"])),
        ("changed", "; ".join(map(str, summary["changes"] or []))),
        ("validation accuracy", accuracy),
        ("tried", tried),
        ("seed", str(summary["seed"])),
        ("encoder", summary["encoder"] or ""),
        ("time", format_seconds(summary["seconds"]) if summary["seconds"] else ""),
        ("memory", format_bytes(summary["peak_bytes"]) if summary["peak_bytes"] else ""),
    ]
    return list(filter(itemgetter(1), rows))


def _classes_words(shard: dict[str, Any] | None) -> str:
    """Of a part, how many of all classes it has, and which part it is."""
    if not shard:
        return ""
    return f"{shard['stop'] - shard['first']:,} of {shard['total']:,}, part {shard['number']}/{shard['count']}"


def _data_words(summary: dict[str, Any]) -> str:
    return "" if summary["rows"] is None else f"{summary['rows']:,} rows of {summary['data']}, part {summary['part']}"


def model_rows(model: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is to say of a classifier."""
    if not model:
        return []
    facts = [f"{name.replace('_', ' ')} {_number(model[name])}" for name in _FACTS if model.get(name) is not None]
    what = " ".join(filter(None, (model["estimator"], model["objective"], model["loss"])))
    return [
        ("model", f"{what}, {model['classes']:,} classes of {model['columns']:,} columns"),
        ("settings", ", ".join(facts)),
        ("size", format_bytes(model["bytes"]) if model.get("bytes") else ""),
    ]


_FACTS = (
    "step", "beta", "regularization", "center_scale", "n_epochs", "trace", "ridge", "rank", "gap", "status", "prior"
)  # fmt: skip


def _number(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _accuracy(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}, mean over classes"


def _tried(summary: dict[str, Any]) -> str:
    if summary["pairs"]:
        return f"{summary['pairs']} pairs of trace and ridge"
    tried = summary["tuning"] or []
    names = dict.fromkeys(one["name"] for one in tried)
    return ", ".join(f"{sum(one['name'] == name for one in tried)} values of {name}" for name in names)

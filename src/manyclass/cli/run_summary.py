"""A run in a few lines."""

from typing import Any

from manyclass.cli.output import seconds, size

RUN_FORMAT = "manyclass run"


def run_summary(record: dict[str, Any]) -> dict[str, Any]:
    """What a command prints of a run as JSON: the record without its long lists, and the accuracies it saw."""
    train = record["data"][0]
    judged = [one["accuracy"] for one in record["history"] or [] if one.get("accuracy") is not None]
    judged += [one["accuracy"] for one in record["grid"] or []]
    return {
        "format": RUN_FORMAT,
        "status": record["status"],
        "data": train["path"],
        "part": train["part"],
        "rows": train["rows"],
        "model": record["model"],
        "validation_accuracy": max(judged, default=None),
        "tuning": record["tuning"],
        "pairs": len(record["grid"] or []) or None,
        "seed": record["seed"],
        "encoder": record.get("encoder"),
        "seconds": record["seconds"],
        "peak_bytes": record["peak_bytes"],
    }


def run_rows(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for people."""
    model = summary["model"] or {}
    rows = [
        ("status", summary["status"]),
        ("data", f"{summary['rows']:,} rows of {summary['data']}, part {summary['part']}"),
        *model_rows(model),
        ("validation accuracy", _share(summary["validation_accuracy"])),
        ("tried", _tried(summary)),
        ("seed", str(summary["seed"])),
        ("encoder", summary["encoder"] or ""),
        ("time", seconds(summary["seconds"]) if summary["seconds"] else ""),
        ("memory", size(summary["peak_bytes"]) if summary["peak_bytes"] else ""),
    ]
    return [(name, words) for name, words in rows if words]


def model_rows(model: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is to say of a classifier."""
    if not model:
        return []
    facts = [f"{name.replace('_', ' ')} {_number(model[name])}" for name in _FACTS if model.get(name) is not None]
    what = " ".join(filter(None, (model["estimator"], model["objective"], model["loss"])))
    return [
        ("model", f"{what}, {model['classes']:,} classes of {model['columns']:,} columns"),
        ("settings", ", ".join(facts)),
        ("size", size(model["bytes"]) if model.get("bytes") else ""),
    ]


_FACTS = ("step", "beta", "regularization", "n_epochs", "trace", "ridge", "rank", "gap", "status")


def _number(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}, mean over classes"


def _tried(summary: dict[str, Any]) -> str:
    if summary["pairs"]:
        return f"{summary['pairs']} pairs of trace and ridge"
    tried = summary["tuning"] or []
    names = dict.fromkeys(one["name"] for one in tried)
    return ", ".join(f"{sum(one['name'] == name for one in tried)} values of {name}" for name in names)

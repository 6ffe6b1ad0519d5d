"""What `manyclass encode` tells people."""

from typing import Any

from manyclass.cli.columns import print_columns
from manyclass.cli.output import print_table, seconds


def print_built(result: dict[str, Any]) -> None:
    """A new gallery, and the methods that were compared for it."""
    print_table(result["path"], _rows(result))
    if result["evaluation"] is not None:
        methods = result["evaluation"]["methods"]
        names = ("method", "mAP", "interval", "to the first", "interval", "numbers", "time")
        print_columns(
            "mean average precision in percent, with intervals of 95 %", names, [_method(method) for method in methods]
        )


def print_changed(result: dict[str, Any]) -> None:
    """A gallery that was added to or removed from."""
    counts = [(key, f"{result[key]:,}") for key in ("added", "removed", "images")]
    print_table(result["path"], [*counts, ("time", seconds(result["seconds"]))])


def _rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    by_pictures = "yes" if result["search_by_pictures"] else "no, as the encoder of its pictures is not known"
    rows = [
        ("images", f"{result['images']:,} of {result['columns']:,} numbers, encoded as {result['codes']:,}"),
        ("method", result["method"] + _settings(result["settings"])),
        ("negatives", result["negatives_from"]),
        ("search by pictures", by_pictures),
        ("time", seconds(result["seconds"])),
    ]
    if result["tuned"]:
        best = max(tried["mAP"] for tried in result["tuned"])
        rows.insert(2, ("tuned", f"{len(result['tuned'])} settings tried, the best has mAP {best:.1%}"))
    if result["evaluation"] is not None:
        kept = f"the gallery is made by the first, {result['method']}" if _several(result) else result["method"]
        rows += [("evaluated", result["evaluation"]["protocol"]), ("kept", kept), ("record", result["record"])]
    return rows


def _several(result: dict[str, Any]) -> bool:
    return len(result["evaluation"]["methods"]) > 1


def _settings(settings: dict[str, Any]) -> str:
    hidden = ("random_state", "n_background")
    shown = {key: value for key, value in settings.items() if key not in hidden and value is not None}
    plain = {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in shown.items()}
    words = ", ".join(f"{key} {value}" for key, value in plain.items())
    return f" ({words})" if words else ""


def _method(method: dict[str, Any]) -> tuple[str, ...]:
    against = method["against"]
    difference = ("", "") if against is None else (f"{100 * against['difference']:+.1f}", _interval(against, "+"))
    mean = (f"{100 * method['map']:.1f}", _interval(method, ""))
    return (method["name"], *mean, *difference, f"{method['columns']:,}", seconds(method["seconds"]))


def _interval(found: dict[str, Any], sign: str) -> str:
    return f"{100 * found['low']:{sign}.1f} to {100 * found['high']:{sign}.1f}"

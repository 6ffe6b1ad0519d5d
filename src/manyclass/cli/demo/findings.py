"""What the demo found, in words that are made from what was measured."""

import math
from typing import Any

from manyclass._core.text import format_bytes, format_number, format_percent, format_points, format_seconds, join_names

_LEVEL = 0.0005  # fractions that are one at a tenth of a point


def findings(result: dict[str, Any]) -> list[str]:
    """A sentence for every comparison of the demo."""
    runs, methods = ({one["name"]: one for one in result[key]} for key in ("runs", "methods"))
    return [
        _compression(result["compression"]),
        _products(result["products"]),
        _leader(result["runs"]),
        _beta(runs["ovr"], runs["ovr-unweighted"]),
        _square(runs["square"], [run for run in result["runs"] if run["name"] != "square"]),
        _trace(runs["trace"], [run for run in result["runs"] if run["name"] != "trace"], result["classes"]),
        *(_search(methods[name], methods["none"]) for name in ("slem", "kernel-slem") if name in methods),
    ]


def _compression(one: dict[str, Any]) -> str:
    found = f"a flipped bit was found ({one['found']})" if one["found"] else "a flipped bit was not found"
    return (
        f"{one['rows']:,} rows of {one['dimensions']} numbers are {one['ratio']:.0f} times smaller as codes, with a "
        f"relative error of {one['relative_error']:.2f} on {one['error_rows']:,} held-out rows; {found}."
    )


def _products(one: dict[str, Any]) -> str:
    ratio = one["numpy"] / one["codes"]
    verdict = f"{ratio:.1f} times faster" if ratio >= 1 else f"{1 / ratio:.1f} times slower"
    taken = f"{format_seconds(one['codes'])} against {format_seconds(one['numpy'])}"
    return f"X @ W with {one['columns']} columns is {verdict} on the codes than by NumPy on decoded rows: {taken}."


def _leader(runs: list[dict[str, Any]]) -> str:
    ranked = sorted(runs, key=lambda run: -run["top_1"])
    first = ranked[0]
    level = [run["name"] for run in ranked[1:] if first["top_1"] - run["top_1"] <= _doubt(first, run)]
    words = f"{first['name']} is right most often, {format_percent(first['top_1'])} of the time"
    if not level:
        return f"{words}, by more than chance explains on {first['rows']:,} pictures."
    return f"{words}; {first['rows']:,} pictures cannot tell it from {join_names(level)}."


def _beta(tuned: dict[str, Any], plain: dict[str, Any]) -> str:
    said = standing(tuned["top_1"] - plain["top_1"], _doubt(tuned, plain))
    words = (
        f"One-vs-rest with beta {format_number(tuned['beta'])}, chosen on validation, is {said} one with all negatives"
    )
    if tuned["beta"] is None:
        words = "One-vs-rest is best with all negatives, by validation"
    return f"{words}{_tried(tuned['tuning'])}."


def _tried(tuning: list[dict[str, Any]]) -> str:
    """What beta is worth on validation, of the values with which the fit did not diverge."""
    tuning = [one for one in tuning if one["accuracy"] is not None]
    if not tuning:
        return ""
    low, high = (choose(tuning, key=lambda one: one["accuracy"]) for choose in (min, max))
    worst, lost = format_number(low["value"]), format_points(high["accuracy"] - low["accuracy"])
    return f"; of {len(tuning)} values, the worst (beta {worst}) loses {lost} on validation"


def _square(square: dict[str, Any], others: list[dict[str, Any]]) -> str:
    best = max(others, key=lambda run: run["top_1"])
    said = standing(square["top_1"] - best["top_1"], _doubt(square, best))
    times = f"{format_seconds(square['seconds'])} against {format_seconds(best['seconds'])}"
    return f"The closed form is {said} the best of the others, {best['name']}, after {times}."


def _trace(trace: dict[str, Any], others: list[dict[str, Any]], n_classes: int) -> str:
    best = max(others, key=lambda run: run["top_1"])
    said = standing(trace["top_1"] - best["top_1"], _doubt(trace, best))
    return (
        f"The trace norm, of rank {trace['rank']} for {n_classes} classes, is {said} the best of the others, "
        f"{best['name']}; its model has {format_bytes(trace['bytes'])}, that one {format_bytes(best['bytes'])}."
    )


def _search(method: dict[str, Any], plain: dict[str, Any]) -> str:
    apart = method["low"] > plain["high"] or method["high"] < plain["low"]
    said = standing(method["map"] - plain["map"], 0.0)
    doubt = "their intervals are apart" if apart else "their intervals overlap"
    return f"In search, {method['name']} is {said} features as they are; {doubt}."


def standing(difference: float, doubt: float) -> str:
    """How one fraction stands to another.

    >>> standing(0.031, 0.01), standing(-0.004, 0.01), standing(0.0, 0.01)
    ('3.1 points ahead of', '0.4 points behind (within chance)', 'level with')
    """
    if abs(difference) < _LEVEL:
        return "level with"
    chance = " (within chance)" if abs(difference) <= doubt else ""
    return f"{format_points(difference)} {'ahead of' if difference > 0 else 'behind'}{chance}"


def _doubt(a: dict[str, Any], b: dict[str, Any]) -> float:
    """Half of the 95 % interval of the difference of fractions, as if they were of different rows: too wide rather."""
    return 1.96 * math.sqrt(sum(run["top_1"] * (1 - run["top_1"]) / run["rows"] for run in (a, b)))

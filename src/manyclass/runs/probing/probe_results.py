"""What a probe found: accuracies with their intervals, differences on the same rows, and verdicts made of these."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.text import format_percent, join_names
from manyclass._core.typing import Labels
from manyclass.evaluation.proportions import mean_class_interval, paired_difference, wilson_interval
from manyclass.runs.probing.probe_methods import TOP, Answer, ProbeMethod

RightRows = NDArray[np.bool_]  # (m,): which rows are


class JudgedMethod(NamedTuple):
    """A method on the rows of one file: the entry of its record, and which rows it has right."""

    entry: dict[str, Any]
    right: RightRows


def judge_answer(method: ProbeMethod, answer: Answer, y: Labels) -> JudgedMethod:
    """The accuracies of what a method said of rows of classes y (m,)."""
    hits = answer.top == y[:, None]
    right = hits[:, 0]
    entry = {
        "name": method.name,
        "title": method.title,
        "top_1": _share(right),
        "top_5": _share(hits[:, :TOP].any(axis=1)),
        "mean_per_class": mean_per_class(right, y),
        "settings": answer.settings,
        "bytes": answer.nbytes,
        "fit_seconds": answer.fit_seconds,
        "predict_seconds": answer.predict_seconds,
    }
    return JudgedMethod(entry, right)


def _share(right: RightRows) -> dict[str, float]:
    low, high = wilson_interval(int(np.count_nonzero(right)), len(right))
    return {"value": float(right.mean()), "low": low, "high": high}


def mean_per_class(right: RightRows, y: Labels) -> dict[str, float]:
    """The mean over classes of the share of their rows that are right, with its interval.

    >>> mean_per_class(np.array([True, False, True]), np.array([3, 3, 5]))["value"]
    0.75
    """
    rows = np.bincount(y)
    hits, rows = np.bincount(y[right], minlength=len(rows))[rows > 0], rows[rows > 0]
    low, high = mean_class_interval(hits, rows)
    return {"value": float((hits / rows).mean()), "low": low, "high": high}


def compare_right(first: RightRows, second: RightRows) -> dict[str, float]:
    """The difference in top-1 of two, on the same rows, with its interval and p-value."""
    found = paired_difference(int(np.sum(first & ~second)), int(np.sum(second & ~first)), len(first))
    return {"difference": found.difference, "low": found.low, "high": found.high, "p": found.p}


def add_differences(judged: Sequence[JudgedMethod]) -> list[dict[str, Any]]:
    """The entries of all methods, each but the best with its difference to that."""
    best = max(judged, key=lambda one: one.entry["top_1"]["value"])  # of equals the first
    entries = []
    for one in judged:
        against = None if one is best else {"name": best.entry["name"], **compare_right(one.right, best.right)}
        entries.append({**one.entry, "against": against})
    return entries


def say_difference(name: str, other: str, found: Mapping[str, float]) -> str:
    """Which of two is better, and by how much, if the interval tells.

    >>> say_difference("A", "B", {"difference": 0.012, "low": 0.004, "high": 0.02})
    'A is better than B by 1.2 points [0.4, 2.0]'
    >>> say_difference("A", "B", {"difference": 0.012, "low": -0.004, "high": 0.028})
    'A and B cannot be told apart: the difference is +1.2 points [-0.4, +2.8]'
    """
    difference, low, high = (100 * found[key] for key in ("difference", "low", "high"))
    if low > 0:
        return f"{name} is better than {other} by {difference:.1f} points [{low:.1f}, {high:.1f}]"
    if high < 0:
        return f"{other} is better than {name} by {-difference:.1f} points [{-high:.1f}, {-low:.1f}]"
    interval = f"{difference:+.1f} points [{low:+.1f}, {high:+.1f}]"
    return f"{name} and {other} cannot be told apart: the difference is {interval}"


def say_best(methods: Sequence[Mapping[str, Any]]) -> str:
    """Which method is best, and which cannot be told from it; of the entries of a record.

    >>> share = {"value": 0.9, "low": 0.8, "high": 0.95}
    >>> say_best([{"title": "class means", "top_1": share, "against": None}])
    'class means: 90.0 % [80.0, 95.0]'
    """
    best = next(one for one in methods if one["against"] is None)
    share = best["top_1"]
    words = f"{best['title']}: {format_percent(share['value'])} [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"
    alike = [one["title"] for one in methods if one["against"] is not None and one["against"]["high"] >= 0]
    return words if not alike else f"{words}; {join_names(alike)} cannot be told from it"


def compare_files(names: Sequence[str], judged: Sequence[Sequence[JudgedMethod]]) -> list[dict[str, Any]]:
    """Every file against the best one: by each method, and by the best method of each, which comes first."""
    tops = [max(one, key=lambda found: found.entry["top_1"]["value"]) for one in judged]
    best = max(range(len(names)), key=lambda i: tops[i].entry["top_1"]["value"])
    compared = []
    for i in (i for i in range(len(names)) if i != best):
        pairs = [("best of each", tops[best].right, tops[i].right)]
        pairs += [(a.entry["title"], a.right, b.right) for a, b in zip(judged[best], judged[i], strict=True)]
        for method, ours, theirs in pairs:
            found = compare_right(ours, theirs)
            verdict = say_difference(names[best], names[i], found)
            compared.append({"method": method, "first": names[best], "second": names[i], **found, "verdict": verdict})
    return compared

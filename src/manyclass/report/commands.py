"""Commands to try with a run: lines for a shell, with the paths, the rows and the split of that run.

What is not there any more is not named: a line is given only if it works from the folder in which the page is made.
"""

import os
import shlex
from pathlib import Path
from typing import Any

from manyclass.runs.provenance import recommended_kind

STOCHASTIC = ("ovr", "multiclass", "ranking", "warp", "softmax")  # objectives that are judged by rows held out

TEST_FRACTION = 0.2  # of every class, as `manyclass learn` keeps

Lines = tuple[str, ...]


def train_again(
    folder: Path, record: dict[str, Any], evaluation: dict[str, Any], name: str, objective: str, *options: str
) -> Lines:
    """Train on the same rows into a folder beside the run, judge it on the same test, and show both; or nothing."""
    data, settings = _training_data(record), record["settings"]
    judged, labels = evaluation["data"]["path"], settings.get("labels")
    if data is None or not all(_is_there(path) for path in (data, judged, labels or ".", evaluation["labels"] or ".")):
        return ()
    run, out = _plain(folder), _free(f"{_plain(folder)}-{name}")
    given = {
        "objective": objective,
        "labels": labels,
        "part": None if settings.get("part") == "train" else settings.get("part"),
        "test-fraction": settings.get("test_fraction"),
        "validation": settings.get("validation") if objective in STOCHASTIC else None,
        "loss": settings.get("loss") if objective == settings.get("objective") == "ovr" else None,
        "seed": record["seed"] or None,
    }
    return (
        _line("train", _plain(data), "-o", out, *_options(given), *options),
        _line("evaluate", out, _plain(judged), *_options({"labels": evaluation["labels"], "part": _part(evaluation)})),
        _line("report", run, out, "-o", _free(f"{out}.html")),
    )


def keep_a_test(folder: Path, record: dict[str, Any]) -> Lines:
    """Train on a part of the same rows into a folder beside the run, and judge it on the others; or nothing.

    Nothing if the data has parts: one of them is the test, whatever was judged.
    """
    data, settings = _training_data(record), record["settings"]
    labels, objective = settings.get("labels"), settings.get("objective")
    if settings.get("part") not in (None, "all") or settings.get("test_fraction") is not None or record.get("shard"):
        return ()
    if data is None or not (_is_there(data) and _is_there(labels or ".")):
        return ()
    out, same = _free(f"{_plain(folder)}-tested"), {"labels": labels}
    given = {"objective": None if objective == "auto" else objective, "test-fraction": TEST_FRACTION}
    return (
        _line("train", _plain(data), "-o", out, *_options({**given, **same, "seed": record["seed"] or None})),
        _line("evaluate", out, _plain(data), *_options(same)),
        _line("report", out, "-o", _free(f"{out}.html")),
    )


def judge_run(folder: Path, record: dict[str, Any]) -> Lines:
    """Judge a run that nobody has judged, if its data has a part for that, or one of which a part is kept; or nothing.

    Nothing if the data is not there any more, or if it is a part of a run.
    """
    data, labels = _training_data(record), record["settings"].get("labels")
    if record["settings"].get("part") in (None, "all") or data is None or record.get("shard"):
        return keep_a_test(folder, record)
    if not (_is_there(data) and _is_there(labels or ".")):
        return ()
    run = _plain(folder)
    return (
        _line("evaluate", run, _plain(data), *_options({"labels": labels})),
        _line("report", run, "-o", _free(f"{run}.html")),
    )


def learn_by_network(folder: Path, evaluation: dict[str, Any]) -> Lines:
    """Turn the same pictures into numbers by the network, and learn from these; or nothing.

    Nothing if there are no pictures, or if a network made the numbers already.
    """
    made = evaluation["features"]
    if made is None or made["kind"] not in ("fisher", "bow", "vlad") or not _is_there(made["source"]):
        return ()
    out = _free(f"{_plain(folder)}-network")
    given = {"kind": "network", "test-fraction": made["test_fraction"], "seed": made["seed"] or None}
    lines = (
        _line("learn", _plain(made["source"]), "-o", out, *_options(given)),
        _line("report", _plain(folder), os.path.join(out, "run"), "-o", _free(f"{out}.html")),
    )
    return lines if recommended_kind() == "network" else ('pip install "manyclass[network]"', *lines)


def swap_parts(folder: Path, record: dict[str, Any], evaluation: dict[str, Any]) -> Lines:
    """Learn from the rows of the test, and judge those that the run learned from; or nothing.

    A classifier learns the wrong labels of its own rows, and only another one tells of them. Nothing if they are no
    parts of one file, or if the test lacks a class.
    """
    data, training, settings = _training_data(record), record["training"] or {"per_class": []}, record["settings"]
    known = {one["class"] for one in training["per_class"]}
    parts = settings.get("part"), _part(evaluation)
    if parts != ("train", "test") or settings.get("test_fraction") is not None or data != evaluation["data"]["path"]:
        return ()
    labels = evaluation["labels"]
    if labels != settings.get("labels") or not known or not known <= {one["class"] for one in evaluation["per_class"]}:
        return ()
    if not (_is_there(data) and _is_there(labels or ".")):
        return ()
    out = _free(f"{_plain(folder)}-swapped")
    train, judge = (_options({"labels": labels, "part": part}) for part in parts[::-1])
    return (
        _line("train", _plain(str(data)), "-o", out, *train),
        _line("evaluate", out, _plain(str(data)), *judge),
        _line("report", out, "-o", _free(f"{out}.html")),
    )


def _training_data(record: dict[str, Any]) -> str | None:
    return next((one["path"] for one in record["data"] if one["role"] == "train"), None)


def _part(evaluation: dict[str, Any]) -> str | None:
    part = evaluation["data"]["part"]
    return part if isinstance(part, str) else None


def _is_there(path: Any) -> bool:
    """Whether a path of a record, which may be a stranger's, can be named and is there."""
    return isinstance(path, str) and path.isprintable() and os.path.exists(path)


def _plain(path: str | Path) -> str:
    """A path that is no option, and has a name to which another can be added."""
    plain = os.path.normpath(path)
    plain = os.path.abspath(plain) if os.path.basename(plain) in ("", ".", "..") else plain
    return os.path.join(".", plain) if plain.startswith("-") else plain


def _free(path: str) -> str:
    """That name, or with a number that makes it one that is not taken."""
    root, suffix = os.path.splitext(path) if path.endswith(".html") else (path, "")
    names = (path if number == 1 else f"{root}-{number}{suffix}" for number in range(1, 1000))
    return next((name for name in names if not os.path.lexists(name)), path)


def _options(given: dict[str, Any]) -> list[str]:
    """What is given; a record of a stranger's may hold anything there."""
    known = {name: value for name, value in given.items() if isinstance(value, str | int | float)}
    return [f"--{name}={value}" for name, value in known.items() if str(value).isprintable()]


def _line(*words: str) -> str:
    return shlex.join(("manyclass", *words))

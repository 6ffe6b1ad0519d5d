"""probe: how good embeddings are, by several classifiers on the same rows; one file, or several side by side."""

import os
import platform
import time
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from manyclass._core.files import check_output, expand_home, make_folder
from manyclass._core.parallel import get_threads
from manyclass._core.text import format_seconds
from manyclass._core.typing import Notify, ProgressFactory, no_progress
from manyclass.runs.probing.few_shot import check_shots, learn_from_shots
from manyclass.runs.probing.probe_data import ProbeData, read_probe_data
from manyclass.runs.probing.probe_methods import ProbeMethod, choose_probe_methods, estimate_seconds
from manyclass.runs.probing.probe_results import JudgedMethod, add_differences, compare_files, judge_answer, say_best
from manyclass.runs.records import PROBE, write_record
from manyclass.runs.run_record import describe_data, machine
from manyclass.runs.sources import passing_warnings

_LONG = 300  # seconds from which on it is said how to shorten a probe

_SAMPLE = 50_000  # rows that a shorter one has


def probe(
    *data: str | os.PathLike[str],
    methods: str | Sequence[str] | None = None,
    labels: str | None = None,
    test_fraction: float | None = None,
    sample: int | None = None,
    shots: str | Sequence[int] | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
    notify: Notify | None = None,
    warn: Notify | None = None,
    progress: ProgressFactory | None = None,
) -> dict[str, Any]:
    """Measure how good embeddings are: learn their classes by several methods, and judge all by the same rows.

    Files with a split are learned from their parts train and val, and judged by test, or by val where there is no test;
    of others a part of every class is held out. Settings are chosen on rows to learn from, never on those that judge.
    Several files must have the same rows in the same order; they are compared row by row.

    Parameters
    ----------
    *data : path-like
        Features with labels: stores, .npy, .npz, parquet, or folders of shards.
    methods : str or sequence of str, default=None
        Some of "means" (nearest class mean), "knn20" (20 neighbors that vote by exp(cosine / 0.07)), "knn" (neighbors,
        their number and metric chosen), "closed" (ridge regression in closed form), "ovr" (one-vs-rest), "linear"
        (softmax with a ridge that is chosen), "softmax" (by stochastic descent) and "trace" (trace norm), or "all";
        None for all but the last two.
    labels : str, default=None
        A CSV or .npy file with one label per row; None for those that are found with the data.
    test_fraction : float, default=None
        How much of every class is held out; None for 0.2. For data without parts.
    sample : int, default=None
        Rows to learn from, and to judge by, at most; drawn, the same part of every class.
    shots : str or sequence of int, default=None
        Numbers of examples per class for a learning curve of class means and the closed form, such as "1,2,5,10".
    seed : int, default=0
        The same seed gives the same numbers.
    out : path-like, default=None
        File for the record, of which `manyclass report` makes a section.
    arguments : sequence of str, default=()
        The command that asks for it, for the record.
    notify : callable, default=None
        Called with a sentence about what is being done.
    warn : callable, default=None
        Called with a sentence about what is left out; None for warnings of Python.
    progress : callable, default=None
        Called as ``with progress("probing", "methods") as report:``, and then ``report(done, total)``.

    Returns
    -------
    dict
        The protocol in words, and ``embeddings``, one for each file, with ``methods``: top_1, top_5 and mean_per_class,
        each with an interval of 95 %, the difference ``against`` the best, the settings that were chosen, seconds, and
        the bytes to keep; ``comparison`` of several files, and the ``verdict``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import manyclass as mc
    >>> X = mc.datasets.low_rank_classes(300, d=16, n_classes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=X.rows(slice(None)), y=X.y)
    ...     found = mc.runs.probe(Path(folder) / "x.npz", methods="means,closed")
    >>> [one["title"] for one in found["embeddings"][0]["methods"]]
    ['class means', 'closed form']
    """
    started, began = time.perf_counter(), datetime.now(UTC).isoformat(timespec="seconds")
    chosen, numbers = choose_probe_methods(methods), check_shots(shots)
    target = None if out is None else expand_home(out)
    if target is not None:
        check_output(target, "leave `out` away and pass `json=True`")
    if not data:
        raise ValueError("probe needs at least one file of embeddings; got none")
    say, tell = notify or _nobody, warn or warnings.warn
    rows = read_probe_data([expand_home(path) for path in data], labels, test_fraction, sample, seed, tell)
    say(rows.protocol)
    _say_time(rows, chosen, say)
    judged, curves = _run(rows, chosen, numbers, warn, progress or no_progress)
    record = {
        **_about(arguments, seed, began),
        "data": [describe_data(part, one) for pair in zip(rows.learned, rows.judged, strict=True)
                 for part, one in zip(("train", "test"), pair, strict=True)],
        "protocol": rows.protocol,
        "rows": len(rows.y),
        "test_rows": len(rows.y_test),
        "classes": len(rows.classes),
        "sampled": rows.sampled,
        "embeddings": [
            {"name": name, "columns": int(one.X.shape[1]), "methods": add_differences(found), "shots": curve}
            for name, one, found, curve in zip(rows.names, rows.learned, judged, curves, strict=True)
        ],
        "comparison": compare_files(rows.names, judged),
        "seconds": time.perf_counter() - started,
    }  # fmt: skip
    record["verdict"] = _verdict(record)
    if target is not None:
        make_folder(target.parent)
        record = write_record(target, PROBE, record)
    return record


def _nobody(message: str) -> None:
    pass


def _about(arguments: Sequence[str], seed: int, began: str) -> dict[str, Any]:
    from manyclass import __version__

    return {
        "arguments": list(arguments),
        "versions": {"manyclass": __version__, "numpy": np.__version__, "python": platform.python_version()},
        "machine": machine(),
        "threads": get_threads(),
        "seed": seed,
        "started": began,
    }


def _say_time(rows: ProbeData, methods: Sequence[ProbeMethod], notify: Notify) -> None:
    seconds = sum(estimate_seconds(methods, rows.task(i)) for i in range(len(rows.names)))
    if seconds >= 5:
        way_out = f"; `sample={_SAMPLE}` takes fewer rows" if seconds > _LONG and len(rows.y) > _SAMPLE else ""
        notify(f"this may take about {format_seconds(seconds)}{way_out}")


def _run(
    rows: ProbeData,
    methods: Sequence[ProbeMethod],
    shots: Sequence[int],
    warn: Notify | None,
    progress: ProgressFactory,
) -> tuple[list[list[JudgedMethod]], list[list[dict[str, Any]]]]:
    """What every method says of every file, and the learning curves."""
    judged: list[list[JudgedMethod]] = []
    curves: list[list[dict[str, Any]]] = []
    for i, name in enumerate(rows.names):
        task = rows.task(i)
        judged.append([])
        with passing_warnings(warn):
            for method in methods:
                with progress(f"{name}: {method.title}", "rows") as report:
                    report(0, len(rows.y_test))
                    answer = method.answer(task)
                    report(len(rows.y_test), len(rows.y_test))
                judged[-1].append(judge_answer(method, answer, rows.y_test))
            with progress(f"{name}: few examples", "draws") as report:
                curves.append(learn_from_shots(task, rows.y_test, shots, report))
    return judged, curves


def _verdict(record: dict[str, Any]) -> str:
    """Which embedding is better, or of one alone which method."""
    if record["comparison"]:
        return "; ".join(one["verdict"] for one in record["comparison"] if one["method"] == "best of each")
    return say_best(record["embeddings"][0]["methods"])

"""Seconds until a classifier of many classes is trained, against other libraries at their best strength.

Every contender runs alone, in a process of its own. The others' strength of regularization is chosen on a fifth of the
rows (machines of 40 classes against all rows, or the rows of at most 200 classes where a library trains all classes
together), and that time is not counted; ours find step and negatives within the time. The ratio compares with the
fastest of ours that is at least as accurate on the test set. Memory is what fit adds to what is held before.

Seconds are those of the clock, or with one thread those of the processor, which for a quiet machine are the same.

A second table tells after how many seconds ours (squared hinge, no validation) are as accurate on the test set as each
of the others: the first of 1, 2, 4, ... epochs for which that holds, so that the number of epochs is chosen by the test
set; a fit by itself, in the first table, takes longer as it must find out when to stop. With step and beta given, as
the others are given their strength, and with the search for them.

The last table is of a few thousand rows, where the search for a step used to be most of a fit: `StochasticClassifier()`
as it is, with ten seeds, and after each of them the others once, at strengths that are given. One thread, and seconds
of the processor.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.peers import DEFAULTS, OURS, PEERS

Arrays = dict[str, np.ndarray]


def generated(n: int, d: int, k: int) -> Arrays:
    """Low-rank classes, n rows to train on and a fifth as many to test."""
    data = mc.datasets.low_rank_classes(n + n // 5, d, k)
    return {"X": data.rows(slice(0, n)), "y": data.y[:n], "X_test": data.rows(slice(n, None)), "y_test": data.y[n:]}


def from_file(path: str) -> Arrays:
    """Features with labels and a split in train and test, as `read_features` finds them; rows of unit length."""
    found = mc.datasets.read_features(path)
    if found.y is None or found.split is None:
        raise ValueError(f"{path} must have labels and a split in train and test; one is missing")
    X = found.X.toarray().astype(np.float32)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    y = np.unique(found.y, return_inverse=True)[1]
    train = np.asarray(found.split) == "train"
    return {"X": X[train], "y": y[train], "X_test": X[~train], "y_test": y[~train]}


def python_with(module: str) -> str | None:
    """An interpreter that has a module: this one, or that of MANYCLASS_PEERS."""
    for python in (sys.executable, os.environ.get("MANYCLASS_PEERS")):
        if python and not subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode:
            return python
    return None


def contend(name: str, folder: str, n_threads: int, limit: float) -> dict[str, Any] | str:
    """What a contender does at its best strength, or why it did nothing."""
    python = python_with(PEERS[name].needs)
    if python is None:
        return "not installed"
    try:
        strength = child(python, 3 * limit, "tune", name, folder, str(n_threads))
        found: dict[str, Any] = child(python, limit, "fit", name, folder, str(n_threads), json.dumps(strength))
    except subprocess.TimeoutExpired:
        return f"> {limit:.0f} s"
    except subprocess.CalledProcessError as error:
        if error.returncode == -signal.SIGXCPU:
            return f"> {limit:.0f} s"
        return "failed: " + (error.stderr.strip().splitlines() or ["no message"])[-1][:80]
    return found


def child(python: str, limit: float, *words: str) -> Any:
    """What `benchmarks.contender` prints in a process of its own."""
    n_threads = words[3]
    limits = {f"{library}_NUM_THREADS": n_threads for library in ("OMP", "OPENBLAS", "MKL")}
    command = [python, "-m", "benchmarks.contender", *words]
    # The limit is in the seconds that are reported: one thread's are those of its processor.
    alone = n_threads == "1"
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | limits,
        timeout=None if alone else limit, preexec_fn=partial(_limit_processor, limit) if alone else None,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def _limit_processor(seconds: float) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))


class Kept:
    """Results in a file of JSON lines, so that a comparison of hours goes on where it ended."""

    def __init__(self, path: str):
        self.path = Path(path) if path else None
        lines = self.path.read_text().splitlines() if self.path and self.path.exists() else []
        self.known = {(one["caption"], one["name"]): one["found"] for one in map(json.loads, lines)}

    def find(self, caption: str, name: str) -> Any:
        return self.known.get((caption, name))

    def add(self, caption: str, name: str, found: Any) -> None:
        if self.path and (caption, name) not in self.known:
            with self.path.open("a") as file:
                file.write(json.dumps({"caption": caption, "name": name, "found": found}) + "\n")


def compare(
    page: Page, caption: str, arrays: Arrays, names: list[str], n_threads: int, limit: float, kept: Kept
) -> None:
    """One table: every contender on the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        for part, array in arrays.items():
            np.save(Path(folder) / f"{part}.npy", array)
        found: dict[str, dict[str, Any] | str] = {}
        earlier = [name for name in names if kept.find(caption, name) is not None]
        for name in names:
            known = kept.find(caption, name)
            found[name] = contend(name, folder, n_threads, limit) if known is None else known
            kept.add(caption, name, found[name])
            print(f"{caption}: {name}: {found[name]}", file=sys.stderr, flush=True)
        reached = child(sys.executable, limit, "epochs", "-", folder, str(n_threads))
    n, d = arrays["X"].shape
    k = int(arrays["y"].max()) + 1
    sizes = f"n {n}, d {d}, k {k}; X {n * d * 4 / 2**20:.0f} MiB, W {k * d * 4 / 2**20:.1f} MiB; {n_threads} threads"
    columns = ["classifier", "strength", "seconds", "test accuracy", "times as long as ours", "memory that fit adds"]
    ours = [one for name in OURS if isinstance(one := found.get(name), dict)]
    rows = [_row(name, found[name], [] if name in OURS else ours) for name in names]
    page.table(f"{caption}: {sizes}", columns, rows)
    if earlier:
        page.about += f"\n\n{caption}: {', '.join(earlier)} were measured by an earlier run of this script, and kept."
    others = {name: one for name, one in found.items() if name not in OURS and isinstance(one, dict)}
    page.table(f"{caption}: seconds to the accuracy of others", _REACHED, _reached(others, reached))


_REACHED = ["classifier", "its accuracy", "its seconds", "ours, given", "epochs", "ratio", "ours, search", "ratio"]


def _reached(others: dict[str, Any], ours: list[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for name, other in others.items():
        enough = [m for m in ours if min(m[way]["accuracy"] for way in ("given", "search")) >= other["accuracy"]]
        row = [name, f"{other['accuracy']:.2%}", f"{other['seconds']:.2f}"]
        if enough:
            given, search = (enough[0][way]["seconds"] for way in ("given", "search"))
            row += [f"{given:.2f}", str(enough[0]["epochs"]), f"{other['seconds'] / given:.1f}"]
            row += [f"{search:.2f}", f"{other['seconds'] / search:.1f}"]
        rows.append(row + ["never"] * (len(_REACHED) - len(row)))
    return rows


def _row(name: str, found: dict[str, Any] | str, ours: list[dict[str, Any]]) -> list[str]:
    if isinstance(found, str):
        return [name, "", found, "", "", ""]
    strength = "" if found["strength"] is None else f"{found['strength']:g}"
    numbers = [f"{found['seconds']:.2f}", f"{found['accuracy']:.2%}", _ratio(found, ours), f"{found['added']:.0f} MiB"]
    return [name, strength, *numbers]


# Whole fits of few rows, at the strengths that are best for Caltech's features.
_GIVEN = {"LogisticRegression": 10.0, "snapml": 1.0}
_WHOLE = ["whole fit", "mean seconds", "least", "mean test accuracy", "least accuracy", "times as long as ours"]


def whole_fits(page: Page, caption: str, arrays: Arrays, limit: float) -> None:
    """One table: ours with every seed, and after each the others once."""
    (ours, peer), fits = next(iter(DEFAULTS.items())), {name: [] for name in (*DEFAULTS, *_GIVEN)}
    with tempfile.TemporaryDirectory() as folder:
        for part, array in arrays.items():
            np.save(Path(folder) / f"{part}.npy", array)
        for seed in peer.strengths:
            for name, strength in ((ours, seed), *_GIVEN.items()):
                python = python_with((PEERS | DEFAULTS)[name].needs)
                if python is not None:
                    fits[name].append(child(python, limit, "fit", name, folder, "1", json.dumps(strength)))
                    print(f"{caption}: {name}: {fits[name][-1]}", file=sys.stderr, flush=True)
    n, d = arrays["X"].shape
    sizes = f"{n} x {d}, {int(arrays['y'].max()) + 1} classes, one thread, {len(peer.strengths)} rounds"
    page.table(f"{caption}: {sizes}", _WHOLE, [_whole(name, found, fits[ours]) for name, found in fits.items()])


def _whole(name: str, found: list[dict[str, Any]], ours: list[dict[str, Any]]) -> list[str]:
    if not found:
        return [name, "not installed", "", "", "", ""]
    seconds, accuracies = ([one[key] for one in found] for key in ("seconds", "accuracy"))
    ratio = "" if found is ours else f"{np.mean(seconds) / np.mean([one['seconds'] for one in ours]):.1f}"
    return [name, f"{np.mean(seconds):.3f}", f"{min(seconds):.3f}", f"{np.mean(accuracies):.2%}",
            f"{min(accuracies):.2%}", ratio]  # fmt: skip


def _ratio(found: dict[str, Any], ours: list[dict[str, Any]]) -> str:
    if not ours:
        return ""
    enough = [one["seconds"] for one in ours if one["accuracy"] >= found["accuracy"]]
    return f"{found['seconds'] / min(enough):.1f}" if enough else "none of ours is as accurate"


def run(
    n: int = 50_000,
    d: int = 1_024,
    k: int = 1_000,
    features: str = os.environ.get("MANYCLASS_FEATURES", ""),
    n_threads: int = 1,
    limit: float = 900,
    only: str = ",".join(PEERS),
    kept: str = "",
) -> Page:
    """Generated classes of any size, and the features of a file if one is named; `kept` is a file of results."""
    page = Page("classification", "Training a classifier of many classes", f"{__doc__}\n{load()}")
    names = only.split(",")
    compare(page, "Generated low-rank classes", generated(n, d, k), names, n_threads, limit, Kept(kept))
    if features:
        compare(page, f"Features of {Path(features).name}", from_file(features), names, n_threads, limit, Kept(kept))
        whole_fits(page, f"As it is, features of {Path(features).name}", from_file(features), limit)
    return page

"""Few rows of very many columns, such as Fisher vectors: seconds of the processor until a classifier is trained.

One thread. Every contender runs in a process of its own, one after the other in every round, and the best round counts;
what is over 1 GiB has one round. Strengths of LinearSVC and of the trace norm (smoothed hinge) are chosen on a fifth of
the rows, before and not counted; one-vs-rest finds its step and negatives within the time. LinearSVC has its defaults
but for that (dual, squared hinge). The ratio is its time divided by ours; memory is what fit adds to what is held
before, in units of X.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.classification import Arrays, child, from_file, generated
from benchmarks.load import load
from benchmarks.page import Page
from manyclass.data.row_space import RowSpaceMatrix

PEER = "LinearSVC"
CONTENDERS = (PEER, "manyclass hinge", "manyclass squared hinge", "manyclass trace norm")
COLUMNS = ["classifier", "strength", "seconds", "test accuracy", f"{PEER} takes so many times as long", "memory"]


def compare(page: Page, caption: str, arrays: Arrays, rounds: int, limit: float) -> None:
    """One table: every contender on the same rows."""
    n, d = arrays["X"].shape
    size = arrays["X"].nbytes / 2**20
    with tempfile.TemporaryDirectory() as folder:
        strengths = _strengths(arrays, folder, limit)
        for part, array in arrays.items():
            np.save(Path(folder) / f"{part}.npy", array)
        arrays.clear()  # the memory is the contenders'
        found: dict[str, Any] = {}
        for _ in range(rounds):
            for name in CONTENDERS:
                one = _fitted(name, folder, limit, strengths[name])
                best = found.setdefault(name, one)
                found[name] = min(best, one, key=lambda found: found["seconds"])
                print(f"{caption}: {name}: {one}", file=sys.stderr, flush=True)
    page.table(f"{caption}: n {n}, d {d}, X {size:.0f} MiB", COLUMNS, [_row(name, found, size) for name in CONTENDERS])


def _strengths(arrays: Arrays, folder: str, limit: float) -> dict[str, float | None]:
    """The best of each, sought by the coordinates of the rows, which have the same optimum and are far fewer."""
    Z = RowSpaceMatrix(mc.DenseMatrix(arrays["X"])).array
    for part, array in {"X": Z, "y": arrays["y"]}.items():
        np.save(Path(folder) / f"{part}.npy", array)
    return {name: child(sys.executable, limit, "tune", name, folder, "1") for name in CONTENDERS}


def _fitted(name: str, folder: str, limit: float, strength: float | None) -> dict[str, Any]:
    try:
        found: dict[str, Any] = child(sys.executable, limit, "fit", name, folder, "1", json.dumps(strength))
    except subprocess.CalledProcessError:
        return {"strength": strength, "seconds": limit, "given_up": True}
    return found


def _row(name: str, found: dict[str, Any], size: float) -> list[str]:
    one, peer = found[name], found[PEER]
    strength = "" if one["strength"] is None else f"{one['strength']:g}"
    if "given_up" in one:
        return [name, strength, f"> {one['seconds']:.0f}", "", "", ""]
    ratio = "" if name == PEER else f"{'> ' if 'given_up' in peer else ''}{peer['seconds'] / one['seconds']:.1f}"
    return [name, strength, f"{one['seconds']:.2f}", f"{one['accuracy']:.1%}", ratio, f"{one['added'] / size:.2f} X"]


def run(
    n: int = 1_500, d: int = 32_768, k: int = 15, features: str = os.environ.get("MANYCLASS_WIDE_FEATURES", ""),
    rounds: int = 2, limit: float = 7200,
) -> Page:  # fmt: skip
    """Generated classes, and the features of files, of which the names are divided by commas."""
    page = Page("wide", "Few rows of many columns", f"{__doc__}\n{load()}")
    compare(page, f"Generated low-rank classes, {k} of them", generated(n, d, k), rounds, limit)
    for path in filter(None, features.split(",")):
        arrays = from_file(path)
        classes, often = len(np.unique(arrays["y"])), rounds if arrays["X"].nbytes < 1 << 30 else 1
        compare(page, f"Features of {Path(path).name}, {classes} classes", arrays, often, limit)
    return page

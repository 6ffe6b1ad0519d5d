"""Closed form and trace norm by actors of a Ray cluster of this machine, each of which holds a part of the rows.

Every run is a process of its own. The seconds of a fit begin when the actors can be asked; the first fit, which sends
the rows and loads libraries, is not counted. A gather is a question to all actors that costs them nothing.
"""

import json
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.load import load
from benchmarks.page import Page
from manyclass._core.digest import sha256_digest
from manyclass.cluster.connection import import_ray
from manyclass.losses.multiclass import Softmax
from manyclass.penalties.norms import TraceNorm
from manyclass.solvers.batch.points import LowRankWeights
from manyclass.solvers.problem import Objective, Problem
from manyclass.solvers.row_blocks import RowBlocks

CLOSED_FORM, TRACE_NORM = (32_768, 2048, 100), (32_768, 512, 1000)

_RANK, _STEPS = 64, 12


def run(closed_form: tuple[int, int, int] = CLOSED_FORM, trace_norm: tuple[int, int, int] = TRACE_NORM) -> Page:
    """Both fits with one actor and with two, of one core each; what travels, and how long a gather takes."""
    page = Page("cluster_rows", "Rows on a cluster", f"{__doc__}\n{load()}")
    measure(page, closed_form, trace_norm)
    return page


def measure(page: Page, closed_form: tuple[int, int, int], trace_norm: tuple[int, int, int]) -> None:
    """The tables."""
    for job, shape in (("closed form", closed_form), ("trace norm", trace_norm)):
        with tempfile.TemporaryDirectory() as name:
            write_rows(Path(name), *shape)
            one, two = (_child(name, job, workers) for workers in (1, 2))
        rows = [
            [str(actors), f"{found['seconds']:.1f} s", f"{one['seconds'] / found['seconds']:.2f}",
             f"{found['sent'] / 1e6:.2f} MB", f"{found['back'] / 1e6:.2f} MB", f"{1e3 * found['gather']:.1f} ms",
             "yes" if found["bits"] == one["bits"] else "no"]
            for actors, found in ((1, one), (2, two))
        ]  # fmt: skip
        columns = [
            "actors of one core",
            "fit",
            "times one",
            "sent in a step",
            "back from an actor",
            "gather",
            "same bits",
        ]
        page.table(f"{job.capitalize()}, {shape[0]} x {shape[1]}, {shape[2]} classes", columns, rows)


def write_rows(folder: Path, n: int, d: int, k: int) -> None:
    """Rows of k classes that share 32 directions."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    X = (rng.standard_normal((k, 32)) @ rng.standard_normal((32, d)) / 6)[y].astype(np.float32)
    X += rng.standard_normal((n, d), np.float32)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)


def fit(folder: str, job: str, workers: int) -> dict[str, Any]:
    """The second of two fits by so many actors of one core, with what travels."""
    X, y = (np.load(Path(folder, f"{name}.npy")) for name in "Xy")
    with _cluster(workers) as offered:
        jobs: dict[str, Callable[..., dict[str, Any]]] = {"closed form": _closed_form, "trace norm": _trace_norm}
        found = jobs[job](X, y)
        with closing(offered.start(RowBlocks, [], [([],) for _ in range(workers)])) as group:
            found["gather"] = float(np.median([_seconds(lambda: group.query("__len__")) for _ in range(100)]))
    return found


def _closed_form(X: Any, y: Any) -> dict[str, Any]:
    d, model = X.shape[1], mc.SquareLossClassifier(n_threads=1)
    model.fit(X, y)
    seconds = _seconds(lambda: model.fit(X, y))
    back = len(pickle.dumps(np.zeros((d, d))))
    return {"seconds": seconds, "bits": sha256_digest([model.coef_]), "sent": 8 * d, "back": back}


def _trace_norm(X: Any, y: Any) -> dict[str, Any]:
    model = mc.TraceNormClassifier(trace=2e-3, max_iter=_STEPS, tolerance=0.0, n_threads=1)
    model._warn = lambda found: None  # type: ignore[method-assign]
    model.fit(X, y)
    seconds = _seconds(lambda: model.fit(X, y))
    d, k = X.shape[1], len(model.classes_)
    point = LowRankWeights(*(np.zeros((size, _RANK), np.float32) for size in (d, k)), np.zeros(k))
    made = Objective(Problem.whole(mc.DenseMatrix(X), y, k), Softmax(), TraceNorm(1.0))
    with closing(made):
        back = len(pickle.dumps(made.sums.factor_gradient(point)))
    return {
        "seconds": seconds, "bits": sha256_digest([model.coef_]), "sent": len(pickle.dumps(point)), "back": back
    }  # fmt: skip


def _seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    """A cluster of this machine for so many actors of one core."""
    ray = import_ray()
    settings = {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    ray.init(address="local", num_cpus=workers, **settings)
    try:
        with mc.cluster.connect("auto", workers=workers) as offered:
            yield offered
    finally:
        ray.shutdown()


def _child(*words: Any) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.cluster_rows", *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(fit(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
    else:
        run()

"""What the steps of all jobs cost one core: `python -m benchmarks.unit_costs all FOLDER` prints them as a line of JSON.

`stochastic FOLDER` prints those of one-vs-rest alone, and `epoch FOLDER FIRST STOP` the seconds of an epoch of some
classes. FOLDER holds what `write_codes` has written. Nothing here knows of a cluster.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from benchmarks.cluster import SETTINGS, STEPS, TRACE_NORM, WIDTH, low_rank_rows, pictures, trace_norm_classifier, wall
from benchmarks.imagenet_shape import read_codes
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.losses.multiclass import Softmax
from manyclass.penalties.norms import TraceNorm
from manyclass.retrieval.search import best_candidates, rank_exactly
from manyclass.solvers.batch.points import LowRankWeights
from manyclass.solvers.problem import Objective, Problem
from manyclass.solvers.sgd.class_ranges import ClassRange
from manyclass.solvers.sgd.linear_weights import PANEL
from manyclass.solvers.sgd.one_vs_rest import OneVsRest
from manyclass.solvers.sgd.sampling import Schedule

_RANK = 64


def unit_costs(folder: Path) -> dict[str, float]:
    """All but the gather, which takes actors."""
    X, *_ = read_codes(folder)
    with mc.threads(1):
        return {
            **stochastic(folder), **_products(X), "softmax": _softmax(), **_trace_norm(), **_search(), **_features()
        }  # fmt: skip


def stochastic(folder: Path) -> dict[str, float]:
    """Two thirds and a sixteenth of the classes tell what a row takes from what its machines take.

    From fewer than two thirds, what one of both took too long, as others used the machine, would be multiplied.
    """
    X, y, *_ = read_codes(folder)
    (n, d), k = X.shape, int(y.max()) + 1
    few, many = (int(k * part) // PANEL * PANEL for part in (1 / 16, 2 / 3))
    whole, judged = Problem.whole(X, y, k), np.flatnonzero(y < few)
    X.rows(slice(0, 2000))  # all is there
    with mc.threads(1):
        taken = [_least([_epoch_and_verdict([whole, whole.part(judged)], classes) for _ in range(2)])
                 for classes in (few, many)]  # fmt: skip
    update, judge = ((taken[1][i] - taken[0][i]) / (many - few) for i in (0, 1))
    row, judged_row = (taken[0][i] - few * slope for i, slope in enumerate((update, judge)))
    visits = (1 + SETTINGS["beta"]) * n * d / k
    size = len(judged) * d
    return {
        "decode": row / (n * d), "update": update / visits, "judged": judged_row / size, "judge": judge / size,
        "copied": taken[1][2] / (many * d),
    }  # fmt: skip


def _epoch_and_verdict(problems: list[Problem], classes: int) -> tuple[float, ...]:
    """Seconds of an epoch of the first classes, of what they then say of the second problem, and to keep them."""
    held = ClassRange(problems, problems[0].d, range(classes), None)
    work = lambda: _pass(held), lambda: held.verdict(1, held.opening(1)), lambda: held.keep(True)
    return tuple(_seconds(one, rounds=1) for one in work)


def _least(rounds: list[tuple[float, ...]]) -> list[float]:
    return [min(one) for one in zip(*rounds, strict=True)]


def _pass(held: ClassRange) -> None:
    held.epoch(0, OneVsRest(MARGIN_LOSSES["hinge"], SETTINGS["beta"]), Schedule(SETTINGS["step"]), 0)


def epoch(folder: Path, first: int, stop: int) -> dict[str, float]:
    """Seconds of the clock that an epoch of some classes takes."""
    X, y, *_ = read_codes(folder)
    X.rows(slice(0, 2000))
    held = ClassRange([Problem.whole(X, y, int(y.max()) + 1)], X.shape[1], range(first, stop), None)
    with mc.threads(1):
        return {"seconds": wall(lambda: _pass(held))}


def _products(codes: mc.QuantizedMatrix) -> dict[str, float]:
    X = codes.row_slice(slice(0, 20_000))
    n, d = X.shape
    V, R = (np.ones((length, _RANK), np.float32) for length in (d, n))
    size = n * d * _RANK
    return {"product": _seconds(lambda: X @ V) / size, "adjoint": _seconds(lambda: X.rmatmat(R)) / size}


def _softmax(n: int = 2048, d: int = 64, k: int = 10_184) -> float:
    """A gradient by two factors, of so few columns that what is left are the classes."""
    X, y = low_rank_rows(n, d, k)
    U, V = (np.full((size, _RANK), 1e-3, np.float32) for size in (d, k))
    made = Objective(Problem.whole(mc.DenseMatrix(X), y, k), Softmax(), TraceNorm(1.0))
    scales = iter(np.linspace(1, 2, 10, dtype=np.float32))
    with closing(made):
        return _seconds(
            lambda: made.sums.factor_gradient(LowRankWeights(U * next(scales), V, np.zeros(k)))
        ) / (n * k)  # fmt: skip


def _trace_norm() -> dict[str, float]:
    """Fits of an eighth and of a quarter of the rows."""
    X, y = low_rank_rows(*TRACE_NORM)
    sizes = len(X) // 8, len(X) // 4
    trace_norm_classifier().fit(X[: sizes[0]], y[: sizes[0]])
    few, many = (_seconds(lambda n=n: trace_norm_classifier().fit(X[:n], y[:n]), rounds=2) / STEPS for n in sizes)
    row = (many - few) / (sizes[1] - sizes[0])
    return {"row": row, "step": max(0.0, few - sizes[0] * row)}


def _search(n: int = 100_000, queries: int = 256) -> dict[str, float]:
    rng = np.random.default_rng(0)
    X, C = (rng.standard_normal((size, WIDTH), dtype=np.float32) for size in (n, queries))
    scored = _seconds(lambda: best_candidates(C, [(0, X, None)], 26)) / (n * WIDTH * queries)
    gallery, places = mc.Gallery(), np.tile(np.arange(26), (queries, 1))
    gallery.add(X[:1000])
    rows = gallery.state().indexes[0].embeddings
    return {"score": scored, "rank": _seconds(lambda: rank_exactly(C, rows, places, 10)) / queries}


def _features() -> dict[str, float]:
    """By the clock, as disks and processes are waited for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths, encoder = pictures(folder, 500)
        mc.write_features(folder / "first.store", paths[:20], encoder)
        few, many = (
            wall(lambda count=count: mc.write_features(folder / f"{count}.store", paths[:count], encoder))
            for count in (100, 500)
        )
        picture = (many - few) / 400
        small, large = (_joining(folder, n) for n in (2000, 16_000))
        joined = (large - small) / 14_000
        return {
            "picture": picture, "task": max(0.0, few - 100 * picture), "joined": joined,
            "join": max(0.0, small - 2000 * joined),
        }  # fmt: skip


class _Same:
    """An encoder to which all pictures are the same."""

    n_features_out_ = 1024

    def encode(self, image: Any) -> Any:
        """The row of any picture."""
        return np.ones(1024, np.float32)


def _joining(folder: Path, n: int) -> float:
    """Seconds to join four parts of n rows together."""
    images = np.zeros((n, 8, 8, 3), np.uint8)
    parts = [folder / f"part{i}of{n}.store" for i in range(1, 5)]
    for i, part in enumerate(parts, 1):
        mc.write_features(part, images, _Same(), shard=f"{i}/4")
    return wall(lambda: mc.runs.join(folder / f"joined{n}.store", parts))


def _seconds(work: Callable[[], Any], rounds: int = 3) -> float:
    """Of the processor, the least of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


if __name__ == "__main__":
    jobs = {"all": unit_costs, "stochastic": stochastic, "epoch": epoch}
    print(json.dumps(jobs[sys.argv[1]](Path(sys.argv[2]), *map(int, sys.argv[3:]))))

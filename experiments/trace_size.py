"""The trace norm at the size of Harchaoui et al. (CVPR 2012), on codes: the published path and ours in the same time."""

import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import manyclass as mc
from benchmarks.contender import forget_peak, peak
from experiments.figures import COLORS, MARKERS, finish, panels
from experiments.results import Results
from experiments.verdicts import Interval, above, over_seeds

SHAPE = (113_000, 4_096, 262)  # "Vehicle": half of its pictures, 16 Gaussians, classes
HELD = 11_300  # rows to choose by
BLOCK = 16  # columns for one byte, as in the paper
RANK, NOISE = 64, 0.03
GRID = (10, 10)  # traces and ridges, as in the paper
LIMIT = 300.0  # seconds for each path
COLUMNS = 128  # of the products that the paper times
PAPER = {"X A": (52.4, 42.3), "X'R": (43.8, 9.2)}  # seconds, 250,000 x 65,536 on 16 cores
PART, REPEATS = 4, 5  # products are timed on a quarter of the rows
SOLVERS = {"published": "R1D as published", "auto": "the default"}


class Rows(NamedTuple):
    """Codes and labels to train on and to choose by, and the seconds to learn codebooks and to encode."""

    train: tuple[Any, Any]
    judge: tuple[Any, Any]
    learning: float
    encoding: float


class Walk(NamedTuple):
    """A path: rows of its table, seconds after each, the part of it that was walked, and memory in MiB."""

    table: list[dict[str, Any]]
    seconds: list[float]
    before: float
    most: float
    status: str


def run(folder: Path | None) -> Results:
    """The page. Needs no data of the folder."""
    n, d, k = SHAPE
    results = Results("trace_size", "The trace norm at the size of the paper")
    results.say(f"""Softmax with a trace norm and a ridge on {n:,} rows of {d:,} numbers in {k} classes, the size of the
        paper's largest set with 16 Gaussians, as codes of {d // BLOCK} bytes a row. That many photographs are not at
        hand: rows are generated, with means of rank {RANK}. Both solvers walk along the paper's path of {GRID[0]}
        traces and {GRID[1]} ridges, from the strongest on, for {LIMIT:g} seconds of one core at most; the accuracy is
        that on {HELD:,} other rows, as codes too.""")
    with threadpool_limits(1), mc.threads(1):
        rows = coded(n, d, k)
        walks = {solver: walk(rows, solver) for solver in SOLVERS}
        _costs(results, rows)
    for solver, found in walks.items():
        _table(results, SOLVERS[solver], found)
    _summary(results, walks)
    _figure(results, walks)
    return results


def coded(n: int, d: int, k: int) -> Rows:
    """Generated rows as codes; nowhere are they all held as numbers."""
    made = mc.datasets.low_rank_classes(n + HELD, d, k, rank=RANK, noise=NOISE)
    started = time.process_time()
    quantizer = mc.ProductQuantizer(BLOCK, random_state=0).fit(made.row_slice(slice(0, n)))
    learned = time.process_time()
    parts = [(quantizer.encode(made.row_slice(at)), made.y[at]) for at in (slice(0, n), slice(n, n + HELD))]
    return Rows(*parts, learned - started, time.process_time() - learned)


def walk(rows: Rows, solver: str, limit: float = LIMIT, grid: tuple[int, int] = GRID) -> Walk:
    """The path, until it ends or the time is up."""
    seconds: list[float] = []
    started = time.process_time()

    def note(_: dict[str, Any]) -> bool:
        seconds.append(time.process_time() - started)
        return seconds[-1] > limit

    path = mc.TraceNormPath(*grid, solver=solver, max_seconds=limit, n_threads=1, callbacks=[note])
    before = forget_peak()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the page says how far each came
        path.fit(*rows.train, validation=rows.judge)
    return Walk(path.table_, seconds, before, peak(), str(path.status_))


def _costs(results: Results, rows: Rows) -> None:
    X, _ = rows.train
    n, d = X.shape
    results.say(f"""To make the rows and to learn codebooks took {rows.learning:.0f} seconds, to make and encode all of
        them {rows.encoding:.0f}. Codes and codebooks take {X.nbytes / 2**20:.0f} MiB; the numbers would take
        {4 * n * d / 2**20:,.0f}.""")
    some = X.row_slice(slice(0, n // PART))
    spent = products(some)
    cells = [[name, *(f"{np.median(each):.2f}" for each in pair)] for name, pair in spent.items()]
    for row, paper in zip(cells, PAPER.values(), strict=True):
        row.extend(f"{one:g}" for one in paper)
    results.table(
        f"Seconds of products with {COLUMNS} columns, {some.shape[0]:,} rows, one core",
        ["product", "full matrix", "codes", "paper, full matrix", "paper, codes"],
        cells,
    )
    faster = {name: over_seeds(np.log(full) - np.log(codes)) for name, (full, codes) in spent.items()}
    results.finding(
        "Section 4.2, time",
        "Products with codes take less time than with the full matrix (on 16 cores 1.2 times, and 4.8 times for X'R).",
        above(list(faster.values())),
        "the full matrix takes, times as long: "
        + "; ".join(f"{name} {_times_as_long(one)}" for name, one in faster.items())
        + f", over {REPEATS} repeats.",
    )


def products(X: Any) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds of X A and of X'R, each with the decoded rows and with the codes, taken in turns."""
    n, d = X.shape
    rng = np.random.default_rng(0)
    A, R = (rng.standard_normal((size, COLUMNS), np.float32) for size in (d, n))
    decoded = mc.DenseMatrix(X.toarray())
    ways = {
        name: ([partial(getattr(one, method), B) for one in (decoded, X)], ([], []))
        for name, method, B in (("X A", "matmat", A), ("X'R", "rmatmat", R))
    }
    for _ in range(REPEATS):
        for calls, spent in ways.values():
            for call, seconds in zip(calls, spent, strict=True):
                started = time.process_time()
                call()
                seconds.append(time.process_time() - started)
    return {name: spent for name, (_, spent) in ways.items()}


def _times_as_long(one: Interval) -> str:
    mean, low, high = np.exp(one)
    return f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def _table(results: Results, name: str, found: Walk) -> None:
    count = len(found.table)
    at = sorted({int(i) for i in np.unique(np.round(np.geomspace(1, count, 8)))})
    rows = []
    for i in at:
        row = found.table[i - 1]
        gap = f"{100 * row['gap'] / row['objective']:.2g} %" if np.isfinite(row["gap"]) else "not computed"
        rows.append(
            [
                str(i),
                f"{row['trace']:.2g}",
                f"{row['ridge']:.2g}",
                str(row["rank"]),
                f"{row['objective']:.4f}",
                gap,
                f"{100 * row['accuracy']:.1f}",
                f"{found.seconds[i - 1]:.0f}",
                row["status"],
            ]
        )
    columns = ["pair", "trace", "ridge", "rank", "objective", "gap", "accuracy, %", "seconds so far", "ended"]
    results.table(f"{name}: {count} of {GRID[0] * GRID[1]} pairs", columns, rows)


def _summary(results: Results, walks: dict[str, Walk]) -> None:
    published, ours = walks["published"], walks["auto"]
    both = list(zip(published.table, ours.table, strict=False))[:-1]
    above = [100 * (a["objective"] / b["objective"] - 1) for a, b in both]
    memory = "; ".join(f"{SOLVERS[s]} {w.most:,.0f} MiB, of which {w.before:,.0f} before" for s, w in walks.items())
    results.say(f"""In {LIMIT:g} seconds the published path gets through {_pairs(published)}, and the default through
        {_pairs(ours)}. The best accuracy on the rows held out is {_best(published)} % by the published path and
        {_best(ours)} % by the default.""")
    if above:
        results.say(f"""On the pairs that both solved the objective of R1D is {min(above):.2g} to {max(above):.2g} %
            above that of the default.""")
    results.say(f"Memory of the process at its peak: {memory}.")


def _pairs(found: Walk) -> str:
    return f"{len(found.table)} of {GRID[0] * GRID[1]} pairs ({found.status}, {found.seconds[-1]:.0f} s)"


def _best(found: Walk) -> str:
    return f"{100 * max(row['accuracy'] for row in found.table):.1f}"


def _figure(results: Results, walks: dict[str, Walk]) -> None:
    drawn, charts = panels(["best accuracy so far", "rank"], "seconds of one core", "", logarithmic=False)
    for position, (solver, found) in enumerate(walks.items()):
        style = {"color": COLORS[position], "marker": MARKERS[position], "markersize": 3, "label": SOLVERS[solver]}
        right = np.maximum.accumulate([100 * row["accuracy"] for row in found.table])
        charts[0].plot(found.seconds, right, **style)
        charts[1].plot(found.seconds, [row["rank"] for row in found.table], **style)
    charts[0].set(ylabel="%, rows held out")
    results.figure(finish(drawn, charts), "accuracy and rank along the paths against seconds")

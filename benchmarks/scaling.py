"""Time against the number of nodes, from costs that are measured here, and whether real runs agree.

Costs of one core are measured in a process that knows of no cluster: those of one-vs-rest from an epoch of two thirds
and of a sixteenth of the classes, those of the trace norm from an eighth and a quarter of the rows. Cores share memory
and the last cache, so those of one-vs-rest are measured again by as many processes at once as there are cores, and
these predict what more than one actor takes. Every number of actors then has a cluster of this machine and a process of
its own; actors have one core each, and half of one where they are four. All of that is done three times, in turn, and
the least seconds of each count, as others may take a core for a while. The last tables are predictions alone: nodes of
16 cores, and a network of 10 Gbit/s, are assumed.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.cluster import CLOSED_FORM, IMAGES, QUERIES, ROWS, SETTINGS, STEPS, TRACE_NORM, WIDTH
from benchmarks.imagenet_shape import write_codes
from benchmarks.load import load
from benchmarks.page import Page
from benchmarks.simulator import Cluster, Costs
from manyclass.solvers.sgd.linear_weights import PANEL

CORES, NETWORK = 16, 1.25e9  # of a node; bytes a second
N, D, K = 9_000_000, 130_000, 10_184  # ImageNet10K, as Fisher vectors
_NODES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_BETA, _RANK, _JUDGED = SETTINGS["beta"], 64, 20_000
_ASKED = 28 / 12  # times that actors are asked in a step, as counted
_COPIES = 3  # of W to new memory: the mean of the descent and of the refit, and the best
_COLUMNS = ["what", "actors", "predicted", "measured", "off by"]

Found = dict[int, dict[str, Any]]  # what each number of actors took


def run(n: int = 200_000, d: int = 4096, k: int = K, cores: int = 2, epochs: int = 20, rounds: int = 3) -> Page:
    """Measure, predict, run, and predict what cannot be run here; so many `epochs` take about a minute."""
    page = Page("scaling", "Time against nodes", f"{__doc__}\n{load()}")
    with tempfile.TemporaryDirectory() as folder:
        write_codes(Path(folder), n, d, k, noise=0.1, n_test=1)
        measured = [_measured(folder, k, cores, epochs) for _ in range(rounds)]
    costs, shared, ceiling, alone, one = (
        _least([each[name] for each in measured]) for name in ("costs", "shared", "ceiling", "alone", "one")
    )
    found = {actors: _least([each["jobs"][actors] for each in measured]) for actors in measured[0]["jobs"]}
    known = Costs(**costs, gather=found[cores]["gather"])
    busy = replace(known, **shared)
    _costs(page, known, busy)
    compared = [
        row for actors in found for row in _compared(known if actors == 1 else busy, found, actors, d, k, cores)
    ]
    page.table("Predicted and measured", _COLUMNS, compared)
    _speedup(page, found, cores, ceiling, f"{n:,} x {d:,} codes, {k:,} classes")
    _overhead(page, alone, one, epochs, cores)
    _memory(page, found)
    _nodes(page, busy)
    return page


def _measured(folder: str, k: int, cores: int, epochs: int) -> dict[str, Any]:
    """All that is measured, once."""
    return {
        "costs": _child("unit_costs", "all", folder),
        "shared": _shared_costs(folder, cores),
        "ceiling": _ceiling(folder, k, cores),
        "jobs": {actors: _child("cluster", "jobs", folder, actors, cores) for actors in (1, cores, 2 * cores)},
        "alone": _child("cluster", "fit", folder, 0, cores, epochs),
        "one": _child("cluster", "fit", folder, 1, cores, epochs),
    }


def _least(rounds: list[Any]) -> Any:
    """Of several measurements, the least seconds of each: a part of a whole that took least is that of this whole."""
    if not isinstance(rounds[0], dict):
        return min(rounds)
    if "seconds" in rounds[0]:
        return min(rounds, key=lambda each: float(each["seconds"]))
    return {name: _least([each[name] for each in rounds]) for name in rounds[0]}


def _costs(page: Page, alone: Costs, busy: Costs) -> None:
    rows = [[name, f"{value:.3g}", f"{getattr(busy, name):.3g}"] for name, value in vars(alone).items()]
    page.table("Costs of one core", ["what", "seconds", "where all cores do the same"], rows)


def _shared_costs(folder: str, cores: int) -> dict[str, float]:
    """Those of one-vs-rest where all cores measure them at the same time: the means of what each has found."""
    begun = [_begin("unit_costs", "stochastic", folder) for _ in range(cores)]
    found = [_end(process) for process in begun]
    return {name: sum(one[name] for one in found) / cores for name in found[0]}


def _compared(costs: Costs, found: Found, actors: int, d: int, k: int, cores: int) -> list[list[str]]:
    """What was predicted, with so many actors, and what it took."""
    jobs = found[actors]
    there, learned = Cluster(actors, min(1.0, cores / actors)), jobs["one-vs-rest"]
    seen, judged, steps = learned["examples"], learned["judged"], f"trace norm, {STEPS} steps"
    trace_norm = STEPS * costs.trace_norm_step(TRACE_NORM[0], there, costs.row, gathers=_ASKED)
    pairs = {
        f"one-vs-rest, {seen:,} visits": (costs.epoch(seen, d, _BETA, there), learned["seconds"]),
        f"judging {judged:,} rows": (costs.judging(judged, d, k, there), learned["judging"]),
        steps: (trace_norm, _taken(jobs, "trace norm")),
    }
    # What others on the machine take from actors does not count in these.
    alone = Cluster(actors)
    both = costs.epoch(seen, d, _BETA, alone) + costs.judging(judged, d, k, alone)
    both += costs.copies(d, k, _COPIES, alone)
    pairs["one-vs-rest, judged: processor time of an actor"] = both, learned["processor"]
    rows_of_one = STEPS * TRACE_NORM[0] / actors * costs.row
    pairs["trace norm: processor time of an actor"] = rows_of_one, jobs["trace norm"]["processor"]
    if actors <= cores:
        features = costs.features(IMAGES, there, 4 * actors)
        pairs[f"features of {IMAGES:,} pictures"] = features, _taken(jobs, "features")
        search = costs.search(ROWS, WIDTH, QUERIES, there)
        pairs[f"{QUERIES} queries, {ROWS:,} x {WIDTH}"] = search, _taken(jobs, "search")
    return [
        [what, str(actors), f"{guess:.2f} s", f"{taken:.2f} s", f"{guess / taken - 1:+.0%}"]
        for what, (guess, taken) in pairs.items()
    ]


def _taken(jobs: dict[str, Any], job: str) -> float:
    return float(jobs[job]["seconds"])


def _speedup(page: Page, found: Found, cores: int, ceiling: dict[str, float], codes: str) -> None:
    one, two = found[1], found[cores]
    sizes = {
        "one-vs-rest": f"{codes}, {_BETA:.0f} negatives",
        "trace norm": "{:,} x {:,}, {:,} classes".format(*TRACE_NORM),
        "closed form": "{:,} x {:,}, {:,} classes".format(*CLOSED_FORM),
        "features": f"{IMAGES:,} pictures",
        "search": f"{QUERIES} queries, {ROWS:,} x {WIDTH}",
    }
    rows = []
    for job, size in sizes.items():
        times, same = _taken(one, job) / _taken(two, job), "yes" if one[job]["bits"] == two[job]["bits"] else "no"
        rows.append([job, size, f"{_taken(one, job):.2f} s", f"{_taken(two, job):.2f} s", f"{times:.2f}",
                     _by_processor(one[job], two[job]), same])  # fmt: skip
    alone, together = ceiling["alone"], ceiling["together"]
    rows.append(["an epoch of one-vs-rest by as many processes, without Ray", "a part of the classes each",
                 f"{alone:.2f} s", f"{together:.2f} s", f"{alone / together:.2f}", "", ""])  # fmt: skip
    columns = ["job", "size", "one actor", f"{cores} actors", "times as fast", "by processor time of an actor"]
    columns += ["same bits"]
    page.table(f"Against one actor: {cores} of one core each", columns, rows)


def _by_processor(one: dict[str, Any], two: dict[str, Any]) -> str:
    return f"{one['processor'] / two['processor']:.2f}" if "processor" in one else ""


def _overhead(page: Page, alone: dict[str, Any], one: dict[str, Any], epochs: int, cores: int) -> None:
    beside = [found["seconds"] - found["begin"] - found["end"] - found["epochs"] for found in (alone, one)]
    rows = [
        ["the cluster begins, with its actor", "", f"{one['begin']:.1f} s"],
        [f"{epochs} epochs", f"{alone['epochs']:.1f} s", f"{one['epochs']:.1f} s"],
        ["the rest of the fit: rows are sent, weights fetched", *(f"{seconds:.1f} s" for seconds in beside)],
        ["the cluster ends", "", f"{one['end']:.1f} s"],
        ["all", f"{alone['seconds']:.1f} s", f"{one['seconds']:.1f} s"],
        ["more", "", f"{one['seconds'] / alone['seconds'] - 1:.1%}"],
        ["same bits", "", "yes" if one["bits"] == alone["bits"] else "no"],
    ]
    page.table(f"What Ray adds to a fit, {cores} threads", ["", "without Ray", "by one actor"], rows)


def _memory(page: Page, found: Found) -> None:
    rows = []
    for actors, jobs in found.items():
        learned = jobs["one-vs-rest"]
        # Weights, their mean and the best of these; the codes lie in the store of objects, where actors share them.
        idle, W, codes = learned["idle"], 3 * learned["W"] / actors, learned["codes"]
        more = f"{(learned['held'] - idle - W) / (W + codes):.0%}"
        sizes = idle, W, codes, learned["held"], learned["store"]
        rows.append([str(actors), *(f"{size:.0f} MiB" for size in sizes), more])
    columns = ["actors", "an idle actor", "three copies of its W", "codes, which all share"]
    columns += ["most that an actor held of its own", "most that it has seen of Ray's store"]
    columns += ["more of its own than idle and W, of W and codes"]
    page.table("Memory of an actor, one-vs-rest with judging", columns, rows)


def _nodes(page: Page, costs: Costs) -> None:
    def there(nodes: int) -> Cluster:
        return Cluster(nodes, CORES, NETWORK)

    row, factors = costs.row_of_codes(D, K, _RANK), 4.0 * _RANK * (D + K)
    jobs: dict[str, Callable[[int], float]] = {
        "features": lambda w: costs.features(N, there(w), max(4 * CORES * w, N // 2000), D / 32),
        "one-vs-rest, 10 epochs, each judged": lambda w: (
            10 * (costs.epoch(N, D, _BETA, there(w)) + costs.judging(_JUDGED, D, K, there(w)))
        ),
        f"trace norm, 200 steps of rank {_RANK}": lambda w: 200 * costs.trace_norm_step(N, there(w), row, factors),
        "search, 1,000 queries, 9M x 512": lambda w: costs.search(N, 512, 1000, there(w)),
    }
    table = [[name, *(_span(job(w)) for w in _NODES), _limit(job)] for name, job in jobs.items()]
    caption = f"Predicted: {N:,} x {D:,}, {K:,} classes, nodes of {CORES} cores"
    page.table(caption, ["job", *map(str, _NODES), "pays up to"], table)
    columns = ["job", "reason", "what would help"]
    page.table("What keeps a job from using more nodes", columns, [[job, *why] for job, why in _WHY.items()])


_WHY = {
    "features": (
        "one process joins the rows of all parts, here as codes of one byte for 8 numbers",
        "to leave the parts as they are, by `--shard`, and to join them once where they will lie",
    ),
    "one-vs-rest": (
        "a node decodes every row that one of its classes sees: all of them, until nodes are more than the 65 classes "
        "that a row visits; from there on it leaves out the others",
        "to decode a row in the cache at the moment that a class sees it, and not to memory beforehand",
    ),
    "trace norm": (
        "factors of (d + k) r numbers go from one process to all nodes, and come back to it",
        "nodes that add up what others found, in a tree: the bytes grow with its depth, not with the nodes",
    ),
    "search": (
        "queries go to all nodes, and one process ranks the best of all of them",
        "several such processes, each with its own queries",
    ),
}


def _limit(job: Callable[[int], float]) -> str:
    """Up to how many nodes every doubling saves a quarter of the time or more."""
    nodes = 1
    while nodes < _NODES[-1] and job(2 * nodes) <= 0.75 * job(nodes):
        nodes *= 2
    return f"{nodes} nodes" if nodes > 1 else "1 node"


def _span(seconds: float) -> str:
    return f"{seconds / 3600:.3g} h" if seconds >= 3600 else f"{seconds:.3g} s"


def _ceiling(folder: str, k: int, cores: int) -> dict[str, float]:
    """Seconds of an epoch by one process, and by so many at the same time that have a part of the classes each."""
    marks = [k * part // cores // PANEL * PANEL for part in range(cores)] + [k]
    alone = _child("unit_costs", "epoch", folder, 0, k)
    begun = [_begin("unit_costs", "epoch", folder, *span) for span in pairwise(marks)]
    return {"alone": alone["seconds"], "together": max(_end(process)["seconds"] for process in begun)}


def _child(module: str, *words: Any) -> dict[str, Any]:
    """What a process of its own prints."""
    return _end(_begin(module, *words))


def _begin(module: str, *words: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", f"benchmarks.{module}", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _end(process: subprocess.Popen[str]) -> dict[str, Any]:
    printed, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{process.args} ended with {process.returncode}")
    found: dict[str, Any] = json.loads(printed.splitlines()[-1])
    return found

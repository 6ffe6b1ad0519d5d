"""Figures 1 and 3 of Rezende et al. (CVPR 2017): precision and time against the number of negatives."""

from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.exemplar_search import Method, found, precisions, shown, timed, with_negatives
from experiments.figures import curve, finish, panels
from experiments.results import Results
from experiments.retrieval_sources import Search, available

COUNTS = (125, 250, 500, 1000, 2000, 4000)
MANY = (1000, 2000, 4000, 8000, 16000)
RANK = 64
WHERE = (("DVD covers", "patches"), ("Omniglot", "gradients"), ("glyphs", "gradients"))


def run(folder: Path | None) -> Results:
    """The page: one search, the first that is there."""
    results = Results("exemplar_negatives", "How many negatives an exemplar machine needs")
    sources = available(folder)
    where = next(where for where in WHERE if where in sources)
    search = sources[where]()
    counts = [n for n in COUNTS if n <= len(search.negatives)]
    results.say(f"""{where[0]}, {where[1]}: mean average precision of half of the queries against the number of
        negatives, with the settings that are best for {counts[-1]} negatives on the other half.""")
    machines = {name: found(with_negatives(search, counts[-1]), method).encoder for name, method in _methods().items()}
    _, second = search.halves()
    drawn, charts = panels(["precision", "time", "incomplete Cholesky"], "negatives", "mAP, %")
    rows, seconds = [], []
    for position, (name, machine) in enumerate(machines.items()):
        values, offline = _by_count(second, machine, counts)
        curve(charts[0], position, counts, values, name)
        curve(charts[1], position, counts, [t / 100 for t in offline], name)
        rows.append([name, *shown(values)])
        seconds.append([name, *(f"{t:.2f}" for t in offline)])
    charts[1].set(ylabel="seconds to fit", yscale="log")
    results.table("Mean average precision (Figure 1)", ["method", *map(str, counts)], rows)
    results.table("Seconds to fit (Figure 1)", ["method", *map(str, counts)], seconds)
    _many(results, charts[2], second, machines["Gaussian SLEM"])
    results.figure(finish(drawn, charts), "precision and time against the number of negatives")
    return results


def _methods() -> dict[str, Method]:
    kernel = mc.KernelSquareLossExemplar(kernel="rbf", n_background=1, random_state=0)
    return {"SLEM": Method(mc.SquareLossExemplar(n_background=1)), "Gaussian SLEM": Method(kernel)}


def _by_count(search: Search, machine: Any, counts: list[int]) -> tuple[list[float], list[float]]:
    values, offline = [], []
    for n in counts:
        part = with_negatives(search, n)
        seconds, fitted = timed(lambda part=part: machine.fit(part.negatives))
        offline.append(seconds)
        values.append(float(np.nanmean(precisions(part, fitted))))
    return values, offline


def _many(results: Results, chart: Any, search: Search, machine: Any) -> None:
    """Figure 3: an incomplete factor of fixed rank, with ever more negatives."""
    counts = [n for n in MANY if n <= len(search.negatives)]
    settings = {**machine.get_params(), "factorization": "incomplete_cholesky", "rank": RANK}
    values, offline = _by_count(search, mc.KernelSquareLossExemplar(**settings), counts)
    curve(chart, 0, counts, values, f"rank {RANK}")
    rows = [["mAP, %", *shown(values)], ["seconds to fit", *(f"{t:.2f}" for t in offline)]]
    results.table(f"Incomplete Cholesky, rank {RANK} (Figure 3)", ["", *map(str, counts)], rows)
    results.say(f"""With rank {RANK} the negatives are never compared with one another, only with {RANK} of them: from
        {counts[0]} to {counts[-1]} negatives the precision changes by {100 * (values[-1] - values[0]):+.1f} points.""")

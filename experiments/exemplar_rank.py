"""Figure 2 of Rezende et al. (CVPR 2017): kernel PCA against incomplete Cholesky factors, by rank.

One core: about 3 minutes, beside the features, which exemplar_table makes as well.
"""

from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.exemplar_search import shown, with_negatives
from experiments.exemplar_trials import KERNEL_STRENGTHS, MIDDLE, Tried, compared, kernel_slem, tried
from experiments.figures import curve, finish, panels
from experiments.paper_searches import Where, searches
from experiments.results import Results
from experiments.retrieval_sources import Search
from experiments.verdicts import Interval, above, alike

NEGATIVES = 2000
RANKS = (8, 16, 32, 64, 128, 256)
WAYS = {
    "kernel PCA": "kpca",
    "Nystrom": "nystrom",
    "incomplete Cholesky, projection": "incomplete_cholesky",
    "incomplete Cholesky, Eq. 12": "incomplete_cholesky_pinv",
}
KERNELS = {"polynomial": "poly", "Gaussian": "rbf"}
WHERE = (("DVD covers", "VLAD"), ("Caltech-101", "SPoC"), ("Omniglot", "gradients"), ("glyphs", "gradients"))
AS_GOOD = 0.01

Found = dict[tuple[str, int], Tried]


def run(folder: Path | None) -> Results:
    """The page: a figure for each kernel, with a chart for each search."""
    results = Results("exemplar_rank", "Kernel machines of low rank")
    made = searches(folder)
    chosen = [where for where in WHERE if where in made]
    results.say(f"""Kernel machines against {NEGATIVES:,} negatives by the rank of the factor of their Gram matrix: mean
        average precision, and the part of the matrix's trace that the factor leaves out. For every way and rank the
        strength of regularization is one of {len(KERNEL_STRENGTHS)}, chosen on one half of the queries and judged on the
        other, both ways; gamma is the library's default. Data as on
        [the page of all methods](exemplar_table.md); the paper has SPoC of Holidays, which is not at hand, and 15,000
        negatives. Incomplete Cholesky factors have two ways to place an image: its projection on the pivots, and
        v = B⁺k, as Eq. 12 of the paper prints it for factors that are complete.""")
    searched = {where: with_negatives(made[where](), NEGATIVES) for where in chosen}
    found: dict[tuple[Where, str], Found] = {}
    for kernel, short in KERNELS.items():
        drawn, charts = panels([f"{', '.join(where)}: {kernel}" for where in chosen], "rank", "mAP, %")
        for chart, (where, search) in zip(charts, searched.items(), strict=True):
            found[where, kernel] = _page(results, chart, search, (*where, kernel), short)
        results.figure(finish(drawn, charts), f"precision against rank, by four ways to factor, {kernel} kernel")
    _judge(results, found)
    return results


def _page(results: Results, chart: Any, search: Search, what: tuple[str, ...], kernel: str) -> Found:
    full = tried(search, kernel_slem(kernel, gammas=MIDDLE))
    found, rows = {}, []
    for position, (name, way) in enumerate(WAYS.items()):
        for rank in RANKS:
            found[name, rank] = tried(search, kernel_slem(kernel, way, rank, MIDDLE))
        values = [found[name, rank].mean for rank in RANKS]
        curve(chart, position, RANKS, values, name)
        rows.append([name, *shown(values)])
    rows += [[f"{name}, left out", *shown(_left(search, kernel, WAYS[name]))] for name in list(WAYS)[:3]]
    curve(chart, 4, [RANKS[0], RANKS[-1]], [full.mean] * 2, "full", linestyle="--", marker="")
    results.table(f"{', '.join(what)}; full rank: {100 * full.mean:.1f}", ["%", *map(str, RANKS)], rows)
    return found


def _left(search: Search, kernel: str, way: str) -> list[float]:
    machine = mc.KernelSquareLossExemplar(kernel, factorization=way, n_background=1)
    return [machine.set_params(rank=rank).fit(search.negatives).residual_ for rank in RANKS]


def _judge(results: Results, found: dict[tuple[Where, str], Found]) -> None:
    projection, printed = list(WAYS)[2:]
    for other in (projection, printed):
        ahead = _intervals(found, "kernel PCA", other)
        results.finding(
            "Figure 2", f"Kernel PCA is ahead of incomplete Cholesky at equal rank ({other.split(', ')[1]}).",
            above(list(ahead.values())), f"{_shown(ahead)}.",
        )  # fmt: skip
    grown = {
        f"{', '.join(where)}, {kernel}": compared(one["kernel PCA", RANKS[-1]], one["kernel PCA", RANKS[0]])
        for (where, kernel), one in found.items()
    }
    results.finding(
        "Figure 2", "Precision grows with the rank.", above(list(grown.values())),
        f"kernel PCA, from rank {RANKS[0]} to {RANKS[-1]}: {_shown(grown)}.",
    )  # fmt: skip
    same = _intervals(found, "Nystrom", "kernel PCA")
    results.say(f"""Nystrom's factor, which never forms the Gram matrix either, is within {100 * AS_GOOD:.0f} point of
        kernel PCA: *{alike(list(same.values()), AS_GOOD)}* ({_shown(same)}). That is why it is what the library
        proposes for very many negatives, in place of the paper's incomplete Cholesky factor, whose pivots are
        outliers.""")


def _intervals(found: dict[tuple[Where, str], Found], a: str, b: str) -> dict[str, Interval]:
    """Over all ranks together, for each search and kernel."""
    return {
        f"{', '.join(where)}, {kernel}": compared(*(_over_ranks(one, way) for way in (a, b)))
        for (where, kernel), one in found.items()
    }


def _over_ranks(one: Found, way: str) -> Tried:
    return Tried(np.mean([one[way, rank].judged() for rank in RANKS], axis=0)[None])


def _shown(intervals: dict[str, Interval]) -> str:
    return "; ".join(f"{what} {one.shown(100)}" for what, one in intervals.items())

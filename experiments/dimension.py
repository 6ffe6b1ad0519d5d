"""Figure 3 of Perronnin et al. (CVPR 2012): the objectives against the number of Gaussians.

Some minutes on one core after the page on objectives, with which it shares fits, and a quarter of an hour before it.
"""

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import curve, finish, panels
from experiments.objectives import Found, objectives, tops
from experiments.picture_draws import FISHER, available, signatures
from experiments.results import Results, percent
from experiments.stochastic_fits import GRIDS, SEEDS, ahead
from experiments.verdicts import above

PAPERS = ("w-OVR", "MUL", "RNK", "WAR")  # that the figure has


def run(folder: Path | None, seeds: range = SEEDS) -> Results:
    """The page: for each collection a figure of two charts, top-1 and top-5."""
    results = Results("dimension", "Objectives against the number of Gaussians")
    names = available(folder)
    if folder is None or not names:
        results.say("Neither Tiny-ImageNet nor Caltech's photographs are there.")
        return results
    results.say(f"""Test accuracy in percent, mean over classes, then mean and standard error over {len(seeds)} seeds,
        of Fisher vectors with {", ".join(map(str, FISHER[:-1]))} and {FISHER[-1]} Gaussians and no pyramid, as the
        paper has them there: pictures, draws, settings and how they are chosen are those of the
        [objectives](objectives.md). The spread is that between the best and the worst of the paper's four, which leaves
        u-OVR out.""")
    for name in names:
        found = {k: objectives(folder, name, f"FV {k}", seeds) for k in FISHER}
        widths = [signatures(folder, name, f"FV {k}").shape[1] for k in FISHER]
        _show(results, name, found, widths)
        _judge(results, name, found)
    return results


def spread(found: Found, top: str = "top1") -> list[float]:
    """Of the paper's objectives, the best less the worst, for each seed."""
    each: list[float] = np.ptp([tops(found, way, top) for way in PAPERS], axis=0).tolist()
    return each


def _show(results: Results, name: str, found: dict[int, Found], widths: list[int]) -> None:
    drawn, charts = panels([f"{name}, {top}" for top in ("top-1", "top-5")], "Gaussians", "accuracy, %")
    for chart, top in zip(charts, ("top1", "top5"), strict=True):
        for position, way in enumerate(GRIDS):
            curve(chart, position, list(found), [float(np.mean(tops(one, way, top))) for one in found.values()], way)
    results.figure(finish(drawn, charts), f"accuracy of the objectives against the number of Gaussians, {name}")
    for top in ("top1", "top5"):
        rows: list[Any] = [[way, *(percent(tops(one, way, top)) for one in found.values())] for way in GRIDS]
        rows.append(["spread", *(percent(spread(one, top)) for one in found.values())])
        columns = [f"{k} ({d:,})" for k, d in zip(found, widths, strict=True)]
        results.table(f"{name}, {top.replace('p', 'p-')}", ["Gaussians (numbers)", *columns], rows)


def _judge(results: Results, name: str, found: dict[int, Found]) -> None:
    few, many = found[FISHER[0]], found[FISHER[-1]]
    closer = {top: ahead(spread(few, top), spread(many, top)) for top in ("top1", "top5")}
    results.finding(
        "Figure 3",
        f"The objectives differ less as Gaussians become more, at top-1 and at top-5 ({name}).",
        above(list(closer.values())),
        f"""the spread with {FISHER[0]} Gaussians less that with {FISHER[-1]} is {closer["top1"].shown()} points at
        top-1, {closer["top5"].shown()} at top-5.""",
    )
    gains = {way: ahead(tops(many, way), tops(few, way)) for way in PAPERS}
    results.finding(
        "Figure 3",
        f"Every objective gains with more Gaussians ({name}).",
        above(list(gains.values())),
        f"""from {FISHER[0]} to {FISHER[-1]}, in points: {
            ", ".join(f"{way} {one.shown()}" for way, one in gains.items())
        }.""",
    )
    rivals = {way: ahead(tops(few, "w-OVR"), tops(few, way)) for way in PAPERS[1:]}
    results.finding(
        "Figure 3",
        f"With the fewest Gaussians w-OVR is ahead of MUL, RNK and WAR ({name}).",
        above(list(rivals.values())),
        f"in points, {', '.join(f'{way} {one.shown()}' for way, one in rivals.items())}.",
    )

"""Figure 3 of Perronnin et al. (CVPR 2012): the objectives against the number of Gaussians.

Some minutes on one core after the page on objectives, with which it shares fits, and a quarter of an hour before it.
"""

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import curve, finish, panels
from experiments.objectives import Found, objectives, over, tops
from experiments.picture_draws import FISHER, available, signatures
from experiments.results import Results, percent
from experiments.stochastic_fits import GRIDS, SEEDS, ahead
from experiments.verdicts import HOLDS, above, each, is_above

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
        [objectives](objectives.md), and so are departures from the paper. The spread is that between the best and the
        worst of the paper's four, which leaves u-OVR out; below it, by how much it is less than with {FISHER[0]}.""")
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
        falls = [ahead(spread(found[FISHER[0]], top), spread(found[k], top)).shown() for k in FISHER[1:]]
        rows.append(["less by", "", *falls])
        columns = [f"{k} ({d:,})" for k, d in zip(found, widths, strict=True)]
        results.table(f"{name}, {top.replace('p', 'p-')}", ["Gaussians (numbers)", *columns], rows)


def _judge(results: Results, name: str, found: dict[int, Found]) -> None:
    few, some, many = (found[k] for k in FISHER)
    closer, last = (
        {f"at {top.replace('p', 'p-')}": ahead(spread(one, top), spread(many, top)) for top in ("top1", "top5")}
        for one in (few, some)
    )
    further = [when for when, one in last.items() if is_above(one) == HOLDS]
    results.finding(
        "Figure 3",
        f"The objectives differ less as Gaussians become more, at top-1 and at top-5 ({name}).",
        above(list(closer.values())),
        f"""the spread with {FISHER[0]} Gaussians less that with {FISHER[-1]} is, in points, {each(closer)}. From
        {FISHER[1]} on it {f"still falls {' and '.join(further)}" if further else "is not told to fall further"}:
        {each(last, side=None)}.""",
    )
    gains = {way: ahead(tops(many, way), tops(few, way)) for way in PAPERS}
    results.finding(
        "Figure 3",
        f"Every objective gains with more Gaussians (read from the figure; {name}).",
        above(list(gains.values())),
        f"from {FISHER[0]} to {FISHER[-1]}, in points: {each(gains)}.",
    )
    pairs = [("w-OVR", way) for way in PAPERS[1:]] + [("WAR", way) for way in ("MUL", "RNK")]
    order = {f"{ours} less {theirs}": over(few, ours, theirs) for ours, theirs in pairs}
    results.finding(
        "Figure 3",
        f"w-OVR performs best, followed by WAR: with the fewest Gaussians, at top-1 ({name}).",
        above(list(order.values())),
        f"in points, {each(order)}.",
    )

"""Figure 1 of Perronnin et al. (CVPR 2012): accuracy of one-vs-rest against the imbalance beta.

Some minutes on one core after the page on objectives, with which it shares fits.
"""

from pathlib import Path
from typing import Any

import numpy as np

from experiments.figures import curve, finish, panels
from experiments.picture_draws import BOV, FISHER, LARGEST, Draw, available, drawn, n_classes, signatures
from experiments.results import Results, percent
from experiments.stochastic_fits import GRIDS, SEEDS, USUAL, Best, Settings, ahead, compare
from experiments.verdicts import OPEN, Interval, above, alike, each, is_above, is_alike, over_seeds

BETAS = (1.0, 4.0, 16.0, 64.0)
FINER = tuple(2.0**j for j in range(7))
STEPS = sorted({one["step"] for one in GRIDS["w-OVR"]})
CLASSES = (12, 35, 100)
PATIENCE = 60  # judgements for beta 1, whose epochs see two examples for a positive
SMALL = f"FV {FISHER[0]}"
SHOWN = (BOV, SMALL, LARGEST)

Found = dict[str, list[Best]]  # of every way, one for each seed


def run(folder: Path | None, seeds: range = SEEDS) -> Results:
    """The page: curves of each collection, then of some of the classes."""
    results = Results("beta", "How many negatives for a positive")
    names = available(folder)
    if folder is None or not names:
        results.say("Neither Tiny-ImageNet nor Caltech's photographs are there.")
        return results
    results.say(f"""Top-1 test accuracy in percent, mean over classes and over {len(seeds)} seeds. Plain lines: w-OVR
        with `beta` negatives for every positive, drawn anew in each epoch. Dashed lines: u-OVR, all other classes.
        Pictures, draws, signatures and departures from the paper are those of the [objectives](objectives.md). For each
        beta the better of {len(STEPS)} steps, {" and ".join(f"1/{1 / step:g}" for step in STEPS)}, is taken, by the
        rows to choose by. They also choose the beta of w-OVR, out of all {len(BETAS)} with both steps, and the step of
        u-OVR, out of {len(GRIDS["u-OVR"])}.""")
    results.say(f"""An epoch sees 1 + beta examples for a positive, so that the {USUAL["patience"]} judgements without
        progress that stop a machine come after fewer examples with a small beta. Beta 1 therefore has a patience of
        {PATIENCE} judgements, and {USUAL["max_epochs"]} epochs at most as the others; that other small betas stop too
        soon is not ruled out.""")
    figure, charts = panels(names, "beta", "top-1, %")
    for chart, name in zip(charts, names, strict=True):
        found = {one: by_beta(folder, Draw(name, one, 0), seeds) for one in SHOWN}
        for position, (signature, runs) in enumerate(found.items()):
            _curve(chart, position, f"{signature}, {signatures(folder, name, signature).shape[1]:,} numbers", runs)
        _table(results, name, found)
        _judge(results, name, found)
    results.figure(finish(figure, charts), "accuracy against the number of negatives for a positive")
    _by_classes(results, folder, names[0], seeds)
    return results


def by_beta(folder: Path, draw: Draw, seeds: range) -> Found:
    """The better step of every beta, u-OVR, and w-OVR with the best beta; and beta 1 that is stopped as the others."""
    grids = {f"beta {beta:g}": _steps(beta) for beta in BETAS}
    grids |= {"u-OVR": GRIDS["u-OVR"], "w-OVR": [one for grid in grids.values() for one in grid]}
    return compare(folder, draw, grids | {"hasty": _steps(1.0, hasty=True)}, seeds)


def _steps(beta: float, hasty: bool = False) -> list[Settings]:
    patience = {"patience": PATIENCE} if beta == 1 and not hasty else {}
    return [{"objective": "ovr", "step": step, "beta": beta} | patience for step in STEPS]


def tops(runs: list[Best]) -> list[float]:
    """Top-1 accuracies, one for each seed."""
    return [one.score.top1 for one in runs]


def gain(runs: Found, over: str) -> Interval:
    """By how much w-OVR is ahead, in points."""
    return ahead(tops(runs["w-OVR"]), tops(runs[over]))


def _curve(chart: Any, position: int, label: str, runs: Found) -> None:
    curve(chart, position, BETAS, [float(np.mean(tops(runs[f"beta {beta:g}"]))) for beta in BETAS], label)
    level = [float(np.mean(tops(runs["u-OVR"])))] * 2
    curve(chart, position, [BETAS[0], BETAS[-1]], level, "", linestyle="--", marker="", linewidth=1)


def _table(results: Results, name: str, found: dict[str, Found]) -> None:
    ways = [f"beta {beta:g}" for beta in BETAS]
    rows = []
    for key, runs in found.items():
        cells = [percent(tops(runs[way])) for way in (*ways, "u-OVR", "w-OVR")]
        chosen = ", ".join(f"{beta:g}" for beta in sorted({one.settings["beta"] for one in runs["w-OVR"]}))
        rows.append([key, *cells, chosen, gain(runs, "u-OVR").shown(), gain(runs, "beta 1").shown()])
    columns = ["signature", *ways, "u-OVR", "w-OVR", "at beta", "ahead of u-OVR", "ahead of beta 1"]
    results.table(f"{name}, top-1", columns, rows)


def _judge(results: Results, name: str, found: dict[str, Found]) -> None:
    patient = {key: ahead(tops(runs["beta 1"]), tops(runs["hasty"])) for key, runs in found.items()}
    results.say(f"Its patience gains beta 1, in points, {each(patient, side=None)}.")
    small = {f"on {one}": gain(found[one], "u-OVR") for one in (BOV, SMALL)}
    results.finding(
        "Figure 1",
        f"On small signatures w-OVR is ahead of u-OVR ({name}).",
        above(list(small.values())),
        f"in points, {each(small)}.",
    )
    one = {f"on {signature}": gain(found[signature], "beta 1") for signature in (BOV, SMALL)}
    results.finding(
        "Figure 1",
        f"On small signatures beta 1 is not enough ({name}).",
        above(list(one.values())),
        f"the beta that is chosen is ahead, in points, {each(one)}.",
    )
    large = {f"of {over}": gain(found[LARGEST], over) for over in ("u-OVR", "beta 1")}
    results.finding(
        "Figure 1",
        f"On the largest signatures beta has little effect: w-OVR is within a point of u-OVR and of beta 1 ({name}).",
        alike(list(large.values()), 1.0),
        f"it is ahead, in points, {each(large, 1.0, is_alike)}.",
    )


def _by_classes(results: Results, folder: Path, name: str, seeds: range) -> None:
    results.say(f"""Does the number of classes decide which beta is best? Of {name}, some of the classes are drawn, with
        as many pictures of each, described by {SMALL}. Betas of {", ".join(f"{beta:g}" for beta in FINER)} that are
        fewer than the other classes have {len(STEPS)} steps each; rows to choose by choose both. With the classes grow
        the rows to train on and to choose by, and the number of betas: what grows is not owed to classes alone.""")
    everything, rows, runs = n_classes(folder, name), [], {}
    for k in CLASSES:
        betas = [beta for beta in FINER if beta < k - 1]
        draw = Draw(name, SMALL, seeds[0], k if k < everything else 0)
        grid = [setting for beta in betas for setting in _steps(beta)]
        runs[k] = compare(folder, draw, {"beta 1": _steps(1.0), "w-OVR": grid}, seeds)
        one, chosen = runs[k].values()
        sizes = [f"{len(y):,}" for _, y in drawn(folder, draw)[:2]]
        seen = ", ".join(f"{run.settings['beta']:g}" for run in chosen)
        gained = gain(runs[k], "beta 1").shown()
        rows.append([str(k), *sizes, str(len(betas)), percent(tops(one)), percent(tops(chosen)), gained, seen])
    columns = ["classes", "rows to train on", "to choose by", "betas", "beta 1", "beta chosen", "ahead", "seed by seed"]
    results.table(f"{name}, some of the classes", columns, rows)
    _judge_classes(results, name, runs)


def _judge_classes(results: Results, name: str, runs: dict[int, Found]) -> None:
    most = CLASSES[-1]
    gains = {
        k: [a - b for a, b in zip(tops(one["w-OVR"]), tops(one["beta 1"]), strict=True)] for k, one in runs.items()
    }
    grown = {f"from {k} to {most} classes": ahead(gains[most], gains[k]) for k in CLASSES[:-1]}
    results.finding(
        "Section 5.3",
        f"Beta matters more as classes become more: what the best gains on beta 1 grows ({name}, {SMALL}).",
        above(list(grown.values())),
        f"in points, {each(grown)}.",
    )
    few, many = runs[CLASSES[0]]["w-OVR"], runs[most]["w-OVR"]
    larger = over_seeds([_doublings(a, b) for a, b in zip(many, few, strict=True)])
    open_ = ": whether it grows is not told" if is_above(larger) == OPEN else ""
    results.say(f"From {CLASSES[0]} to {most} classes the beta that is chosen doubles {larger.shown()} times{open_}.")


def _doublings(ours: Best, theirs: Best) -> float:
    return float(np.log2(ours.settings["beta"] / theirs.settings["beta"]))

"""Table 1 of Perronnin et al. (CVPR 2012) keeps the last iterate: what the mean of those on the way is worth.

A minute on one core after the page on dimension, with which it shares fits.
"""

from pathlib import Path

from experiments.picture_draws import FISHER, Draw, available
from experiments.results import Results, percent
from experiments.stochastic_fits import GRIDS, SEEDS, Settings, ahead, compare
from experiments.verdicts import Interval, alike

OBJECTIVES = ("w-OVR", "MUL", "WAR")
SMALL = f"FV {FISHER[0]}"
KEPT = {"last": False, "mean": True}


def run(folder: Path | None, seeds: range = SEEDS) -> Results:
    """The page."""
    results = Results("averaging", "The last iterate against the mean of them")
    names = available(folder)
    if folder is None or not names:
        results.say("Neither Tiny-ImageNet nor Caltech's photographs are there.")
        return results
    results.say(f"""Top-1 test accuracy in percent, mean over classes, then mean and standard error over {len(seeds)}
        seeds. The last iterate is what Table 1 of the paper keeps (`averaging=False`), and what the pages on it have;
        the mean of the machines at every quarter of an epoch, later ones counting more, is our default. Draws,
        settings and signatures, {SMALL}, are those of the pages on [objectives](objectives.md) and their
        [dimension](dimension.md); each way has its own step, and beta of
        w-OVR, by the rows to choose by.""")
    rows, gains = [], []
    for name in names:
        found = compare(folder, Draw(name, SMALL, 0), grids(), seeds)
        tops = {way: [one.score.top1 for one in runs] for way, runs in found.items()}
        for objective in OBJECTIVES:
            last, mean = (tops[f"{objective}, {kept}"] for kept in KEPT)
            gains.append(ahead(mean, last))
            rows.append([name, objective, percent(last), percent(mean), gains[-1].shown()])
    results.table("Top-1", ["data", "objective", *KEPT, "mean less last"], rows)
    _judge(results, gains)
    return results


def grids() -> dict[str, list[Settings]]:
    """The settings of every objective, for what is kept."""
    return {
        f"{objective}, {kept}": [one | {"averaging": averaging} for one in GRIDS[objective]]
        for objective in OBJECTIVES
        for kept, averaging in KEPT.items()
    }


def _judge(results: Results, gains: list[Interval]) -> None:
    results.finding(
        "Table 1, last iterate",
        "The last iterate is enough: the mean of those on the way is within a point of it.",
        alike(gains, 1.0),
        f"""the mean is ahead by {min(gain.mean for gain in gains):+.1f} to {max(gain.mean for gain in gains):+.1f}
        points; intervals are in the table.""",
    )

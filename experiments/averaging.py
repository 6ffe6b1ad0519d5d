"""What the mean of the machines on the way is worth, of which Perronnin et al. (CVPR 2012) do not speak.

A minute on one core after the page on dimension, with which it shares fits.
"""

from pathlib import Path

from experiments.picture_draws import FISHER, Draw, available
from experiments.results import Results, percent
from experiments.stochastic_fits import GRIDS, SEEDS, Settings, ahead, compare
from experiments.verdicts import FAILS, HOLDS, Interval, is_alike

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
        seeds. The paper does not speak of averages: Table 1 updates one machine, and the last iterate
        (`averaging=False`) is what our pages on it have; the mean of the machines at every quarter of an epoch, later
        ones counting more, is our default. Draws, settings and signatures, {SMALL}, are those of the pages on
        [objectives](objectives.md) and their [dimension](dimension.md); each way has its own step, and beta of w-OVR,
        by the rows to choose by.""")
    rows, gains = [], []
    for name in names:
        found = compare(folder, Draw(name, SMALL, 0), grids(), seeds)
        tops = {way: [one.score.top1 for one in runs] for way, runs in found.items()}
        for objective in OBJECTIVES:
            last, mean = (tops[f"{objective}, {kept}"] for kept in KEPT)
            gains.append(ahead(mean, last))
            rows.append([name, objective, percent(last), percent(mean), gains[-1].shown(margin=1.0)])
    results.table("Top-1", ["data", "objective", *KEPT, "mean less last"], rows)
    _tell(results, gains)
    return results


def grids() -> dict[str, list[Settings]]:
    """The settings of every objective, for what is kept."""
    return {
        f"{objective}, {kept}": [one | {"averaging": averaging} for one in GRIDS[objective]]
        for objective in OBJECTIVES
        for kept, averaging in KEPT.items()
    }


def _tell(results: Results, gains: list[Interval]) -> None:
    """How often the difference is less than a point, more, or not told."""
    sides = [is_alike(gain, 1.0) for gain in gains]
    results.say(f"""The mean is within a point of the last in {sides.count(HOLDS)} of {len(sides)} rows, and further
        from it in {sides.count(FAILS)}; in the others the seeds do not tell. RNK was not run.""")

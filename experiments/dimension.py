"""Figure 3 of Perronnin et al. (CVPR 2012): the objectives against the dimension of the features."""

from pathlib import Path

import numpy as np

from experiments.figures import curve, finish, panels
from experiments.results import Results
from experiments.scores import OBJECTIVES, accuracies
from experiments.sources import available

DIMENSIONS = (16, 32, 64, 128, 256, 2048)  # the last stands for all


def run(folder: Path | None) -> Results:
    """The page: for each data set a figure of two charts, top-1 and top-5."""
    results = Results("dimension", "Objectives against the dimension")
    results.say("""Test accuracy in percent, mean over classes, of every objective with its defaults, one seed. Features
        are cut to their first principal components and scaled to unit length, where the paper has Fisher vectors of
        more and more Gaussians.""")
    for name, source in available(folder).items():
        if name in ("Caltech features", "generated"):
            split = source(0)
            dimensions = sorted({min(d, split.X.shape[1]) for d in DIMENSIONS})
            found = {
                objective: [accuracies(split.projected(d), 0, **settings) for d in dimensions]
                for objective, settings in OBJECTIVES.items()
            }
            _show(results, name, dimensions, found)
    results.say("""Of the generated data, the first 16 directions are those in which all classes vary alike, where
        nothing can be learned, and those beyond 64 hold noise: more dimensions are not better features there, as they
        are in the paper.""")
    return results


def _show(results: Results, name: str, dimensions: list[int], found: dict[str, list[tuple[float, float]]]) -> None:
    drawn, charts = panels([f"{name}, {top}" for top in ("top-1", "top-5")], "dimensions", "accuracy, %")
    for position, (objective, runs) in enumerate(found.items()):
        for which, chart in enumerate(charts):
            curve(chart, position, dimensions, [run[which] for run in runs], objective)
    results.figure(finish(drawn, charts), f"accuracy of the objectives against the dimension, {name}")
    rows = [[objective, *(f"{100 * run[0]:.1f}" for run in runs)] for objective, runs in found.items()]
    spreads = np.ptp([[run[0] for run in runs] for runs in found.values()], axis=0)
    rows.append(["spread", *(f"{100 * spread:.1f}" for spread in spreads)])
    results.table(f"{name}, top-1", ["dimensions", *map(str, dimensions)], rows)
    smaller = "smaller" if spreads[-1] < spreads[0] else "NOT smaller, so that the paper's finding is not reproduced"
    results.say(f"""The paper finds that the objectives differ less as features grow. On {name} the spread between the
        best and the worst is {100 * spreads[0]:.1f} points at {dimensions[0]} dimensions and {100 * spreads[-1]:.1f} at
        {dimensions[-1]}: {smaller}. It also finds w-OVR ahead of u-OVR where features are small: here the difference at
        {dimensions[0]} dimensions is {100 * (found["w-OVR"][0][0] - found["u-OVR"][0][0]):+.1f} points.""")

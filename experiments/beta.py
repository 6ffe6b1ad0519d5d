"""Figure 1 of Perronnin et al. (CVPR 2012): accuracy of one-vs-rest against the imbalance beta."""

from pathlib import Path

import manyclass as mc
from experiments.figures import curve, finish, panels
from experiments.results import Results, mean_error
from experiments.scores import accuracies
from experiments.sources import Split, available

NAMES = ("Caltech features", "generated")
DIMENSIONS = (32, 128, 2048)  # the last stands for all


def betas(n_classes: int) -> list[float]:
    """1, 4, 16, ... up to all other classes."""
    powers = [4.0**j for j in range(6) if 4**j < n_classes - 1]
    return [*powers, n_classes - 1.0]


def run(folder: Path | None, seeds: int = 2) -> Results:
    """The page: one chart for each data set, one curve for each dimension."""
    results = Results("beta", "How many negatives for a positive")
    results.say(f"""Top-1 test accuracy, mean over classes and over {seeds} seeds, of one-vs-rest with hinge loss.
        Plain lines: w-OVR with `beta` negatives for every positive, drawn anew in each epoch. Dashed lines: u-OVR, all
        other classes. A cross marks the beta that the default finds by itself. Fewer dimensions are principal
        components of the same features.""")
    chosen = {name: source(0) for name, source in available(folder).items() if name in NAMES}
    drawn, charts = panels([f"{name}, {split.n_classes} classes" for name, split in chosen.items()], "beta", "top-1, %")
    rows = []
    for chart, (name, split) in zip(charts, chosen.items(), strict=True):
        for position, d in enumerate(sorted({min(d, split.X.shape[1]) for d in DIMENSIONS})):
            rows.append([name, str(d), *_one(chart, position, split.projected(d), seeds)])
    results.figure(finish(drawn, charts), "accuracy against the number of negatives for a positive")
    results.table("Best beta", ["data", "d", "w-OVR", "at beta", "u-OVR", "gain", "beta 1", "found", "at beta"], rows)
    results.say("""The paper finds that beta matters most for small features, that beta 1 is not enough there, and that
        it hardly matters for the largest. `gain` is w-OVR at its best beta less u-OVR, in points; the best of several
        betas is chosen on the test set here, as in the paper's figure, so that a gain of a few tenths is chance.""")
    results.say(_verdict(rows))
    return results


def _verdict(rows: list[list[str]]) -> str:
    said = []
    for name in dict.fromkeys(row[0] for row in rows):
        gains = [float(row[5]) for row in rows if row[0] == name]
        found = "as in the paper" if gains[0] > gains[-1] and gains[0] >= 1 else "not as in the paper"
        said.append(f"{name}, {gains[0]:+.1f} for the smallest features and {gains[-1]:+.1f} for the largest, {found}")
    behind = [float(row[2]) - float(row[6]) for row in rows]
    return f"""The gain is, on {"; on ".join(said)}. Beta 1 is {min(behind):.1f} to {max(behind):.1f} points behind the
        best everywhere, the largest features included."""


def _one(chart: object, position: int, split: Split, seeds: int) -> list[str]:
    grid, d = betas(split.n_classes), split.X.shape[1]

    def accuracy(beta: float | None) -> float:
        return mean_error([accuracies(split, seed, beta=beta)[0] for seed in range(seeds)])[0]

    means, unweighted = [accuracy(beta) for beta in grid], accuracy(None)
    fitted = mc.StochasticClassifier(random_state=0).fit(split.X, split.y)
    found = fitted.beta_ or split.n_classes - 1.0
    reached = mc.evaluation.accuracy(split.y_test, fitted.predict(split.X_test))
    curve(chart, position, grid, means, f"d = {d}")
    curve(chart, position, [grid[0], grid[-1]], [unweighted] * 2, "", linestyle="--", marker="", linewidth=1)
    curve(chart, position, [found], [reached], "", marker="x", markersize=9, linestyle="", markeredgewidth=2)
    best = max(range(len(grid)), key=means.__getitem__)
    gain = 100 * (means[best] - unweighted)
    shown = [f"{100 * means[best]:.1f}", f"{grid[best]:g}", f"{100 * unweighted:.1f}", f"{gain:+.1f}"]
    return [*shown, f"{100 * means[0]:.1f}", f"{100 * reached:.1f}", f"{found:.0f}"]

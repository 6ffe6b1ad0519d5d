"""Figure 2 of Perronnin et al. (CVPR 2012): three ways to regularize, against passes; and how to set t0.

Two minutes on one core.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import manyclass as mc
from experiments.figures import curve, finish, panels
from experiments.picture_draws import LARGEST, Draw, Parts, available, drawn, signatures
from experiments.results import Results, percent
from experiments.stochastic_fits import SEEDS, Settings, ahead, scored
from experiments.verdicts import above, alike

RIDGES, STEPS = (1e-4, 1e-3), (1 / 8, 1 / 2)
DECREASING, FIXED, NONE = "(i) ridge, decreasing step", "(ii) ridge, fixed step", "(iii) no ridge, fixed step"
HEURISTIC = "(i) with Bottou's t0"
PASSES = (1, 4, 16, 64)
CLASSES = 50  # drawn by the seed


def first_step(ridge: float) -> float:
    """That of Bottou's code for the hinge, the root of the length of a typical w: t0 is 1 / (ridge * first step).

    >>> first_step(1e-4)
    10.0
    """
    return float(ridge**-0.25)


STRATEGIES: dict[str, list[Settings]] = {
    DECREASING: [{"regularization": r, "step": s, "step_decay": True} for r in RIDGES for s in STEPS],
    FIXED: [{"regularization": r, "step": s} for r in RIDGES for s in STEPS],
    NONE: [{"step": s} for s in (1 / 32, 1 / 8, 1 / 2, 2.0)],
    HEURISTIC: [{"regularization": r, "step": first_step(r), "step_decay": True} for r in RIDGES],
}


class Course(NamedTuple):
    """Top-1 test accuracy after 1, 4, 16, ... passes, with the best settings; and where it is stopped."""

    settings: Settings
    tested: list[float]
    stop: int

    @property
    def stopped(self) -> float:
        """Where it is stopped."""
        return self.tested[self.stop]


def run(folder: Path | None, seeds: range = SEEDS) -> Results:
    """The page: one chart for each collection, one curve for each strategy."""
    results = Results("regularization", "Three ways to regularize")
    names = available(folder)
    if folder is None or not names:
        results.say("Neither Tiny-ImageNet nor Caltech's photographs are there.")
        return results
    width, settings = signatures(folder, names[0], LARGEST).shape[1], len(STRATEGIES[NONE])
    results.say(f"""Top-1 test accuracy in percent, mean over classes, then mean and standard error over {len(seeds)}
        seeds, of w-OVR with beta 1 after so many passes; a pass sees every positive of a class and as many negatives.
        The largest signatures of the [objectives](objectives.md), {LARGEST}, {width:,} numbers, of {CLASSES} classes
        that are drawn.
        Each strategy has {settings} settings: ridges of {", ".join(f"{r:g}" for r in RIDGES)} with first steps of
        {" and ".join(f"{s:g}" for s in STEPS)}, or as many steps without a ridge; that with Bottou's t0 has the ridges
        alone. The rows to choose by choose the setting, and after how many passes to stop, out of 1, 4, 16 and 64.
        The machines are the last ones, not averages.""")
    figure, charts = panels(names, "passes", "top-1, %")
    for chart, name in zip(charts, names, strict=True):
        by_seed = [
            {way: course(folder, Draw(name, LARGEST, seed, CLASSES), way) for way in STRATEGIES} for seed in seeds
        ]
        found = {way: [each[way] for each in by_seed] for way in STRATEGIES}
        for position, (way, each) in enumerate(found.items()):
            curve(chart, position, PASSES, np.mean([one.tested for one in each], axis=0).tolist(), way)
        _table(results, name, found)
        _judge(results, name, found)
    results.figure(finish(figure, charts), "accuracy against passes for three regularizations")
    return results


def course(folder: Path, draw: Draw, strategy: str) -> Course:
    """The best of a strategy's settings."""
    parts = drawn(folder, draw)
    found = [(one, by_pass(parts, one | {"random_state": draw.seed}, PASSES)) for one in STRATEGIES[strategy]]
    settings, scores = max(found, key=lambda one: max(score.judged for score in one[1]))
    return Course(settings, [score.top1 for score in scores], int(np.argmax([score.judged for score in scores])))


def by_pass(parts: Parts, settings: Settings, passes: Sequence[int]) -> list[Any]:
    """Scores after so many passes."""
    machine = mc.StochasticClassifier("ovr", beta=1.0, n_threads=1, **settings)
    found = []
    for seen in range(1, passes[-1] + 1):
        machine.partial_fit(*parts.train, classes=np.unique(parts.train[1]))
        if seen in passes:
            found.append(scored(machine, parts))
    return found


def _table(results: Results, name: str, found: dict[str, list[Course]]) -> None:
    rows = []
    for way, courses in found.items():
        after = [percent([one.tested[at] for one in courses]) for at in range(len(PASSES))]
        ridges = ", ".join(f"{r:g}" for r in sorted({one.settings.get("regularization", 0.0) for one in courses}))
        steps = ", ".join(f"{s:.3g}" for s in sorted({one.settings["step"] for one in courses}))
        rows.append([way, ridges, steps, *after, percent([one.stopped for one in courses])])
    columns = ["strategy", "ridge", "first step", *(f"after {n}" for n in PASSES), "stopped"]
    results.table(f"{name}, accuracy after passes", columns, rows)


def _judge(results: Results, name: str, found: dict[str, list[Course]]) -> None:
    ends = {way: [one.stopped for one in courses] for way, courses in found.items()}
    explicit = {way: ahead(ends[NONE], ends[way]) for way in (DECREASING, FIXED)}
    results.finding(
        "Figure 2",
        f"Early stopping alone ends within a point of both kinds of ridge ({name}).",
        alike(list(explicit.values()), 1.0),
        f"(iii) is ahead of (i) by {explicit[DECREASING].shown()} points and of (ii) by {explicit[FIXED].shown()}.",
    )
    first = {way: [one.tested[0] for one in courses] for way, courses in found.items()}
    early = {way: ahead(first[way], first[NONE]) for way in (HEURISTIC, DECREASING)}
    results.finding(
        "Figure 2",
        f"A decreasing step that begins large, as in Bottou's code, is faster in the first passes ({name}).",
        above([early[HEURISTIC]]),
        f"""after one pass (i) with Bottou's t0 is ahead of (iii) by {early[HEURISTIC].shown()} points, and by
        {early[DECREASING].shown()} with a first step that is chosen for the end.""",
    )
    kept = ahead(ends[HEURISTIC], ends[DECREASING])
    results.finding(
        "Section 4.2, t0",
        f"Bottou's t0 is no more than a point behind one that is chosen on validation ({name}).",
        above([kept], 1.0),
        f"it is ahead by {kept.shown()} points.",
    )

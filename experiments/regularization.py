"""Figure 2 of Perronnin et al. (CVPR 2012): three ways to regularize, against passes."""

from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.figures import curve, finish, panels
from experiments.results import Results
from experiments.sources import Split, available

STRATEGIES: dict[str, dict[str, Any]] = {
    "(i) explicit, decreasing step": {"step_decay": True},
    "(ii) explicit, fixed step": {},
    "(iii) none, fixed step": {"regularization": 0.0},
}
STRENGTHS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
PASSES = 256
SHOWN = (1, 4, 16, 64, 256)
NAMES = ("Caltech features", "generated")


def run(folder: Path | None) -> Results:
    """The page: one chart for each data set, one curve for each strategy."""
    results = Results("regularization", "Three ways to regularize")
    results.say(f"""Top-1 test accuracy, mean over classes, of w-OVR with beta 1 after each of {PASSES} passes; a pass
        sees every positive of a class and as many negatives. The strength of (i) and (ii) is the one out of
        {len(STRENGTHS)} that is best after all passes on a fifth of the training examples, held out. (iii) only stops
        early, so it has nothing to choose but when. The machines that are tested are the last ones,
        not averages.""")
    chosen = {name: source(0) for name, source in available(folder).items() if name in NAMES}
    drawn, charts = panels(list(chosen), "passes", "top-1, %")
    rows = []
    for chart, (name, split) in zip(charts, chosen.items(), strict=True):
        for position, (strategy, settings) in enumerate(STRATEGIES.items()):
            strength = settings.get("regularization", None)
            strength = _best_strength(split, settings) if strength is None else strength
            accuracy = _by_pass(split.X, split.y, split.X_test, split.y_test, settings | {"regularization": strength})
            curve(chart, position, list(accuracy), list(accuracy.values()), strategy, markersize=3)
            rows.append([name, strategy, f"{strength:g}", *(f"{100 * accuracy[n]:.1f}" for n in SHOWN)])
    results.figure(finish(drawn, charts), "accuracy against passes for three regularizations")
    results.table("Accuracy after passes", ["data", "strategy", "strength", *map(str, SHOWN)], rows)
    results.say(_verdict(rows))
    return results


def _by_pass(X: Any, y: Any, X_test: Any, y_test: Any, settings: dict[str, Any]) -> dict[int, float]:
    """Accuracy on the second rows after 1, 2, 4, ... passes over the first."""
    machine = mc.StochasticClassifier(beta=1.0, random_state=0, **settings)
    found = {}
    for seen in range(1, PASSES + 1):
        machine.partial_fit(X, y, classes=np.unique(y))
        if seen & (seen - 1) == 0:
            found[seen] = mc.evaluation.accuracy(y_test, machine.predict(X_test))
    return found


def _best_strength(split: Split, settings: dict[str, Any]) -> float:
    held = np.random.default_rng(0).random(len(split.y)) < 0.2

    def last(strength: float) -> float:
        parts = split.X[~held], split.y[~held], split.X[held], split.y[held]
        return list(_by_pass(*parts, settings | {"regularization": strength}).values())[-1]

    return max(STRENGTHS, key=last)


def _verdict(rows: list[list[str]]) -> str:
    spreads = []
    for name in dict.fromkeys(row[0] for row in rows):
        last = [float(row[-1]) for row in rows if row[0] == name]
        spreads.append(f"{max(last) - min(last):.1f} points on {name}")
    return f"""The paper finds that all three end alike, and that (i) is a little faster at first. Here they end within
        {" and ".join(spreads)}."""

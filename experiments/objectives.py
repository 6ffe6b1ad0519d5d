"""Tables 2 and 3 of Perronnin et al. (CVPR 2012): the objectives against one another, top-1 and top-5."""

from pathlib import Path

import numpy as np

from experiments.results import Results, mean_error, percent
from experiments.scores import OBJECTIVES, accuracies
from experiments.sources import available

Found = dict[str, dict[str, list[tuple[float, float]]]]


def run(folder: Path | None, seeds: int = 3) -> Results:
    """The page; `seeds` runs of everything."""
    results = Results("objectives", "Objectives: one-vs-rest against multiclass, ranking and softmax")
    results.say(f"""Test accuracy in percent, mean over classes, then mean and standard error over {seeds} seeds, which
        draw the order of the examples, the part held out, and for Omniglot and the generated data also the examples.
        Defaults throughout: step and beta found on a sample, no regularization but early stopping. u-OVR sees every
        other class as a negative; w-OVR sees `beta` of them, found on validation.""")
    found: Found = {}
    for name, source in available(folder).items():
        split = source(0)
        results.say(f"""**{name}**: {len(split.y)} examples of {split.n_classes} classes to train on,
            {split.X.shape[1]} dimensions, {len(split.y_test)} to test on.""")
        found[name] = {
            objective: [accuracies(source(seed), seed, **settings) for seed in range(seeds)]
            for objective, settings in OBJECTIVES.items()
        }
    results.say("""Omniglot and the glyphs are described by histograms of gradient directions (`glyph_features`, 640
        dimensions) of drawings 32 pixels wide.""")
    for position, top in enumerate(("Top-1 (Tables 2 and 3)", "Top-5 (Table 2)")):
        results.table(top, ["data", *OBJECTIVES], [_row(name, runs, position) for name, runs in found.items()])
    _judge(results, found)
    return results


def _row(name: str, runs: dict[str, list[tuple[float, float]]], position: int) -> list[str]:
    return [name, *(percent([run[position] for run in runs[objective]]) for objective in OBJECTIVES)]


def _judge(results: Results, found: Found) -> None:
    results.say("""Against the paper, by differences at top-1 of more than two standard errors over seeds. So few seeds
        say little of small differences, and on Caltech and the glyphs they share one test set: what is below a point
        may be chance.""")
    for name, runs in found.items():
        rivals = ", ".join(_against(runs, objective) for objective in OBJECTIVES if objective != "w-OVR")
        results.say(f"- {name}: w-OVR is {rivals}.")
    results.say(f"""The paper finds w-OVR at least as good as the others wherever features are small for the number of
        classes, u-OVR and RNK well behind there, and all alike for large features; it has no softmax. Not reproduced
        here: {_exceptions(found)}.""")
    results.say("""RNK sees one rival for an example in an epoch, and so has sqrt(k) epochs, for k classes, where the
        others have one.""")


def _exceptions(found: Found) -> str:
    """Where w-OVR is behind an objective of the paper."""
    behind = [
        f"{name} ({objective} is ahead)"
        for name, runs in found.items()
        for objective in ("u-OVR", "MUL", "RNK", "WAR")
        if _against(runs, objective).startswith("worse")
    ]
    return "w-OVR is behind on " + ", ".join(behind) if behind else "nothing, w-OVR is behind nowhere"


def _against(runs: dict[str, list[tuple[float, float]]], objective: str) -> str:
    pairs = zip(runs["w-OVR"], runs[objective], strict=True)
    difference, error = mean_error([ours[0] - theirs[0] for ours, theirs in pairs])
    if abs(difference) <= 2 * max(error, np.finfo(float).tiny):
        return f"equal to {objective} ({100 * difference:+.1f})"
    return f"{'better' if difference > 0 else 'worse'} than {objective} ({100 * difference:+.1f})"

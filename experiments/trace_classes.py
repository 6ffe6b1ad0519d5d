"""Figures 1 to 3 of Harchaoui et al. (CVPR 2012): one-vs-rest against the trace norm as classes grow, and on codes."""

from pathlib import Path
from typing import Any

import numpy as np

import manyclass as mc
from experiments.figures import curve, finish, panels
from experiments.results import Results
from experiments.sources import Split, available

COUNTS = (8, 16, 32, 64, 128, 256)
TOPS = (1, 2, 4, 8, 16)
BLOCK = 16
NAMES = ("Caltech features", "generated")


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("trace_classes", "One-vs-rest against the trace norm")
    results.say("""Test accuracy in percent, mean over classes, one seed. One-vs-rest is w-OVR with its defaults; the
        trace norm is the best of a path of 6 x 4 on a tenth of the rows to train on, held out, and then trained on all
        of them.""")
    for name, source in available(folder).items():
        if name in NAMES:
            _by_classes(results, name, source(0))
            _by_top(results, name, source(0))
            _on_codes(results, name, source(0))
    return results


def _ways() -> dict[str, Any]:
    return {
        "one-vs-rest": mc.StochasticClassifier(random_state=0),
        "trace norm": mc.TraceNormPath(traces=6, ridges=4, tolerance=1e-3, random_state=0),
    }


def _some_classes(split: Split, count: int) -> Split:
    chosen = np.sort(np.random.default_rng(0).permutation(split.n_classes)[:count])
    train, test = np.isin(split.y, chosen), np.isin(split.y_test, chosen)
    return Split(split.X[train], split.y[train], split.X_test[test], split.y_test[test])


def _by_classes(results: Results, name: str, split: Split) -> None:
    counts = sorted({min(count, split.n_classes) for count in COUNTS})
    parts = [_some_classes(split, count) for count in counts]
    drawn, charts = panels([name], "classes", "top-1, %")
    rows, found = [], {}
    for position, way in enumerate(_ways()):
        fitted = [_ways()[way].fit(part.X, part.y) for part in parts]
        found[way] = [_top(one, part, 1) for one, part in zip(fitted, parts, strict=True)]
        curve(charts[0], position, counts, found[way], way)
        rows.append([way, *(f"{100 * value:.1f}" for value in found[way])])
    results.figure(finish(drawn, charts), f"accuracy against the number of classes, {name}")
    results.table(f"{name}, by the number of classes (Figure 2, top)", ["classes", *map(str, counts)], rows)
    gains = [100 * (b - a) for a, b in zip(found["one-vs-rest"], found["trace norm"], strict=True)]
    grows = "reproduced" if gains[-1] > gains[0] else "NOT reproduced"
    results.say(f"""The paper finds that the trace norm gains as classes grow. Here it gains {gains[0]:+.1f} points with
        {counts[0]} classes and {gains[-1]:+.1f} with {counts[-1]}: {grows}.""")


def _by_top(results: Results, name: str, split: Split) -> None:
    fitted = {way: one.fit(split.X, split.y) for way, one in _ways().items()}
    drawn, charts = panels([name], "k", "top-k, %")
    for position, (way, one) in enumerate(fitted.items()):
        curve(charts[0], position, TOPS, [_top(one, split, k) for k in TOPS], way)
    results.figure(finish(drawn, charts), f"top-k accuracy against k, {name}")
    rows = [[way, *(f"{100 * _top(one, split, k):.1f}" for k in TOPS)] for way, one in fitted.items()]
    results.table(f"{name}, top-k (Figure 2, bottom)", ["k", *map(str, TOPS)], rows)
    s = fitted["trace norm"].best_.singular_values_
    half = int(np.searchsorted(np.cumsum(s), s.sum() / 2)) + 1
    most = min(split.X.shape[1], split.n_classes)
    results.say(
        f"""The weights of the trace norm have rank {len(s)} of at most {most}; {half} singular values make up half of
        their sum (Figure 1)."""
    )


def _on_codes(results: Results, name: str, split: Split) -> None:
    quantizer = mc.ProductQuantizer(BLOCK, random_state=0).fit(split.X)
    train, test = quantizer.encode(split.X), quantizer.encode(split.X_test)
    rows = []
    for way in _ways():
        full, coded = _ways()[way].fit(split.X, split.y), _ways()[way].fit(train, split.y)
        values = full.score(split.X_test, split.y_test), coded.score(test, split.y_test)
        rows.append([way, *(f"{100 * v:.1f}" for v in (*values, coded.score(split.X_test, split.y_test)))])
    columns = ["method", "full", "compressed", "half-compressed"]
    results.table(f"{name}, trained on codes of {4 * BLOCK} times fewer bytes (Figure 3)", columns, rows)
    results.say("""The paper finds that testing on exact rows what was trained on codes, half-compressed, gets almost
        half of the loss back.""")


def _top(fitted: Any, split: Split, k: int) -> float:
    """Top-k test accuracy, mean over classes."""
    hits = (fitted.predict_top(split.X_test, k) == split.y_test[:, None]).any(axis=1)
    return float(np.mean([hits[split.y_test == c].mean() for c in np.unique(split.y_test)]))

"""What training on codes costs by stochastic gradient: tested on codes, and on exact rows. Two minutes on one core."""

from pathlib import Path
from typing import Any

import manyclass as mc
from experiments.results import Results, percent
from experiments.sources import Split, available
from experiments.stochastic_fits import ahead
from experiments.verdicts import Interval

BLOCKS = (4, 8, 16)
OBJECTIVES = ("ovr", "softmax")


def run(folder: Path | None, seeds: int = 5) -> Results:
    """The page."""
    results = Results("compressed", "Trained on codes, tested on exact features")
    results.say(f"""Top-1 test accuracy in percent over all examples, mean and standard error over {seeds} seeds, of
        classifiers trained on exact rows (full), trained and tested on decoded codes (compressed), and trained on codes
        but tested on exact rows (half-compressed), all by stochastic gradient with the library's defaults. A code has
        one byte for every block of columns; codebooks are fitted on the rows to train on.""")
    name, source = next(iter(available(folder).items()))
    split = source(0)
    columns = ["block", "compression", "full", "compressed", "half-compressed", "exact less full", "exact less codes"]
    coded = {block: _coded(split, block) for block in BLOCKS}
    for objective in OBJECTIVES:
        rows, costs, backs = _rows(split, coded, objective, seeds)
        results.table(f"{name}, {objective}", columns, rows)
        results.say(_verdict(costs, backs))
    results.say("""Intervals of 95 % are over seeds, that is, over the order of the examples and the part held out:
        codes and the rows to test on are the same in all of them.""")
    return results


def _verdict(costs: list[Interval], backs: list[Interval]) -> str:
    """What the intervals carry, for each block."""
    words = {1: "behind", 0: "not told from", -1: "ahead of"}
    said = [f"{words[(c.high < 0) - (c.low > 0)]} full ones for block {b}" for b, c in zip(BLOCKS, costs, strict=True)]
    gained = [str(block) for block, back in zip(BLOCKS, backs, strict=True) if back.low > 0]
    exact = f"is more often right than on codes for blocks {', '.join(gained)}" if gained else "is not told from codes"
    return f"On exact rows, machines of codes are {'; '.join(said)}. The same machine on exact rows {exact}."


def _coded(split: Split, block: int) -> tuple[mc.QuantizedMatrix, mc.QuantizedMatrix]:
    """The rows to train on and those to test on, as codes."""
    quantizer = mc.ProductQuantizer(block, random_state=0).fit(split.X)
    return quantizer.encode(split.X), quantizer.encode(split.X_test)


def _rows(
    split: Split, coded: dict[int, Any], objective: str, seeds: int
) -> tuple[list[list[str]], list[Interval], list[Interval]]:
    """The table, and for each block by how many points exact rows are ahead of full machines, and of codes."""
    full = [_fitted(split.X, split, objective, seed).score(split.X_test, split.y_test) for seed in range(seeds)]
    rows, costs, backs = [], [], []
    for block, (train, test) in coded.items():
        fitted = [_fitted(train, split, objective, seed) for seed in range(seeds)]
        compressed, half = ([one.score(X, split.y_test) for one in fitted] for X in (test, split.X_test))
        costs.append(ahead(half, full))
        backs.append(ahead(half, compressed))
        shown = [*map(percent, (full, compressed, half)), costs[-1].shown(), backs[-1].shown()]
        rows.append([str(block), f"{4 * block} times", *shown])
    return rows, costs, backs


def _fitted(X: Any, split: Split, objective: str, seed: int) -> mc.StochasticClassifier:
    return mc.StochasticClassifier(objective, random_state=seed).fit(X, split.y)

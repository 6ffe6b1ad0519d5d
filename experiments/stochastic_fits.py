"""Fits of stochastic classifiers on draws of pictures, each found once: pages on Perronnin et al. share many of them.

As the paper has it: from zero, no ridge, a fixed step, stopped by rows to choose by, and the last iterate kept. Every
objective has as many settings, and takes the one that is best on those rows.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import manyclass as mc
from experiments import photographs, picture_draws
from experiments.picture_draws import Draw, drawn
from experiments.verdicts import Interval, over_seeds
from manyclass import _native
from manyclass._core.digest import sha256_digest

SEEDS = range(5)
USUAL: dict[str, Any] = {"averaging": False, "refit": False, "patience": 5, "tolerance": 2e-3, "max_epochs": 150}

Settings = dict[str, Any]


class Score(NamedTuple):
    """Mean accuracy over classes of the rows to choose by, and top-1 and top-5 of those to test on."""

    judged: float
    top1: float
    top5: float


class Best(NamedTuple):
    """The settings that are best on the rows to choose by, and how good."""

    settings: Settings
    score: Score


def _grid(objective: str, steps: Sequence[float], betas: Iterable[Any] = (None,)) -> list[Settings]:
    found = [{"objective": objective, "step": step} for step in steps]
    return [one | {"beta": beta} for one in found for beta in betas] if objective == "ovr" else found


# Factors of four around what was best in a trial with one draw of each collection; each objective has five settings.
_STEPS = (1 / 512, 1 / 128, 1 / 32, 1 / 8, 1 / 2, 2.0)
GRIDS: dict[str, list[Settings]] = {
    "u-OVR": _grid("ovr", _STEPS[:5]),
    "w-OVR": [*_grid("ovr", _STEPS[2:4], (4.0, 16.0)), *_grid("ovr", _STEPS[2:3], (64.0,))],
    "MUL": _grid("multiclass", _STEPS[:5]),
    "RNK": _grid("ranking", _STEPS[1:]),
    "WAR": _grid("warp", _STEPS[:5]),
}


def best(folder: Path, draw: Draw, grid: Sequence[Settings]) -> Best:
    """Of several settings, by the rows to choose by; the first of equals."""
    found = [Best(one, score(folder, draw, one)) for one in grid]
    return max(found, key=lambda one: one.score.judged)


def compare(folder: Path, draw: Draw, grids: Mapping[str, Sequence[Settings]], seeds: range) -> dict[str, list[Best]]:
    """The best of several grids, for each seed, whose rows are drawn once."""
    found: dict[str, list[Best]] = {way: [] for way in grids}
    for seed in seeds:
        for way, grid in grids.items():
            found[way].append(best(folder, draw._replace(seed=seed), grid))
    return found


def score(folder: Path, draw: Draw, settings: Settings) -> Score:
    """That of the machines of these settings, found once."""
    said = (draw, picture_draws.COLLECTIONS[draw.data], sorted((USUAL | settings).items()))
    return Score(*found_once(said, lambda: _scored(folder, draw, USUAL | settings)))


def found_once(said: Any, find: Callable[[], Any]) -> Any:
    """What JSON keeps of a finding, by all that it hangs on and by the code."""
    path = photographs.room() / f"fit-{sha256((repr(said) + _code()).encode()).hexdigest()[:24]}.json"
    if not path.exists():
        path.write_text(json.dumps(find()), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


def _scored(folder: Path, draw: Draw, settings: Settings) -> Score:
    parts = drawn(folder, draw)
    machine = mc.StochasticClassifier(random_state=draw.seed, n_threads=1, **settings)
    try:
        machine.fit(*parts.train, validation=parts.judge)
    except FloatingPointError:  # too long a step, which is as good as nothing
        return Score(0.0, 0.0, 0.0)
    return scored(machine, parts)


def scored(machine: Any, parts: picture_draws.Parts) -> Score:
    """How good a machine is."""
    judged, tested = (machine.decision_function(X) for X, _ in parts[1:])
    top = mc.evaluation.top_k_accuracy
    return Score(top(parts.judge[1], judged, 1), top(parts.test[1], tested, 1), top(parts.test[1], tested, 5))


@cache
def _code() -> str:
    """Tells fits of this code from those of other code."""
    scripts = [Path(module.__file__ or "") for module in (photographs, picture_draws)]
    sources = (*sorted(Path(mc.__file__).parent.rglob("*.py")), *scripts, Path(_native.__file__))
    return sha256_digest([source.read_bytes() for source in sources])


def ahead(ours: Sequence[float], theirs: Sequence[float]) -> Interval:
    """By how many points, over seeds.

    >>> ahead([0.5, 0.6, 0.7], [0.4, 0.5, 0.6]).shown()
    '+10.0 [+10.0, +10.0]'
    """
    return over_seeds([100 * (a - b) for a, b in zip(ours, theirs, strict=True)])

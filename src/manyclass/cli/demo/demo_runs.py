"""The classifiers of the demo: each is what a `manyclass train` and a `manyclass evaluate` would give.

The search of the demo: what `manyclass encode --tune --evaluate` gives for kinds that were never learned.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyclass.cli._console import Console
from manyclass.cli.train import parse_settings
from manyclass.runs.exemplar_methods import choose_methods
from manyclass.runs.gallery_builder import GalleryPlan, build_gallery
from manyclass.runs.recipe import ObjectiveName, Tune

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Classifier:
    """A run of the demo: its name, and the options of `manyclass train`."""

    name: str
    objective: ObjectiveName
    tune: list[Tune] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)

    def words(self, data: Path, out: Path, seed: int) -> list[str]:
        """The command that does the same."""
        tuned = [word for one in self.tune for word in ("--tune", one.value)]
        given = [word for name, value in self.options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        return ["train", str(data), "-o", str(out), "--objective", self.objective.value, *tuned, *given, *_seed(seed)]


# Few epochs and a short path: the demo is to take a minute. Steps found by themselves are too small for so few epochs;
# these are the best of 1, 4 and 16 on validation rows of other pictures, those of seed 1.
_SHORT: dict[str, Any] = {"max_epochs": 25}

_PATH: dict[str, Any] = {"traces": "3e-3,8e-4,2e-4,5e-5", "ridges": "1e-5,1e-8", "tolerance": 1e-2}

CLASSIFIERS = (
    Classifier("ovr", ObjectiveName.ovr, [Tune.beta], {"step": 4, **_SHORT}),
    Classifier("ovr-unweighted", ObjectiveName.ovr, options={"beta": "none", "step": 4, **_SHORT}),
    Classifier("multiclass", ObjectiveName.multiclass, options={"step": 1, **_SHORT}),
    Classifier("ranking", ObjectiveName.ranking, options={"step": 1, "max_epochs": 5}),
    Classifier("warp", ObjectiveName.warp, options={"step": 1, **_SHORT}),
    Classifier("softmax", ObjectiveName.softmax, options={"step": 4, **_SHORT}),
    Classifier("trace", ObjectiveName.trace, [Tune.path], _PATH),
)


def train_and_judge(
    one: Classifier, small: Path, whole: Path, out: Path, seed: int, quiet: bool, tell: Tell
) -> dict[str, Any]:
    """Train on the codes, judge on the features of the test part; what came of it."""
    from manyclass.estimators.progress import Progress
    from manyclass.runs.evaluation import evaluate
    from manyclass.runs.training import train

    console, words = Console(quiet), one.words(small, out, seed)
    tell(f"manyclass {' '.join(words)}")
    _forget_peak()
    run = train(
        small,
        out,
        one.objective,
        tune=one.tune,
        seed=seed,
        overwrite=True,
        callbacks=[] if quiet else [Progress()],
        arguments=words,
        notify=_tried_only(tell),
        warn=console.warn,
        **parse_settings(one.options),
    )
    judged = evaluate(out, whole, subset="test", warn=console.warn, progress=console.progress)
    return _summary(one, run.record, judged.record)


def _summary(one: Classifier, record: dict[str, Any], evaluation: dict[str, Any]) -> dict[str, Any]:
    model = record["model"]
    return {
        "name": one.name,
        "command": record["arguments"],
        **{key: evaluation[key] for key in ("top_1", "top_5", "mean_per_class")},
        "rows": evaluation["rows"],
        "seconds": record["seconds"],
        "bytes": model["bytes"],
        "beta": model.get("beta"),
        "rank": record["rank"] if record["grid"] else None,
        "tuning": record["tuning"],
    }


def _tried_only(tell: Tell) -> Tell:
    """Passes on what is being tried; that epochs ran out is meant to be so here."""
    return lambda message: tell(message) if message.startswith("trying") else None


def _seed(seed: int) -> list[str]:
    return ["--seed", str(seed)] if seed else []


def _forget_peak() -> None:
    """Let the system count the most memory in use from now on, so that every run has its own; Linux can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


_METHODS = "slem,kernel-slem,lda,whitening,none"

_FALSE_MATCH = 0.05


def compare_searches(
    others: Path, world: Path, out: Path, seed: int, quiet: bool, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Methods by mean average precision, with intervals; settings are chosen on kinds apart from those reported."""
    words = ["encode", str(others), "--negatives", str(world), "-o", str(out), "--method", _METHODS]
    tell(f"manyclass {' '.join(words)} --tune --evaluate{f' --seed {seed}' if seed else ''}")
    methods = choose_methods(_METHODS, seed, {})
    plan = GalleryPlan(others, out, world, methods, None, _FALSE_MATCH, None, None, None, seed)
    result = build_gallery(plan, tune=True, evaluate=True, overwrite=True, tell=tell, quiet=quiet)
    found: list[dict[str, Any]] = result["evaluation"]["methods"]
    return found

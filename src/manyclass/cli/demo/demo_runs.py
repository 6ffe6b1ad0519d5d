"""What the demo trains and searches: each step is one of the commands train, evaluate and encode, which it names."""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyclass.cli.terminal.console import Console
from manyclass.cli.train import parse_settings
from manyclass.runs.recipe import ObjectiveName, Tune

_METHODS = "slem,kernel-slem,lda,whitening,none"


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
    Classifier("square", ObjectiveName.square),
    Classifier("trace", ObjectiveName.trace, [Tune.path], _PATH),
)


def train_and_judge(
    one: Classifier, small: Path, whole: Path, out: Path, seed: int, console: Console
) -> dict[str, Any]:
    """Train on the codes, judge on the features of the subset test; what came of it."""
    from manyclass.estimators.progress import Progress
    from manyclass.runs.evaluating.evaluation import evaluate
    from manyclass.runs.training import train

    def tried_only(message: str) -> None:
        """Passes on what is being tried; that epochs ran out is meant to be so here."""
        if message.startswith("trying"):
            console.info(message)

    words = one.words(small, out, seed)
    console.info(f"manyclass {' '.join(words)}")
    _forget_peak()
    run = train(
        small,
        out,
        one.objective,
        tune=one.tune,
        seed=seed,
        overwrite=True,
        callbacks=[] if console.silent else [Progress()],
        arguments=words,
        notify=tried_only,
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


def _seed(seed: int) -> list[str]:
    return ["--seed", str(seed)] if seed else []


def _forget_peak() -> None:
    """Let the system count the most memory in use from now on, so that every run has its own; Linux can."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def compare_searches(others: Path, world: Path, out: Path, seed: int, console: Console) -> list[dict[str, Any]]:
    """Methods by mean average precision, with intervals; settings are chosen on kinds apart from those reported."""
    from manyclass.runs.galleries.gallery_builder import build_gallery

    words = ["encode", str(others), "--negatives", str(world), "-o", str(out), "--method", _METHODS]
    console.info(" ".join(["manyclass", *words, "--tune", "--evaluate", *_seed(seed)]))
    result = build_gallery(
        others,
        out,
        negatives=world,
        method=_METHODS,
        tune=True,
        evaluate=True,
        seed=seed,
        overwrite=True,
        warn=console.info,  # that its negatives are other characters is no news
        notify=console.info,
        progress=console.progress,
    )
    found: list[dict[str, Any]] = result["evaluation"]["methods"]
    return found

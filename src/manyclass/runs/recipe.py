"""Recipe: what the options of `manyclass train` ask for."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import typer


class ObjectiveName(StrEnum):
    """What is minimized."""

    ovr = "ovr"
    multiclass = "multiclass"
    ranking = "ranking"
    warp = "warp"
    softmax = "softmax"
    trace = "trace"


class Tune(StrEnum):
    """What is chosen by the accuracy on validation."""

    step = "step"
    beta = "beta"
    regularization = "regularization"
    path = "path"


class ClassWeight(StrEnum):
    """How much examples count."""

    none = "none"
    balanced = "balanced"


class Sampling(StrEnum):
    """How examples are drawn."""

    uniform = "uniform"
    balanced = "balanced"


_ALWAYS = ("loss", "tolerance", "class_weight")

_HELD_OUT = ("validation_fraction", "refit")

_SOLVED = ("solver", "max_iter", "max_seconds", "fit_intercept")

_OPTIONS = {
    "StochasticClassifier": (
        *_ALWAYS, *_HELD_OUT, "beta", "regularization", "step", "step_decay", "max_epochs", "early_stopping",
        "patience", "sampling",
    ),
    "TraceNormClassifier": (*_ALWAYS, *_SOLVED, "trace", "ridge"),
    "TraceNormPath": (*_ALWAYS, *_HELD_OUT, *_SOLVED, "traces", "ridges"),
}  # fmt: skip

_ONE_VS_REST = ("loss", "beta")

# What belongs to a run and not to what is asked for.
_OF_A_RUN = ("callbacks", "checkpoint", "n_threads", "warm_start", "random_state")


@dataclass(frozen=True)
class Recipe:
    """An estimator by its name, the settings that are not its defaults, what to tune first, and the seed."""

    estimator: str
    settings: dict[str, Any]
    tune: tuple[str, ...]
    seed: int

    def made(self, **more: Any) -> Any:
        """The estimator, not fitted yet."""
        import manyclass as mc

        return getattr(mc, self.estimator)(**{**self.settings, "random_state": self.seed, **more})

    def all_settings(self) -> dict[str, Any]:
        """Every setting, defaults included."""
        params = self.made().get_params(deep=False)
        return {name: value for name, value in params.items() if name not in _OF_A_RUN} | {"tune": list(self.tune)}

    @property
    def judges(self) -> bool:
        """Whether it can do with a validation set."""
        return self.estimator != "TraceNormClassifier"


def make_recipe(objective: ObjectiveName, tune: list[Tune], seed: int, options: dict[str, Any]) -> Recipe:
    """The recipe of some options, by the names of the arguments; those that are None are left to the estimator."""
    given = {name: value for name, value in options.items() if value is not None}
    if objective is not ObjectiveName.trace:
        name, settings = "StochasticClassifier", {"objective": objective.value}
    else:
        path = Tune.path in tune or "traces" in given or "ridges" in given
        name, settings = "TraceNormPath" if path else "TraceNormClassifier", {}
    for option in given:
        other = name == "StochasticClassifier" and option in _ONE_VS_REST and objective is not ObjectiveName.ovr
        if option not in _OPTIONS[name] or other:
            raise typer.BadParameter(f"--{option.replace('_', '-')} does not go with {_words(objective, name)}")
    _check_tuning(objective, tune, given)
    settings |= {option: _value(option, value) for option, value in given.items()}
    ordered = tuple(one.value for one in Tune if one in tune and one is not Tune.path)
    return Recipe(name, settings, ordered, seed)


def _words(objective: ObjectiveName, estimator: str) -> str:
    return f"--objective {objective.value}" + (" --tune path" if estimator == "TraceNormPath" else "")


def _check_tuning(objective: ObjectiveName, tune: list[Tune], given: dict[str, Any]) -> None:
    for one in tune:
        if (one is Tune.path) != (objective is ObjectiveName.trace) or (
            one is Tune.beta and objective is not ObjectiveName.ovr
        ):
            raise typer.BadParameter(f"--tune {one.value} does not go with --objective {objective.value}")
        if one.value in given and given[one.value] != "auto":
            raise typer.BadParameter(f"--tune {one.value} does not go with --{one.value}, which it is to find")
    if tune and given.get("early_stopping") is False:
        raise typer.BadParameter("--tune needs early stopping; leave out --no-early-stopping")


def _value(option: str, value: Any) -> Any:
    if option in ("beta", "step"):
        return _number_or_word(option, value, ("auto", "none") if option == "beta" else ("auto",))
    if option == "class_weight":
        return None if value is ClassWeight.none else str(value)
    if option == "sampling":
        return str(value)
    if option in ("traces", "ridges"):
        return _strengths(option, value)
    return value


def _number_or_word(option: str, value: str, words: tuple[str, ...]) -> Any:
    if value in words:
        return None if value == "none" else value
    try:
        return _finite(value)
    except ValueError:
        raise typer.BadParameter(f"--{option} must be a number or {' or '.join(words)}; got {value}") from None


def _finite(value: str) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def _strengths(option: str, value: str) -> int | list[float]:
    """How many, or which ones."""
    try:
        return int(value) if value.isdigit() else [_finite(word) for word in value.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--{option} must be a count, or strengths with commas; got {value}") from None

"""Recipe: which estimator a run fits, with which settings, and what is tuned first."""

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from manyclass._core.errors import SettingsError
from manyclass._core.lazy import find_public


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


Name = TypeVar("Name", bound=StrEnum)


_STOCHASTIC, _TRACE, _PATH = "StochasticClassifier", "TraceNormClassifier", "TraceNormPath"

_ONE_VS_REST = ("loss", "beta")  # which other objectives of the stochastic classifier have not

# What a run gives to an estimator by itself.
_OF_A_RUN = ("callbacks", "checkpoint", "n_threads", "warm_start", "random_state")


@dataclass(frozen=True)
class Recipe:
    """An estimator by its name, the settings that are not its defaults, what to tune first, and the seed."""

    estimator: str
    settings: dict[str, Any]
    tune: tuple[str, ...]
    seed: int
    all_settings: dict[str, Any]  # defaults included

    def make(self, **more: Any) -> Any:
        """The estimator, not fitted yet."""
        return find_public(self.estimator)(**{**self.settings, "random_state": self.seed, **more})

    @property
    def takes_validation(self) -> bool:
        """Whether it can do with a validation set."""
        return self.estimator != _TRACE

    @property
    def checkpoint(self) -> str | None:
        """The file to go on from; None if it begins again."""
        return {_STOCHASTIC: "fit", _PATH: "path"}.get(self.estimator)


def make_recipe(objective: str, tune: Iterable[str], seed: int, settings: Mapping[str, Any]) -> Recipe:
    """The recipe of an objective and of settings, which must be arguments of its estimator."""
    kind, tuned = _one_of(ObjectiveName, objective, "objective"), [_one_of(Tune, name, "tune") for name in tune]
    if kind is not ObjectiveName.trace:
        estimator, fixed = _STOCHASTIC, {"objective": kind.value}
    else:
        path = Tune.path in tuned or "traces" in settings or "ridges" in settings
        estimator, fixed = _PATH if path else _TRACE, {}
    defaults = _defaults(estimator)
    known = defaults.keys() - {"objective"}
    if estimator == _STOCHASTIC and kind is not ObjectiveName.ovr:
        known -= set(_ONE_VS_REST)
    for name in settings:
        if name not in known:
            path_too = " `tune='path'`" if estimator == _PATH else ""
            raise SettingsError(f"`{name}` does not go with `objective='{kind}'`{path_too}")
    _check_tuning(kind, tuned, settings)
    ordered = tuple(one.value for one in Tune if one in tuned and one is not Tune.path)
    chosen = {**fixed, **settings}
    complete = dict(sorted({**defaults, **chosen}.items())) | {"tune": list(ordered)}
    return Recipe(estimator, chosen, ordered, seed, complete)


def _defaults(estimator: str) -> dict[str, Any]:
    """The settings of an estimator that are not the run's own, by its signature."""
    parameters = inspect.signature(find_public(estimator)).parameters
    return {name: one.default for name, one in parameters.items() if name not in _OF_A_RUN}


def _one_of(names: type[Name], word: str, argument: str) -> Name:
    if word not in list(names):
        raise SettingsError(f"`{argument}` must be one of {', '.join(names)}; got {word!r}")
    return names(word)


def _check_tuning(objective: ObjectiveName, tune: list[Tune], settings: Mapping[str, Any]) -> None:
    for one in tune:
        if (one is Tune.path) != (objective is ObjectiveName.trace) or (
            one is Tune.beta and objective is not ObjectiveName.ovr
        ):
            raise SettingsError(f"`tune='{one}'` does not go with `objective='{objective}'`")
        if one.value in settings and settings[one.value] != "auto":
            raise SettingsError(f"`tune='{one}'` does not go with `{one}`, which it is to find")
    if tune and settings.get("early_stopping") is False:
        raise SettingsError("`tune` needs early stopping; leave out `early_stopping=False`")

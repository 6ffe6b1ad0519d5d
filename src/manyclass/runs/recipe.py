"""Recipe: which estimator a run fits, with which settings, and what is tuned first."""

import inspect
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from manyclass._core.checks import check_count
from manyclass._core.errors import SettingsError
from manyclass._core.lazy import find_public
from manyclass._core.shards import Shard


class ObjectiveName(StrEnum):
    """What is minimized."""

    auto = "auto"
    ovr = "ovr"
    multiclass = "multiclass"
    ranking = "ranking"
    warp = "warp"
    softmax = "softmax"
    square = "square"
    trace = "trace"


class Tune(StrEnum):
    """What is chosen by the accuracy on validation."""

    step = "step"
    beta = "beta"
    regularization = "regularization"
    path = "path"


Name = TypeVar("Name", bound=StrEnum)


_STOCHASTIC, _TRACE, _PATH = "StochasticClassifier", "TraceNormClassifier", "TraceNormPath"

_SQUARE = "SquareLossClassifier"

_CHECKPOINTS = {_STOCHASTIC: "fit", _PATH: "path"}

_ONE_VS_REST = ("loss", "beta")  # which other objectives of the stochastic classifier have not

# What a run gives to an estimator by itself.
_OF_A_RUN = ("callbacks", "checkpoint", "verbose", "n_threads", "warm_start", "random_state")


@dataclass(frozen=True)
class Recipe:
    """What a run fits: `estimator(**settings)`, after what is in `tune` has been chosen.

    `record` has every setting, defaults included. `checkpoint` names the file to go on from; None if there is none.
    """

    estimator: type[Any]
    settings: dict[str, Any]
    tune: tuple[str, ...]
    seed: int
    record: dict[str, Any]
    checkpoint: str | None
    takes_validation: bool
    takes_callbacks: bool = True


def make_recipe(objective: str, tune: Iterable[str], seed: int, settings: Mapping[str, Any]) -> Recipe:
    """The recipe of an objective and of settings, which must be arguments of its estimator."""
    kind = _one_of(ObjectiveName, objective, "objective")
    tuned = [_one_of(Tune, name, "tune") for name in ([tune] if isinstance(tune, str) else tune)]
    if kind is ObjectiveName.auto and (tuned or not settings.keys().isdisjoint(_ONE_VS_REST)):
        kind = ObjectiveName.ovr  # of which these are settings, or which they are found for
    _check_tuning(kind, tuned, settings)
    check_count(seed, "seed", least=0)
    chosen = {name: None if _is_all(name, value) else value for name, value in settings.items()}
    if kind is ObjectiveName.square:
        # The sums, d x d numbers, would make the file of a model many times as large.
        name, chosen = _SQUARE, {"keep_sums": False, **chosen}
    elif kind is not ObjectiveName.trace:
        name, chosen["objective"] = _STOCHASTIC, kind.value
    else:
        name = _PATH if Tune.path in tuned or "traces" in settings or "ridges" in settings else _TRACE
    estimator = find_public(name)
    parameters = inspect.signature(estimator).parameters
    known = {key: parameter.default for key, parameter in parameters.items() if key not in _OF_A_RUN}
    for setting in settings:
        of_others = name == _STOCHASTIC and kind is not ObjectiveName.ovr and setting in _ONE_VS_REST
        if setting not in known or of_others:
            path_too = " `tune='path'`" if name == _PATH else ""
            raise SettingsError(f"`{setting}` does not go with `objective='{kind}'`{path_too}")
    ordered = tuple(map(str, filter(tuned.__contains__, (Tune.step, Tune.beta, Tune.regularization))))
    record = dict(sorted({**known, **chosen}.items())) | {"tune": list(ordered)}
    random = {"random_state": seed} if "random_state" in parameters else {}
    return Recipe(
        estimator,
        {**chosen, **random},
        ordered,
        seed,
        record,
        _CHECKPOINTS.get(name),
        name in (_STOCHASTIC, _PATH),
        "callbacks" in parameters,
    )


def check_takes_prior(recipe: Recipe, shard: Shard | None) -> None:
    """Refuse a prior where it will not be known what scores mean, before anything is learned."""
    if shard is not None:
        raise SettingsError("`prior` does not go with `classes`, a part of them; give it when all parts are joined")
    settings = recipe.record
    linked = settings.get("objective") == ObjectiveName.softmax or settings.get("loss") == "logistic"
    if recipe.estimator.__name__ == _STOCHASTIC and not linked and not settings["early_stopping"]:
        raise SettingsError(
            "`prior` needs probabilities, which rows held out teach; leave out `early_stopping=False`, or calibrate "
            "the run and give the prior then"
        )
    if recipe.estimator.__name__ in (_TRACE, _PATH) and settings["loss"] not in ("softmax", "logistic"):
        raise SettingsError("`prior` needs probabilities; use `loss='softmax'` or `loss='logistic'`")


def _is_all(name: str, value: Any) -> bool:
    """Whether it is a beta of as many negatives as there are, which records write as None."""
    return name == Tune.beta and isinstance(value, float) and value == math.inf


# What is divided among workers, of the objectives that can be.
_DIVIDED = {
    ObjectiveName.auto: "classes",
    ObjectiveName.ovr: "classes",
    ObjectiveName.square: "rows",
    ObjectiveName.trace: "rows",
}

_WORDS = {"auto": "one-vs-rest", "ovr": "one-vs-rest", "square": "squares in closed form", "trace": "the trace norm"}

_RATE = 2e10  # products and sums of float32 a second, of one core: a guess, for a sentence

# How often every row meets every class, about, in units of one product X W; a trace norm has few columns, many times.
_PASSES = {"auto": 5.0, "ovr": 5.0, "square": 1.0, "trace": 20.0}

_SOON = 60.0  # seconds on one machine, below which others are no help


def division_words(objective: str, workers: int, shape: tuple[int, int], n_classes: int, cores: int) -> list[str]:
    """How workers share a fit, and whether they are worth it; `cores` are those of this machine.

    >>> division_words("ovr", 3, (9_000_000, 130_000), 10_184, 8)
    ['one-vs-rest by 3 workers, at most 3,456 classes each']
    >>> division_words("ovr", 4, (1000, 64), 200, 2)
    ['one-vs-rest by 2 of 4 workers, at most 128 classes each', 'this machine alone needs less than a second, of which \
a cluster saves nothing']
    """
    kind, (n, d) = ObjectiveName(objective), shape
    if kind not in _DIVIDED:
        return [f"`objective='{kind}'` is not divided, as its classes compete: this machine alone computes"]
    shares = _shares(kind, workers, shape, n_classes)
    count = f"{len(shares)} of {workers} workers" if len(shares) < workers else f"{workers} workers"
    words = [f"{_WORDS[kind]} by {count}, at most {max(shares):,} {_DIVIDED[kind]} each"]
    own = min(n, d) if kind is ObjectiveName.square else 0
    seconds = 2.0 * n * d * (own + _PASSES[kind] * n_classes) / (_RATE * cores)
    if seconds < _SOON:
        time = f"about {seconds:.0f} s" if seconds >= 1 else "less than a second"
        words.append(f"this machine alone needs {time}, of which a cluster saves nothing")
    return words


def _shares(kind: ObjectiveName, workers: int, shape: tuple[int, int], n_classes: int) -> list[int]:
    """How many classes, or rows, each worker has that has any."""
    from manyclass.solvers.row_blocks import block_rows
    from manyclass.solvers.row_shards import leaf_count, ranges
    from manyclass.solvers.sgd.linear_weights import PANEL
    from manyclass.solvers.weighted_loss import chunk_rows

    if kind is ObjectiveName.trace:
        leaves = ranges(shape[0], leaf_count(shape[0], chunk_rows(n_classes)))
        held = (leaves[part] for part in ranges(len(leaves), workers))
        return [sum(leaf.stop - leaf.start for leaf in part) for part in held]
    total, block = (n_classes, PANEL) if _DIVIDED[kind] == "classes" else (shape[0], block_rows(*shape))
    parts = max(1, min(workers, -(-total // block)))
    return [len(Shard(number, parts).span(total, block)) for number in range(1, parts + 1)]


def _one_of(names: type[Name], word: str, argument: str) -> Name:
    if word not in list(names):
        raise SettingsError(f"`{argument}` must be one of {', '.join(names)}; got {word!r}")
    return names(word)


def _check_tuning(objective: ObjectiveName, tune: list[Tune], settings: Mapping[str, Any]) -> None:
    for one in tune:
        if (
            (one is Tune.path) != (objective is ObjectiveName.trace)
            or (one is Tune.beta and objective is not ObjectiveName.ovr)
            or objective is ObjectiveName.square
        ):
            raise SettingsError(f"`tune='{one}'` does not go with `objective='{objective}'`")
        if one.value in settings and settings[one.value] != "auto":
            raise SettingsError(f"`tune='{one}'` does not go with `{one}`, which it is to find")
    if Tune.regularization in tune and settings.get("step_decay") and settings.get("t0") is None:
        raise SettingsError("`tune='regularization'` tries 0 too, with which `step_decay` needs a `t0`; give one")
    if tune and settings.get("early_stopping") is False:
        raise SettingsError("`tune` needs early stopping; leave out `early_stopping=False`")

"""Are the settings of a stochastic classifier such that it can run?"""

from collections.abc import Collection
from numbers import Real
from typing import Any

import numpy as np

from manyclass import _checks
from manyclass.estimators.objectives import OBJECTIVES
from manyclass.losses.margin import MARGIN_LOSSES

SAMPLINGS = ("uniform", "balanced")


def check_settings(settings: Any) -> None:
    """Refuse the first setting that is not one, in a sentence; classes and data are checked elsewhere."""
    _checks.one_of(settings.objective, "objective", OBJECTIVES)
    _checks.one_of(settings.loss, "loss", MARGIN_LOSSES)
    _checks.one_of(settings.sampling, "sampling", SAMPLINGS)
    if settings.beta is not None and not _is_auto(settings.beta):
        number(settings.beta, "beta", "'auto', None or a positive number", above=0, most=np.inf)
    if not _is_auto(settings.step):
        number(settings.step, "step", "'auto' or a positive number", above=0)
    number(settings.regularization, "regularization", "a number, at least 0", least=0)
    number(settings.validation_fraction, "validation_fraction", "a number between 0 and 1", above=0, below=1)
    number(settings.tolerance, "tolerance", "a number, at least 0", least=0)
    _checks.count(settings.max_epochs, "max_epochs")
    _checks.count(settings.patience, "patience")
    if settings.n_threads is not None:
        _checks.count(settings.n_threads, "n_threads")
    class_weight(settings.class_weight)
    for name in ("step_decay", "early_stopping", "refit", "warm_start"):
        flag(getattr(settings, name), name)
    functions(settings.callbacks, "callbacks")


def flag(value: Any, name: str) -> None:
    """Refuse a setting that is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")


def number(
    value: Any,
    name: str,
    rule: str,
    above: float = -np.inf,
    least: float = -np.inf,
    below: float = np.inf,
    most: float | None = None,
) -> None:
    """Refuse a setting that is no number, or one out of bounds, with the words of the rule."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not (real and above < value and least <= value and (value < below if most is None else value <= most)):
        raise ValueError(f"{name} must be {rule}; got {value!r}")


def _is_auto(value: Any) -> bool:
    # An array has no one answer to what it equals.
    return isinstance(value, str) and value == "auto"


def class_weight(value: Any) -> None:
    """Refuse weights of classes that are none."""
    named = isinstance(value, str) and value == "balanced"
    if not (named or value is None or isinstance(value, dict)):
        raise ValueError(f"class_weight must be None, 'balanced' or a dictionary; got {value!r}")


def functions(value: Any, name: str) -> None:
    """Refuse what is no list of functions."""
    # Not what can be gone through once only, as there may be two phases.
    if not isinstance(value, Collection) or not all(callable(function) for function in value):
        raise ValueError(f"{name} must be a list of functions; got {value!r}")

"""Fitting what a recipe asks for, with everything in files that is needed to go on after a crash."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyclass.cli.examples import Examples
from manyclass.cli.recipe import Recipe
from manyclass.cli.tuning import Tuning

_FIT, _PATH = "fit", "path"


@dataclass(frozen=True)
class Fitted:
    """A classifier, the records of its fit, every value that was tried, and the rows of a path."""

    model: Any
    history: list[dict[str, Any]]
    tuning: list[dict[str, Any]] = field(default_factory=list)
    grid: list[dict[str, Any]] | None = None


def fit(
    recipe: Recipe, examples: Examples, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> Fitted:
    """Fit on the examples; `folder` is where to go on from, and (X, y) of `validation` may be None."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        fitted = _FITS[recipe.estimator](recipe, examples, validation, folder, quiet, tell)
    for words in dict.fromkeys(str(warning.message) for warning in caught):
        tell(words)
    return fitted


def _stochastic(
    recipe: Recipe, examples: Examples, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> Fitted:
    settings: dict[str, Any] = {}
    tried: list[dict[str, Any]] = []
    if recipe.tune:
        settings, tried = Tuning(recipe, examples, validation, folder, _callbacks(quiet)).chosen(tell)
    model = recipe.made(**settings, checkpoint=folder / _FIT, callbacks=_callbacks(quiet))
    model.fit(examples.X, examples.y, validation=validation)
    return Fitted(model, model.history_, tried)


def _trace(
    recipe: Recipe, examples: Examples, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> Fitted:
    model = recipe.made(callbacks=_callbacks(quiet)).fit(examples.X, examples.y)
    _refuse_interrupted(model.status_)
    return Fitted(model, model.history_)


def _path(
    recipe: Recipe, examples: Examples, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> Fitted:
    path = recipe.made(checkpoint=folder / _PATH, callbacks=_callbacks(quiet))
    path.fit(examples.X, examples.y, validation=validation)
    _refuse_interrupted(path.status_)
    return Fitted(path.best_, path.best_.history_, grid=path.table_)


_FITS = {"StochasticClassifier": _stochastic, "TraceNormClassifier": _trace, "TraceNormPath": _path}


def _callbacks(quiet: bool) -> list[Any]:
    import manyclass as mc

    return [] if quiet else [mc.Progress()]


def _refuse_interrupted(status: str) -> None:
    """Batch solvers take Ctrl-C as a wish for the best so far; a command that can go on later ends."""
    if status.startswith("interrupted"):
        raise KeyboardInterrupt

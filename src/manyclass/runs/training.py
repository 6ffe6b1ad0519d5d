"""Training in a run folder: a fit that goes on where it ended, and the record of it.

Fitting what a recipe asks for, with everything in files that is needed to go on after a crash.
"""

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from manyclass.runs.folder import ENCODER, MODEL, RunFolder
from manyclass.runs.grid_search import GridSearch
from manyclass.runs.recipe import Recipe
from manyclass.runs.subsets import Subset
from manyclass.solvers.batch.solution import Status


@dataclass(frozen=True, eq=False)
class Job:
    """What to fit, on what, judged by what; what the user gave beside the recipe; and the words of the command."""

    recipe: Recipe
    examples: Subset
    judged: Subset | None
    given: dict[str, Any]
    arguments: list[str]

    def data(self) -> list[tuple[str, Subset]]:
        "Subset by their roles."
        return [("train", self.examples)] + ([] if self.judged is None else [("validation", self.judged)])


def train_run(folder: RunFolder, job: Job, overwrite: bool, quiet: bool, tell: Callable[[str], None]) -> dict[str, Any]:
    """Fit in the folder, unless that is done already; the record."""
    from manyclass._core.files import FolderLock
    from manyclass.runs.run_record import begin_record

    started = time.perf_counter()
    record = begin_record(job)
    if folder.is_done and not overwrite:
        folder.refuse_another(record)
        tell(f"{folder.path} is done already")
        return dict(folder.record or {})
    folder.path.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder.path)
    try:
        record = folder.begin(record, overwrite)
        validation = None if job.judged is None else (job.judged.X, job.judged.y)
        fitted = fit_recipe(job.recipe, job.examples, validation, folder.checkpoint, quiet, tell)
        return _kept(folder, record, fitted, job.examples.source, started)
    except Exception:
        folder.give_up()
        raise
    finally:
        lock.release()
        _remove_if_empty(folder.path)


def _remove_if_empty(path: Path) -> None:
    with suppress(OSError):
        path.rmdir()


def _kept(folder: RunFolder, record: dict[str, Any], fitted: Any, source: Path, started: float) -> dict[str, Any]:
    """Write the model, the encoder if there is one, and the record, which is given back."""
    from manyclass._core.files import write_bytes
    from manyclass.runs.provenance import encoder_file
    from manyclass.runs.run_record import finish_record

    fitted.model.save(folder.path / MODEL)
    encoder = encoder_file(source)
    if encoder is not None and encoder.suffix.lower() != ".onnx":
        write_bytes(folder.path / ENCODER, encoder.read_bytes())
    size = (folder.path / MODEL).stat().st_size
    whole = finish_record(record, fitted, size, encoder, time.perf_counter() - started)
    folder.finish(whole)
    return {**whole, "status": "done"}


_FIT, _PATH = "fit", "path"


@dataclass(frozen=True)
class FitResult:
    """A classifier, the records of its fit, every value that was tried, and the rows of a path."""

    model: Any
    history: list[dict[str, Any]]
    tuning: list[dict[str, Any]] = field(default_factory=list)
    grid: list[dict[str, Any]] | None = None


def fit_recipe(
    recipe: Recipe, examples: Subset, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> FitResult:
    """Fit on the examples; `folder` is where to go on from, and (X, y) of `validation` may be None."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        fitted = _FITS[recipe.estimator](recipe, examples, validation, folder, quiet, tell)
    for words in dict.fromkeys(str(warning.message) for warning in caught):
        tell(words)
    return fitted


def _fit_stochastic(
    recipe: Recipe, examples: Subset, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> FitResult:
    settings: dict[str, Any] = {}
    tried: list[dict[str, Any]] = []
    if recipe.tune:
        settings, tried = GridSearch(recipe, examples, validation, folder, _callbacks(quiet)).chosen(tell)
    model = recipe.made(**settings, checkpoint=folder / _FIT, callbacks=_callbacks(quiet))
    model.fit(examples.X, examples.y, validation=validation)
    return FitResult(model, model.history_, tried)


def _fit_trace(
    recipe: Recipe, examples: Subset, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> FitResult:
    model = recipe.made(callbacks=_callbacks(quiet)).fit(examples.X, examples.y)
    _refuse_interrupted(model.status_)
    return FitResult(model, model.history_)


def _fit_path(
    recipe: Recipe, examples: Subset, validation: Any, folder: Path, quiet: bool, tell: Callable[[str], None]
) -> FitResult:
    path = recipe.made(checkpoint=folder / _PATH, callbacks=_callbacks(quiet))
    path.fit(examples.X, examples.y, validation=validation)
    _refuse_interrupted(path.status_)
    return FitResult(path.best_, path.best_.history_, grid=path.table_)


_FITS = {"StochasticClassifier": _fit_stochastic, "TraceNormClassifier": _fit_trace, "TraceNormPath": _fit_path}


def _callbacks(quiet: bool) -> list[Any]:
    import manyclass as mc

    return [] if quiet else [mc.Progress()]


def _refuse_interrupted(status: Status) -> None:
    """Batch solvers take Ctrl-C as a wish for the best so far; a command that can go on later ends."""
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt

"""train: a classifier in a run folder, with a record of how it was made; goes on where it was interrupted."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from manyclass._core.errors import SettingsError, StorageError
from manyclass._core.files import expand_home
from manyclass._core.parallel import get_threads
from manyclass._core.shards import Shard
from manyclass._core.typing import Notify
from manyclass._core.worker_groups import current_workers
from manyclass.datasets.dataset import ALL, Dataset, count_classes
from manyclass.runs.center_files import with_center
from manyclass.runs.evaluating.priors import Prior, prior_name, read_prior, set_prior
from manyclass.runs.folder import RunFolder, read_run
from manyclass.runs.provenance import encoder_bytes, encoder_file, unchanged
from manyclass.runs.recipe import ObjectiveName, Recipe, check_takes_prior, division_words, make_recipe
from manyclass.runs.run_record import begin_record
from manyclass.runs.sources import draw_sample, labels_words, passing_warnings, read_subset, read_validation
from manyclass.runs.trained_run import TrainedRun, keep_run


def train(
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    objective: str = "auto",
    *,
    labels: str | os.PathLike[str] | None = None,
    label_separator: str | None = None,
    subset: str | None = None,
    validation: str | os.PathLike[str] | None = None,
    test_fraction: float | None = None,
    sample: int | None = None,
    tune: Iterable[str] = (),
    plan: str | os.PathLike[str] | None = None,
    classes: Shard | str | None = None,
    prior: Prior | None = None,
    center: str | os.PathLike[str] | None = None,
    seed: int = 0,
    resume: bool = False,
    overwrite: bool = False,
    callbacks: Iterable[Any] = (),
    arguments: Sequence[str] = (),
    notify: Notify | None = None,
    warn: Notify | None = None,
    **settings: Any,
) -> TrainedRun:
    """Train a classifier in a folder, which gets the model and a record of settings, data, history and results.

    A run that was interrupted or killed goes on with `resume`, to the same model as if nothing had happened.

    Parameters
    ----------
    data : path-like
        Features with labels: whatever `read_features` reads.
    out : path-like
        Folder of the run.
    objective : {"auto", "ovr", "multiclass", "ranking", "warp", "softmax", "square", "trace"}, default="auto"
        What is minimized: by `TraceNormClassifier` or `TraceNormPath` for "trace", by `SquareLossClassifier` for
        "square", otherwise by `StochasticClassifier`. "auto" is "ovr", or where that is better on a sample
        "softmax" of few columns and "multiclass" of many classes; with `tune`, `loss` or `beta` it is "ovr".
    labels : path-like, default=None
        File of one label per row, in place of those found with the features.
    label_separator : str, default=None
        What stands between labels of rows that have several, such as ";" in "cat;dog"; by "ovr" or "square". An empty
        label is a row with none.
    subset : str, default=None
        Rows of this value of the split, or "all"; None for "train", or all rows of data without one.
    validation : str or path-like, default=None
        Data to stop by and to choose by, or a value of the split of `data`; None holds some rows out.
    test_fraction : float, default=None
        Fraction of every class to keep for `evaluate`, of data without a split.
    sample : int, default=None
        Rows to train on at most, the same part of every class and at least one; None for all.
    tune : iterable of {"step", "beta", "regularization", "path"}, default=()
        Settings to choose by whole fits, judged on validation.
    plan : path-like, default=None
        A run of "ovr", on a sample of the rows for instance, whose loss, step, beta and number of epochs are taken, and
        what else it was trained with unless given; nothing is held out then.
    classes : str or Shard, default=None
        Train the machines of a part of the classes only, such as "3/16" for the third of 16; by "ovr", with a `plan`
        or its settings given. `join` makes one run of all parts, with the same bits as if it were trained at once.
    prior : "uniform", path-like or dict, default=None
        How frequent the classes will be in use, by `set_prior` of the classifier after training: "uniform" for rare
        classes, a CSV file of classes and shares, or shares by class; None for as frequent as in the data.
    center : path-like, default=None
        Weights that are known before, towards which the ridge of "square" draws: rows of an array, in the order of the
        sorted names of classes, or an older run or model, whose classes go by name.
    seed : int, default=0
        Seed.
    resume : bool, default=False
        Whether to go on with a run that is unfinished; one that is done is left as it is.
    overwrite : bool, default=False
        Whether to replace a run that is there, and stays there until the new one is done; with `resume`, only if it is
        another one.
    callbacks : iterable of callable, default=()
        Passed on to the estimator, such as `manyclass.Progress()`.
    arguments : sequence of str, default=()
        Words of the command that asked for the run, for the record.
    notify : callable, default=None
        Called with a sentence on what is being done.
    warn : callable, default=None
        Called with a sentence on rows or files that are left out, on data from which little is learned, or on a fit
        that did not come to its end; None for Python's warnings.
    **settings : dict
        Further arguments of the estimator, such as `max_epochs`.

    Returns
    -------
    TrainedRun
        The folder, the record, and the model.

    Raises
    ------
    ValueError
        If data or settings cannot be used, or the folder is taken.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import manyclass as mc
    >>> X = mc.datasets.low_rank_classes(200, d=16, n_classes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "x.npz", X=X.rows(slice(None)), y=X.y)
    ...     run = mc.runs.train(Path(folder) / "x.npz", Path(folder) / "run", test_fraction=0.2, max_epochs=5)
    ...     sorted(file.name for file in run.path.iterdir()), len(run.model.classes_)
    (['model-0.safetensors', 'run.json'], 5)
    """
    tell = notify or _ignore
    shard = None
    if classes is not None or plan is not None:
        objective, shard = ObjectiveName.ovr, _check_divisible(objective, classes, plan, validation)
    recipe = make_recipe(objective, tune, seed, settings if plan is None else planned_settings(plan, settings))
    recipe = recipe if center is None else with_center(recipe, objective, center)
    if prior is not None:
        check_takes_prior(recipe, shard)
        read_prior(prior)
    if validation is not None and not recipe.takes_validation:
        unless = ", unless there is `tune='path'`" if objective == "trace" else ", which leaves rows out one by one"
        raise SettingsError(f"`validation` does not go with `objective='{objective}'`{unless}")
    if label_separator is not None:
        _check_several_labels(objective, label_separator, recipe)
    folder = RunFolder(expand_home(out))
    folder.check(resume, overwrite)
    source, labels = expand_home(data), None if labels is None else os.fspath(labels)
    with unchanged(source):
        encoder = encoder_file(source), encoder_bytes(source)
        found = read_subset(source, labels, subset, ("train",), test_fraction, seed, warn, label_separator)
        examples = draw_sample(found, sample, seed)
    which = f" of the part {examples.subset_name}" if examples.subset_name != ALL else ""
    tell(f"training on {len(examples):,} rows{which} of {source}{labels_words(examples)}")
    if (workers := current_workers()) is not None:
        n_classes = count_classes(examples.y)
        for words in division_words(objective, len(workers), examples.X.shape, n_classes, get_threads()):
            tell(words)
    judged = None if validation is None else _read_judged(os.fspath(validation), examples, labels, warn)

    started = time.perf_counter()
    given = {
        "part": examples.subset_name,
        "labels": labels,
        "validation": None if validation is None else os.fspath(validation),
        "test_fraction": test_fraction,
        **{
            name: str(value)
            for name, value in {
                "sample": sample,
                "classes": shard,
                "prior": prior_name(prior),
                "center": None if center is None else os.fspath(center),
                "label_separator": label_separator,
            }.items()
            if value is not None
        },
    }
    roles = [("train", examples)] + ([] if judged is None else [("validation", judged)])
    record = begin_record(recipe, roles, given, arguments, shard)
    if folder.is_done(record, resume, overwrite):
        done = TrainedRun(folder.path, dict(folder.done or {}))
        with suppress(OSError, StorageError), folder.locked(resume, overwrite):
            pass  # which removes what an earlier attempt could not
        tell(f"{folder.path} is done already")
        return done
    with folder.locked(resume, overwrite):
        if folder.is_done(record, resume, overwrite):  # by another process, just now
            tell(f"{folder.path} is done already")
            return TrainedRun(folder.path, dict(folder.done or {}))
        run = folder.begin(record, resume, overwrite)
        try:
            model, outcome = fit_recipe(recipe, examples, judged, run.path, list(callbacks), tell, warn, shard)
            set_prior(model, prior)
            return keep_run(folder, run, record, model, outcome, examples, encoder, time.perf_counter() - started)
        except Exception:
            run.give_up()
            raise


def _ignore(message: str) -> None:
    pass


def _check_several_labels(objective: str, separator: str, recipe: Recipe) -> None:
    """Refuse what does not go with several labels per row."""
    if not separator.strip():
        raise SettingsError(f"`label_separator` must be text that is not blank, such as ';'; got {separator!r}")
    if objective not in ("auto", "ovr", "square"):
        raise SettingsError(
            f"`label_separator` does not go with `objective='{objective}'`, whose classes compete; "
            "choose 'ovr' or 'square'"
        )
    if recipe.tune:
        raise SettingsError("`tune` does not go with `label_separator`; a step and a beta are found without it")


def _check_divisible(objective: str, classes: Shard | str | None, plan: Any, validation: Any) -> Shard | None:
    """The part of the classes to train, if it is a part; refuse what does not go with it, or with a plan."""
    shard = None if classes is None else Shard.parse(classes, "classes")
    if objective not in (ObjectiveName.auto, ObjectiveName.ovr):
        why = "as it is a run of 'ovr'" if shard is None else "whose classes compete"
        raise SettingsError(f"`{'classes' if shard else 'plan'}` does not go with `objective='{objective}'`, {why}")
    if shard is not None and validation is not None:
        raise SettingsError("`validation` does not go with `classes`: a part of the classes cannot be judged alone")
    return shard


def planned_settings(plan: str | os.PathLike[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Those given, and those by which the machines of another run are trained from zero, and nothing is held out."""
    from manyclass.solvers.sgd.objectives import epochs_from_zero

    path = expand_home(plan)
    record = read_run(path)
    model = record["model"] or {}
    if model.get("objective") != ObjectiveName.ovr or not model.get("step"):
        raise SettingsError(f"`plan` must be a run of `objective='ovr'`; {path} is one of {model.get('objective')!r}")
    planned = {
        "loss": model["loss"],
        "step": model["step"],
        "beta": model.get("beta"),
        "max_epochs": epochs_from_zero(model["n_epochs"], model.get("n_iter") or 0),
        "early_stopping": False,
    }
    for name in planned.keys() & given:
        raise SettingsError(f"`{name}` does not go with `plan`, which has it; leave out one of them")
    # A step is found with these, which may be tuned too; who gives others knows why.
    names = ("step_decay", "t0", "sampling", "averaging", "class_weight")
    shared = {name: record["settings"][name] for name in names if name in record["settings"]}
    return {**shared, "regularization": model["regularization"], **given, **planned}


def _read_judged(validation: str, examples: Dataset, labels: str | None, warn: Notify | None) -> Dataset:
    """The data that a path names, or a subset of the data to train on; in any case other rows than these."""
    path = expand_home(validation)
    if path.exists():
        judged = read_validation(path, warn, examples.separator)
    else:
        try:
            path = Path(str(examples.path))
            judged = read_subset(path, labels, validation, (), warn=warn, separator=examples.separator)
        except ValueError as error:
            raise ValueError(f"`validation` must be a path or a part; {error}") from error
    if examples.fingerprint() == judged.fingerprint():
        raise ValueError(f"`validation` must be other rows than those to train on; got {validation}")
    return judged


def fit_recipe(
    recipe: Recipe,
    examples: Dataset,
    judged: Dataset | None,
    folder: Path,
    callbacks: list[Any],
    notify: Notify,
    warn: Notify | None = None,
    shard: Shard | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Fit what a recipe asks for; the model, and the history of the fit, all that was tried, and the rows of a path.

    `folder` is where to go on from after a crash. Warnings of the estimator go to `warn`.
    """
    from manyclass.runs.grid_search import GridSearch
    from manyclass.solvers.batch.solution import Status

    y = _targets(examples)
    validation = None if judged is None else (judged.X, _targets(judged))
    settings: dict[str, Any] = {}
    tried: list[dict[str, Any]] = []
    with passing_warnings(warn):
        if recipe.tune:
            settings, tried = GridSearch(recipe, examples.X, y, validation, folder, callbacks).choose(notify)
        if recipe.checkpoint is not None:
            settings["checkpoint"] = folder / recipe.checkpoint
        fit = {"validation": validation} if recipe.takes_validation else {}
        if recipe.takes_callbacks:
            settings["callbacks"] = callbacks
        estimator = recipe.estimator(**{**recipe.settings, **settings})
        estimator.keeps_checkpoint = True  # a disk may be full when the model is saved; the commit removes it
        if shard is not None:
            estimator.shard = shard
        estimator.fit(examples.X, y, **fit)
    # Batch solvers take Ctrl-C as a wish for the best so far; a run that can go on later ends.
    if getattr(estimator, "status_", None) is Status.INTERRUPTED:
        raise KeyboardInterrupt
    model = getattr(estimator, "best_", estimator)
    path = [(one["regularization"], one["accuracy"]) for one in getattr(model, "path_", [])]
    tried += [{"name": "regularization", "value": value, "accuracy": accuracy} for value, accuracy in path]
    history = getattr(model, "history_", [])
    return model, {"history": history, "tuning": tried, "grid": getattr(estimator, "table_", None)}


def _targets(examples: Dataset) -> Any:
    return examples.label_names() if examples.separator is None else examples.label_lists()

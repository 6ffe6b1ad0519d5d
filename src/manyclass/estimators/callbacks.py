"""Callbacks: functions that are given the record of each epoch or step, and may end the fit.

`JsonLines` keeps the records in a file. scikit-learn's own callbacks (1.9 and later) see a fit as tasks: the fit has
phases, and a phase has epochs. After every epoch, both kinds are called and a checkpoint is written.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from manyclass._core.typing import Callback
from manyclass.data.matrix import Matrix
from manyclass.estimators.progress import fit_logs
from manyclass.solvers.sgd.checkpoint import Checkpoint
from manyclass.solvers.sgd.descent import EarlyStopping, Judge, SgdRun
from manyclass.solvers.sgd.linear_weights import LinearWeights


class JsonLines:
    """A callback that appends the record of each epoch to a file, as one line of JSON.

    Every line is written whole before the next epoch begins, so that other processes can follow. A fit that goes on
    from a checkpoint repeats the lines of the epochs since then.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep = JsonLines(f"{folder}/history.jsonl")
    ...     keep({"epoch": 1, "loss": 0.5})
    ...     pathlib.Path(keep.path).read_text()
    '{"epoch": 1, "loss": 0.5}\\n'
    """

    ends_fit = False  # it watches

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)

    def __call__(self, record: dict[str, Any]) -> None:
        line = json.dumps(record) + "\n"
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line)


@contextmanager
def watched(estimator: Any) -> Iterator[tuple[Callback, ...]]:
    """Who is told of a fit: the callbacks, and the log where somebody listens.

    Afterwards, whichever way the block ends, callbacks that have a method `close` have had it called.
    """
    try:
        yield (*estimator.callbacks, *fit_logs(estimator))
    finally:
        for callback in estimator.callbacks:
            close = getattr(callback, "close", None)
            if close is not None:
                close()


def may_end(estimator: Any) -> bool:
    """Whether one of the callbacks might end a fit, or ask for its machines; ours do not, and say so by `ends_fit`."""
    heard = bool(getattr(estimator, "_skl_callbacks", ()))
    return heard or any(getattr(callback, "ends_fit", True) for callback in estimator.callbacks)


def combine_callbacks(callbacks: Iterable[Callback]) -> Callable[[dict[str, Any]], bool]:
    """One callback for all; it wants to stop when one of them does."""
    every = tuple(callbacks)

    def notify(record: dict[str, Any]) -> bool:
        # A copy: what a callback writes into it must not come into the history. And all of them are told.
        wishes = [callback(dict(record)) for callback in every]
        return any(wish is True for wish in wishes)

    return notify


F = TypeVar("F", bound=Callable[..., Any])


class NoCallbackSupport:
    """What stands in for scikit-learn's mixin before 1.9: nothing."""


def _as_it_is(method: F) -> F:
    """What stands in for scikit-learn's decorator of fit."""
    return method


# The mixin that gives `set_callbacks`, and the decorator of fit.
CallbackSupport: Any = NoCallbackSupport
with_callbacks: Callable[[F], F] = _as_it_is
with suppress(ImportError):
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as decorate

    CallbackSupport, with_callbacks = CallbackSupportMixin, decorate


class FitTask:
    """The whole of a fit; where scikit-learn has no callbacks, nobody hears of it."""

    columns: Matrix | None = None  # those that machines have weights of, where they are not the estimator's

    def __init__(self, estimator: Any, X: Any, y: Any, phases: int):
        self._estimator, self._data = estimator, {"X": X, "y": y}
        supported = hasattr(estimator, "_init_callback_context")
        self._context = estimator._init_callback_context(max_subtasks=phases) if supported else None
        self.begin(self._context)

    def phase(self, name: str, epochs: int) -> "PhaseTask":
        """Begin a phase of at most so many epochs."""
        return PhaseTask(self, self._context and self._context.subcontext(name, max_subtasks=epochs), epochs)

    def finish(self, machines: LinearWeights) -> None:
        """The fit is over, with these machines."""
        self.end(self._context, lambda: machines)

    def begin(self, context: Any) -> None:
        """Tell that the task of a context begins."""
        if context is not None:
            context.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, context: Any, machines: Callable[[], LinearWeights]) -> bool:
        """Tell that the task of a context is over; whether a callback wants to stop."""

        def fitted() -> dict[str, Any]:
            seen = machines() if self.columns is None else machines().lift(self.columns)
            return {"coef_": seen.W.copy(), "intercept_": seen.biases.copy()}

        return context is not None and bool(
            context.call_on_fit_task_end(estimator=self._estimator, **self._data, reconstruction_attributes=fitted)
        )


class PhaseTask:
    """One descent of a fit."""

    def __init__(self, fit: FitTask, context: Any, epochs: int):
        self._fit, self._context, self._left = fit, context, epochs
        fit.begin(context)
        self._begin_epoch()

    def end_epoch(self, descent: SgdRun) -> bool:
        """An epoch is over; whether a callback wants to end the descent, which then is done."""
        ends = self._fit.end(self._epoch, lambda: descent.weights.mean)
        descent.done = descent.done or ends
        if not descent.done:
            self._begin_epoch()
        return ends

    def finish(self, machines: Callable[[], LinearWeights]) -> None:
        """The phase is over, with these machines."""
        self._fit.end(self._context, machines)

    def _begin_epoch(self) -> None:
        self._epoch = self._context.subcontext("epoch") if self._context is not None and self._left > 0 else None
        self._left -= 1
        self._fit.begin(self._epoch)


AfterEpoch = Callable[[SgdRun], None]


def after_epoch(
    callbacks: Iterable[Callback], task: FitTask, checkpoint: Checkpoint, stopping: EarlyStopping
) -> AfterEpoch:
    """Begin the phase that the checkpoint is in, and tell of its epochs; a callback may end it."""
    run, every = checkpoint.run, tuple(callbacks)
    phase = task.phase(run.phase, stopping.max_epochs)

    def after(descent: SgdRun) -> None:
        record = descent.history[-1]
        record.update(phase=run.phase, max_epochs=stopping.max_epochs)
        # A copy: what a callback writes into it must not come into the history or a checkpoint.
        ends = [bool(callback(dict(record))) for callback in every]
        descent.done = descent.done or any(ends)
        run.ended = phase.end_epoch(descent) or any(ends)
        if descent.done or descent.epoch >= stopping.max_epochs:
            phase.finish(descent.weights.result)
        checkpoint.write(only_if_due=True)

    return after


def watch_epochs(judge: Judge, stopping: EarlyStopping, after: AfterEpoch) -> AfterEpoch:
    """The same, once the accuracy is on record, as often as `stopping` has it and at the end; it stops nothing."""

    def watch(descent: SgdRun) -> None:
        if descent.epoch % stopping.every == 0 or descent.epoch == stopping.max_epochs:
            started = time.perf_counter()
            accuracy = judge(descent.weights)
            descent.history[-1].update(accuracy=accuracy, judging_seconds=time.perf_counter() - started)
        after(descent)

    return watch

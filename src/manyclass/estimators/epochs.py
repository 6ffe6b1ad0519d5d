"""What happens after each epoch of a fit: it is judged, callbacks hear of it, and a checkpoint is written."""

import time
from collections.abc import Callable, Iterable

from manyclass.estimators.callbacks import FitTask
from manyclass.estimators.history import Callback
from manyclass.solvers.checkpoint import Checkpoint
from manyclass.solvers.machines import Machines
from manyclass.solvers.sgd import Descent, Stopping

AfterEpoch = Callable[[Descent], None]


def after_epoch(callbacks: Iterable[Callback], task: FitTask, checkpoint: Checkpoint, stopping: Stopping) -> AfterEpoch:
    """Begin the phase that the checkpoint is in, and tell of its epochs; a callback may end it."""
    run, told = checkpoint.run, tuple(callbacks)
    phase = task.phase(run.phase, stopping.max_epochs)

    def after(descent: Descent) -> None:
        record = descent.history[-1]
        record.update(phase=run.phase, max_epochs=stopping.max_epochs)
        # A copy: what a callback writes into it must not come into the history or a checkpoint.
        ends = [bool(callback(dict(record))) for callback in told]
        descent.done = descent.done or any(ends)
        run.ended = phase.epoch_over(descent) or any(ends)
        if descent.done or descent.epoch >= stopping.max_epochs:
            phase.over(descent.result())
        checkpoint.write_sometimes()

    return after


def watched(judge: Callable[[Machines], float], stopping: Stopping, after: AfterEpoch) -> AfterEpoch:
    """The same, once the accuracy is on record, as often as `stopping` has it and at the end; it stops nothing."""

    def watch(descent: Descent) -> None:
        if descent.epoch % stopping.every == 0 or descent.epoch == stopping.max_epochs:
            started = time.perf_counter()
            accuracy = judge(descent.mean)
            descent.history[-1].update(accuracy=accuracy, judging_seconds=time.perf_counter() - started)
        after(descent)

    return watch

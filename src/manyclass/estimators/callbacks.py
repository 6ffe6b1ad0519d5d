"""scikit-learn's own callbacks (1.9 and later), which see a fit as tasks: the fit has phases, a phase has epochs."""

from collections.abc import Callable
from typing import Any, TypeVar

from manyclass.solvers.machines import Machines
from manyclass.solvers.sgd import Descent

F = TypeVar("F", bound=Callable[..., Any])


class NoCallbackSupport:
    """What stands in for scikit-learn's mixin before 1.9: nothing."""


def _protocol() -> tuple[Any, Callable[[F], F]]:
    """(the mixin that gives `set_callbacks`, the decorator of fit)."""
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:
        return NoCallbackSupport, lambda method: method
    return CallbackSupportMixin, with_callbacks


CallbackSupport, with_callbacks = _protocol()


class FitTask:
    """The whole of a fit; where scikit-learn has no callbacks, nobody hears of it."""

    def __init__(self, estimator: Any, X: Any, y: Any, phases: int):
        self._estimator, self._data = estimator, {"X": X, "y": y}
        supported = hasattr(estimator, "_init_callback_context")
        self._context = estimator._init_callback_context(max_subtasks=phases) if supported else None
        self.begin(self._context)

    def phase(self, name: str, epochs: int) -> "PhaseTask":
        """Begin a phase of at most so many epochs."""
        return PhaseTask(self, self._context and self._context.subcontext(name, max_subtasks=epochs), epochs)

    def over(self, machines: Machines) -> None:
        """The fit is over, with these machines."""
        self.end(self._context, machines)

    def begin(self, context: Any) -> None:
        """Tell that the task of a context begins."""
        if context is not None:
            context.call_on_fit_task_begin(estimator=self._estimator, **self._data)

    def end(self, context: Any, machines: Machines) -> bool:
        """Tell that the task of a context is over; whether a callback wants to stop."""

        def fitted() -> dict[str, Any]:
            return {"coef_": machines.W.copy(), "intercept_": machines.biases.copy()}

        return context is not None and bool(
            context.call_on_fit_task_end(estimator=self._estimator, **self._data, reconstruction_attributes=fitted)
        )


class PhaseTask:
    """One descent of a fit."""

    def __init__(self, fit: FitTask, context: Any, epochs: int):
        self._fit, self._context, self._left = fit, context, epochs
        fit.begin(context)
        self._begin_epoch()

    def epoch_over(self, descent: Descent) -> bool:
        """An epoch is over; whether a callback wants to end the descent, which then is done."""
        ends = self._fit.end(self._epoch, descent.mean)
        descent.done = descent.done or ends
        if not descent.done:
            self._begin_epoch()
        return ends

    def over(self, machines: Machines) -> None:
        """The phase is over, with these machines."""
        self._fit.end(self._context, machines)

    def _begin_epoch(self) -> None:
        self._epoch = self._context.subcontext("epoch") if self._context is not None and self._left > 0 else None
        self._left -= 1
        self._fit.begin(self._epoch)

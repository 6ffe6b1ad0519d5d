"""What `partial_fit` has under way between its calls."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass.estimators.labels import check_classes
from manyclass.estimators.plan import Plan, find_plan, known_plan
from manyclass.solvers.machines import Machines
from manyclass.solvers.problem import Problem


@dataclass(frozen=True)
class Batches:
    """The machines after some calls, and the plan of the last."""

    machines: Machines
    plan: Plan
    step: float  # what "auto" stands for
    beta: float | None
    calls: int = 0

    @classmethod
    def first(cls, settings: Any, problem: Problem, seed: int) -> "Batches":
        """Before the first of all batches, on which what is "auto" is found."""
        plan = find_plan(settings, problem, seed)
        return cls(Machines.zeros(problem.k, problem.d), plan, plan.schedule.step, plan.beta)

    @classmethod
    def after_fit(cls, settings: Any, problem: Problem, seed: int) -> "Batches":
        """Before the first batch of a classifier that is fitted."""
        plan = known_plan(settings, settings.step_, settings.beta_, problem, seed)
        # The machines that are there are copied before they change, like those of any batch.
        machines = Machines.around(settings.coef_, settings.intercept_, getattr(settings, "steps_", None))
        return cls(machines, plan, settings.step_, settings.beta_)

    def next_plan(self, settings: Any, problem: Problem) -> Plan:
        """The plan of the next call, by the settings of now; seed and unit of X are those of the first batch."""
        first = self.plan.schedule
        plan = known_plan(settings, self.step, self.beta, problem, first.seed)
        return replace(plan, schedule=replace(plan.schedule, bias_rate=first.bias_rate))


def batch_classes(settings: Any, classes: Any, known: bool) -> NDArray[Any]:
    """The classes of all batches: those of the first call, or of the fit before it."""
    if settings.class_weight == "balanced":
        raise ValueError("class_weight='balanced' needs all labels at once; pass a dictionary for partial_fit")
    if classes is None and not known:
        raise ValueError("classes must be passed on the first call to partial_fit")
    if not known:
        return check_classes(classes)
    fitted: NDArray[Any] = settings.classes_
    if classes is not None and not np.array_equal(check_classes(classes), fitted):
        raise ValueError("classes must be the same as in fit or in the first call to partial_fit; got others")
    return fitted


def refuse_other_objective(settings: Any, method: str) -> None:
    """Machines go on as they began, by the objective and the loss by which they were trained."""
    for name, before in zip(("objective", "loss"), getattr(settings, "trained_", ()), strict=False):
        now = getattr(settings, name)
        # The loss matters to one-vs-rest alone.
        if now != before and (name == "objective" or settings.objective == "ovr"):
            raise ValueError(
                f"{name} must stay {before!r} for {method}, which goes on from machines trained by it; got {now!r}; "
                "call fit, or use a new classifier"
            )

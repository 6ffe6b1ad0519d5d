"""The names of objectives, and what they stand for."""

from collections.abc import Callable

import numpy as np

from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.solvers.joint import Joint
from manyclass.solvers.minibatch import MiniBatch
from manyclass.solvers.one_vs_rest import OneVsRest
from manyclass.solvers.sgd import Algorithm


def _one_vs_rest(loss: str, beta: float | str | None, k: int) -> OneVsRest:
    if beta == "auto":
        # Where the search for beta begins: a share of the classes that falls as they become more.
        start = max(40.0, 2 * np.sqrt(k))
        beta = start if start < k - 1 else None
    return OneVsRest(MARGIN_LOSSES[loss], None if beta is None or np.isinf(float(beta)) else float(beta))


def algorithm(objective: str, loss: str, beta: float | str | None, k: int) -> Algorithm:
    """What trains an objective; `loss` and `beta` are for one-vs-rest."""
    return OBJECTIVES[objective](loss, beta, k)


OBJECTIVES: dict[str, Callable[[str, float | str | None, int], Algorithm]] = {
    "ovr": _one_vs_rest,
    "multiclass": lambda *_: Joint("max"),
    "ranking": lambda *_: Joint("random"),
    "warp": lambda *_: Joint("sampled"),
    "softmax": lambda *_: MiniBatch(),
}

# Where the search for a step begins, for rows of length 1.
_STEPS = {"hinge": 0.125, "squared_hinge": 0.0625, "logistic": 4.0, "squared": 0.125}


def natural_step(objective: str, loss: str) -> float:
    """A step that is about right for rows of length 1."""
    return {"ovr": _STEPS[loss], "softmax": 2.0, "warp": 0.05, "ranking": 0.5}.get(objective, 0.125)


def epochs_of_a_round(objective: str, k: int) -> int:
    """Epochs that count as one for stopping.

    Ranking shows an example one rival in an epoch, where others show it many or all: sqrt(k) of its epochs are a round.
    """
    return round(np.sqrt(k)) if objective == "ranking" else 1

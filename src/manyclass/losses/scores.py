"""The losses of all scores of a row, by name."""

from typing import Any

from manyclass.losses.logistic import LogisticScores
from manyclass.losses.score_loss import ScoreLoss
from manyclass.losses.smoothed_hinge import SmoothedHinge
from manyclass.losses.softmax import Softmax
from manyclass.losses.squared import SquaredScores

__all__ = ["SCORE_LOSSES", "LogisticScores", "ScoreLoss", "SmoothedHinge", "Softmax", "SquaredScores"]

SCORE_LOSSES: dict[str, ScoreLoss] = {
    loss.name: loss for loss in (Softmax(), SmoothedHinge(), SquaredScores(), LogisticScores())
}
_SETTINGS = {"smoothed_hinge": ("sharpness",)}


def as_score_loss(loss: Any) -> ScoreLoss:
    """Return a loss by its name, or the loss itself.

    Parameters
    ----------
    loss : str or ScoreLoss
        One of "softmax", "smoothed_hinge", "squared" and "logistic", or a loss.

    Returns
    -------
    ScoreLoss
        The loss.

    Examples
    --------
    >>> as_score_loss("smoothed_hinge")
    SmoothedHinge(20.0)
    """
    if isinstance(loss, ScoreLoss):
        return loss
    if not isinstance(loss, str) or loss not in SCORE_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(SCORE_LOSSES)}, or a ScoreLoss; got {loss!r}")
    return SCORE_LOSSES[loss]


def described_loss(loss: ScoreLoss) -> dict[str, dict[str, float]]:
    """Its name and settings.

    >>> described_loss(SmoothedHinge(5.0))
    {'smoothed_hinge': {'sharpness': 5.0}}
    """
    if type(loss) is not type(SCORE_LOSSES.get(loss.name)):
        raise TypeError(f"a loss must be one of {', '.join(SCORE_LOSSES)} to be saved; got {type(loss).__name__}")
    return {loss.name: {name: getattr(loss, name) for name in _SETTINGS.get(loss.name, ())}}


def loss_of(description: dict[str, dict[str, float]]) -> ScoreLoss:
    """The loss that was described so."""
    ((name, settings),) = description.items()
    return type(SCORE_LOSSES[name])(**settings)

"""The losses of all scores of a row, by name."""

from manyclass.losses.logistic import LogisticScores
from manyclass.losses.score_loss import ScoreLoss
from manyclass.losses.smoothed_hinge import SmoothedHinge
from manyclass.losses.softmax import Softmax
from manyclass.losses.squared import SquaredScores

__all__ = ["SCORE_LOSSES", "LogisticScores", "ScoreLoss", "SmoothedHinge", "Softmax", "SquaredScores"]

SCORE_LOSSES: dict[str, ScoreLoss] = {
    loss.name: loss for loss in (Softmax(), SmoothedHinge(), SquaredScores(), LogisticScores())
}

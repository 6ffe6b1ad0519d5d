"""Losses: functions of scores and labels, which never see X.

- `loss`: `ScoreLoss`, what batch solvers ask of a loss of all scores of a row
- `multiclass`: softmax, smoothed hinge, squared and logistic scores, and the registry `SCORE_LOSSES`
- `margin`: losses of a binary margin, for one-vs-rest by stochastic gradient descent, and the registry `MARGIN_LOSSES`
- `multitask`: a smoothed hinge for many binary tasks at once
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Hinge": "margin",
        "Logistic": "margin",
        "LogisticScores": "multiclass",
        "MarginLoss": "margin",
        "ScoreLoss": "loss",
        "SmoothedHinge": "multiclass",
        "Softmax": "multiclass",
        "Squared": "margin",
        "SquaredHinge": "margin",
        "SquaredScores": "multiclass",
        "TaskHinge": "multitask",
        "as_score_loss": "multiclass",
        "rounding": "loss",
    },
)

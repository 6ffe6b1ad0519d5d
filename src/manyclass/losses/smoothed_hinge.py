"""SmoothedHinge: the margin between the right class and the best of the others, made smooth."""

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks
from manyclass.losses.score_loss import Floats, Labels, ScoreLoss
from manyclass.losses.softmax import log_loss, negative_entropy


class SmoothedHinge(ScoreLoss):
    """The multiclass hinge, smoothed (Amit et al., ICML 2007).

    ``L(s, y) = log(1 + sum_{c != y} exp(a (1 + s_c - s_y))) / a``, with a the sharpness. It lies above the hinge
    ``max(0, max_{c != y} 1 + s_c - s_y)`` by at most ``log(k) / a``. With ``m_c = [c != y]`` it is the softmax loss of
    ``a (s + m)``, divided by a; so its gradient is a distribution minus ``e_y``, and its conjugate an entropy.

    Parameters
    ----------
    sharpness : float, default=20.0
        The number a; the larger, the closer to the hinge.

    Examples
    --------
    >>> hinge = SmoothedHinge(sharpness=1000.0)
    >>> hinge.value_and_gradient(np.array([[0.5, 0.25, -9.0]]), np.array([0]))[0].round(6)
    array([0.75])
    """

    name = "smoothed_hinge"

    def __init__(self, sharpness: float = 20.0) -> None:
        self.sharpness = _checks.positive(sharpness, "sharpness")
        self.curvature = self.sharpness / 2

    def __repr__(self) -> str:
        return f"SmoothedHinge({self.sharpness})"

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        rows = np.arange(len(S))
        # The differences come first: large scores leave no digits for a margin of 1 or for what a multiplies.
        R = S - S.max(axis=1, keepdims=True)
        right = R[rows, y]
        R += 1
        R[rows, y] = right
        R *= self.sharpness
        return log_loss(R, y, R) / self.sharpness, R

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        margins = R.sum(axis=1, dtype=np.float64) - R[np.arange(len(R)), y]
        return np.asarray(negative_entropy(R, y) / self.sharpness - margins)

"""Losses of all scores of a row: softmax, smoothed hinge, squared and logistic scores, and their registry."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import as_native, check_positive
from manyclass._core.parallel import get_threads
from manyclass._core.typing import Floats, Labels
from manyclass.losses.loss import ScoreLoss, rounding

_MANY = 16 << 20  # bytes of scores; fewer are the work of one thread, as often one of several that share out the rows


class Softmax(ScoreLoss):
    """The multinomial logistic loss, minus the logarithm of the probability of the right class.

    ``L(s, y) = log(sum_c exp(s_c)) - s_y``.

    Examples
    --------
    >>> values, R = Softmax().value_and_gradient(np.log([[3.0, 1.0]]), np.array([0]))
    >>> R
    array([[-0.25,  0.25]])
    """

    name = "softmax"
    curvature = 0.5

    def probabilities(self, S: Floats) -> Floats:
        """Turn scores into probabilities, ``exp(s_c) / sum_j exp(s_j)``.

        Parameters
        ----------
        S : ndarray of shape (n, k)
            Scores.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities, of the dtype of S.
        """
        P: Floats = S - S.max(axis=1, keepdims=True)
        np.exp(P, out=P)
        P /= P.sum(axis=1, keepdims=True)
        return P

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        R = np.empty_like(S, order="C")
        return log_loss(S, y, R), R

    def in_place(self, S: Floats, y: Labels, weights: Floats | None = None) -> NDArray[np.float64]:
        return log_loss(S, y, S, weights)

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        return negative_entropy(R, y)


def log_loss(S: Floats, y: Labels, R: Floats, weights: Floats | None = None) -> NDArray[np.float64]:
    """The softmax loss of each row of S (n, k); R (n, k), which may be S, receives the gradient, weighted."""
    if not all(A.dtype == np.float32 and A.flags.c_contiguous and A.flags.aligned for A in (S, R)):
        return log_loss_numpy(S, y, R, weights)
    values = np.empty(len(S))
    p = None if weights is None else as_native(weights, np.float32)
    _native.softmax_loss(S, np.ascontiguousarray(y, np.int64), p, R, values, get_threads() if S.nbytes > _MANY else 1)
    return values


def log_loss_numpy(S: Floats, y: Labels, R: Floats, weights: Floats | None = None) -> NDArray[np.float64]:
    """The same by NumPy, for any dtype and order."""
    rows = np.arange(len(S))
    top = S.max(axis=1)
    behind = S[rows, y].astype(np.float64) - top
    np.subtract(S, top[:, None], out=R)
    np.exp(R, out=R)
    total = R.sum(axis=1, dtype=np.float64)
    R /= total[:, None].astype(R.dtype)
    R[rows, y] -= 1
    if weights is not None:
        R *= weights[:, None].astype(R.dtype)
    return np.asarray(np.log(total) - behind)


def negative_entropy(R: Floats, y: Labels) -> NDArray[np.float64]:
    """sum_c p_c log(p_c) with p = r + e_y, the conjugate of the softmax loss; inf where p is no distribution."""
    P = R.astype(np.float64)
    P[np.arange(len(R)), y] += 1
    slack = rounding(R)
    inside = (P.min(axis=1) >= -slack) & (np.abs(P.sum(axis=1) - 1) <= slack)
    logs = np.log(np.maximum(P, np.finfo(np.float64).tiny))
    return np.where(inside, np.einsum("nk,nk->n", np.maximum(P, 0, out=P), logs), np.inf)


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
        self.sharpness = check_positive(sharpness, "sharpness")
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


class SquaredScores(ScoreLoss):
    """Half the squared distance of the scores from 1 for the right class and 0 for the others.

    ``L(s, y) = |s - e_y|^2 / 2``, with ``e_y`` the indicator of class y.

    Examples
    --------
    >>> SquaredScores().value_and_gradient(np.array([[0.0, 3.0]]), np.array([0]))
    (array([5.]), array([[-1.,  3.]]))
    """

    name = "squared"
    curvature = 1.0

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        R = S.copy()
        R[np.arange(len(S)), y] -= 1
        return _half_squares(R), R

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        return _half_squares(R) + R[np.arange(len(R)), y]


def _half_squares(R: Floats) -> NDArray[np.float64]:
    return np.asarray(np.einsum("nk,nk->n", R, R, dtype=np.float64) / 2)


class LogisticScores(ScoreLoss):
    """One logistic regression per class against the rest, added up.

    ``L(s, y) = sum_c log(1 + exp(-z_c))``, with ``z_y = s_y`` and ``z_c = -s_c`` for the other classes.

    Examples
    --------
    >>> LogisticScores().value_and_gradient(np.log([[3.0, 1.0]]), np.array([1]))[1]
    array([[ 0.75, -0.5 ]])
    """

    name = "logistic"
    curvature = 0.25

    def value_and_gradient(self, S: Floats, y: Labels) -> tuple[NDArray[np.float64], Floats]:
        # With t = -z: log(1 + exp(t)) = max(t, 0) + E and its derivative is exp(min(t, 0) - E), for E as below.
        R = S.copy()
        _turn(R, y)
        values = R.sum(axis=1, where=R > 0, dtype=np.float64)
        E = np.abs(R)
        np.log1p(np.exp(np.negative(E, out=E), out=E), out=E)
        values += E.sum(axis=1, dtype=np.float64)
        np.minimum(R, 0, out=R)
        R -= E
        np.exp(R, out=R)
        _turn(R, y)
        return values, R

    def conjugate(self, R: Floats, y: Labels) -> NDArray[np.float64]:
        Q = R.astype(np.float64)
        _turn(Q, y)
        slack = rounding(R)
        inside = ((-slack <= Q) & (1 + slack >= Q)).all(axis=1)
        np.clip(Q, 0, 1, out=Q)
        return np.where(inside, _x_log_x(Q) + _x_log_x(1 - Q), np.inf)


def _turn(S: Floats, y: Labels) -> None:
    S[np.arange(len(S)), y] *= -1


def _x_log_x(Q: Floats) -> NDArray[np.float64]:
    return np.asarray(np.einsum("nk,nk->n", Q, np.log(np.maximum(Q, np.finfo(np.float64).tiny))))


SCORE_LOSSES: dict[str, type[ScoreLoss]] = {
    "softmax": Softmax,
    "smoothed_hinge": SmoothedHinge,
    "squared": SquaredScores,
    "logistic": LogisticScores,
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
    return SCORE_LOSSES[loss]()


def describe_loss(loss: ScoreLoss) -> dict[str, dict[str, float]]:
    """Its name and settings.

    >>> describe_loss(SmoothedHinge(5.0))
    {'smoothed_hinge': {'sharpness': 5.0}}
    """
    if type(loss) is not SCORE_LOSSES.get(loss.name):
        raise TypeError(f"a loss must be one of {', '.join(SCORE_LOSSES)} to be saved; got {type(loss).__name__}")
    return {loss.name: {name: getattr(loss, name) for name in _SETTINGS.get(loss.name, ())}}


def loss_from_description(description: dict[str, dict[str, float]]) -> ScoreLoss:
    """The loss that was described so."""
    ((name, settings),) = description.items()
    return SCORE_LOSSES[name](**settings)


def best_temperature(S: Floats, y: Labels, weights: Any = None, smoothing: float = 0.0) -> float:
    """Find the T at which softmax(S / T) has the least loss.

    Parameters
    ----------
    S : ndarray of shape (n, k)
        Scores, of any size: T goes with them.
    y : ndarray of int32 of shape (n,)
        The classes.
    weights : ndarray of shape (n,), default=None
        How much each row counts; all alike by default.
    smoothing : float, default=0.0
        In so much of the cases a label is said to be another class, any of them alike.

    Returns
    -------
    float
        T.

    Examples
    --------
    >>> round(best_temperature(10 * np.log([[3.0, 1.0]] * 4), np.array([0, 0, 0, 1])), 3)
    10.0
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    scale = S.std(axis=1).mean(dtype=np.float64) or 1.0
    S = S / S.dtype.type(scale)
    size = max(1, (1 << 17) // S.shape[1])
    rows = [slice(start, start + size) for start in range(0, len(y), size)]
    # -log p of the mean over classes is -log p of y, and how much higher y is than the mean.
    right = S[np.arange(len(y)), y]
    above = right - S.mean(axis=1)

    def loss(log_temperature: float) -> float:
        T = S.dtype.type(np.exp(log_temperature))
        sums = np.concatenate([logsumexp(S[at] / T, axis=1) for at in rows])
        return float(np.average(sums - right / T + smoothing * above / T, weights=weights))

    return float(scale * np.exp(minimize_scalar(loss, bounds=(-8, 6), method="bounded").x))

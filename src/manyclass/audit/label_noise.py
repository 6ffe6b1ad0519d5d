"""LabelNoise: how likely a label is wrong, from what rows held out say of every class.

Several views of a row, each with a score for every class, are brought together as

    q(c | x)  proportional to  exp(sum over views of e_v g_v(c)),

and labels are taken for what such classes would give if a part of them, the noise, were wrong:

    p(label y | x) = (1 - noise) q(y) + noise (1 - q(y)) [(1 - s) / (k - 1) + s q(y) / (1 - q(b))],

b the best other class. A wrong label is any class, or (with the share s) one that looks like the right one, in which
case it is chosen by q among the classes that are not the best. The exponents e_v, the noise and s are those of the
highest likelihood. The first term's part of the sum is the probability that a label is right.

Rows are ranked by log r(y) - s log r(b), with r the root of q, made to sum to 1: by how unlikely the label is where
wrong ones may be any class, and by its odds against the best other class where they look alike. A flatter q than the
likely one ranks better: the part of flips among as many rows, on Caltech, flips of 5 and 10 % to any class, is 0.954
and 0.966, and 0.945 and 0.957 by q itself.

>>> noise = LabelNoise(np.ones(1), 0.1, 0.5, 3)
>>> judged = noise.judge([np.log([[0.98, 0.01, 0.01], [0.98, 0.01, 0.01]])], np.array([0, 1]))
>>> judged.wrong.round(2), judged.proposed
(array([0.  , 0.85]), array([1, 0]))
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Doubles, Floats, Labels
from manyclass.data.matrix import spans

_NOISE, _ALIKE = 0.05, 0.2  # where the search for the noise and for s begins

# What is lost by each wrong label that looks like the right one, lest those be made up that q would explain as well if
# it were a little flatter. Measured, flips that are expected for each that there is, on Caltech, Omniglot and letters,
# flips to any class: 1.10, 1.17 and 1.00 with 0.0, 1.08, 1.06 and 1.00 with 0.1.
_DOUBT = 0.1

# Labels that are taken for known, wrong and right, as there are in sets that people test with (Northcutt, Athalye and
# Mueller, 2021, found 3.3 % wrong in ten of them). Without, one wrong label among a few hundred makes q flat.
_KNOWN = (1.0, 29.0)

_FEWER, _FEWEST = 4, 256  # a part of the rows to begin with, and rows that there must be then

_LEAST_SHARE = 0.25  # of the best other class in the score

_LEAST = 1e-12

_BLOCK = 1 << 19  # scores that are worked on at once, in float64


@dataclass(frozen=True)
class LabelVerdicts:
    """What is known of some rows (m,)."""

    wrong: Doubles  # the probability that the label is wrong
    own: Doubles  # log q of the label
    other: Doubles  # log q of the best other class
    proposed: NDArray[np.intp]  # that class
    score: Doubles  # what rows are ranked by, the most suspicious have the least


@dataclass(frozen=True)
class LabelNoise:
    """The exponents of the views (v,), the part of labels that is wrong, that of them that look alike, and k."""

    exponents: Doubles
    noise: float
    alike: float
    k: int

    @classmethod
    def fit(cls, views: Sequence[Floats], y: Labels) -> "LabelNoise":
        """The most likely one for rows with labels y (m,) and the scores (m, k) of each view."""
        from scipy.optimize import minimize

        k = views[0].shape[1]
        scales = np.log([1 / max(float(view.std(dtype=np.float64)), _LEAST) for view in views])

        def loss(parameters: Doubles, views: Sequence[Floats], y: Labels) -> tuple[float, Doubles]:
            model = cls._of(parameters, k)
            value, slopes = _mean_loss(model, views, y)
            alike = _DOUBT * model.noise * model.alike
            slopes[-2:] += alike * (1 - model.noise), alike * (1 - model.alike)
            wrong, right = _KNOWN[0] / len(y), _KNOWN[1] / len(y)
            slopes[-2] += right * model.noise - wrong * (1 - model.noise)
            known = wrong * np.log(model.noise) + right * np.log(1 - model.noise)
            return float(value + alike - known), slopes

        # Far from where scores have their scale, nothing is learned.
        bounds = [(at - 6, at + 6) for at in scales] + [(-12.0, 0.0), (-6.0, 6.0)]
        # From where q is flat, a few wrong labels among many that are sure look like chance; so it begins sharp, too,
        # and by each view alone.
        alone = [np.where(np.arange(len(views)) == v, np.log(4), -3) for v in range(len(views))] if views[1:] else []
        # Where one label of a few hundred is wrong, the last bits of the scores may decide where a search ends, and
        # from sharp ones with wrong labels that look alike it ends well.
        starts = [[*(scales + sharper), _logit(_NOISE), _logit(_ALIKE)] for sharper in (0.0, np.log(4), *alone)]
        starts.append([*(scales + np.log(4)), _logit(_NOISE), -_logit(_ALIKE)])
        settings: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "bounds": bounds}
        step = min(_FEWER, len(y) // _FEWEST)
        if step > 1:
            # Which starts are best, and about where they end, a part of the rows tells; the better two go on, as a
            # part may have none of a few wrong labels.
            few = [np.ascontiguousarray(view[::step]) for view in views], y[::step]
            rough = [minimize(loss, start, few, options={"ftol": 1e-6}, **settings) for start in starts]
            starts = [one.x for one in sorted(rough, key=lambda one: one.fun)[:2]]
        found = [minimize(loss, start, (views, y), **settings) for start in starts]
        return cls._of(min(found, key=lambda one: one.fun).x, k)

    @classmethod
    def _of(cls, parameters: Doubles, k: int) -> "LabelNoise":
        noise, alike = 1 / (1 + np.exp(-parameters[-2:]))
        return cls(np.exp(parameters[:-2]), float(noise), float(alike), k)

    def log_q(self, views: Sequence[Floats]) -> Floats:
        """log q (m, k), in the dtype of the views."""
        L: Floats = np.multiply(views[0], views[0].dtype.type(self.exponents[0]))
        for exponent, view in zip(self.exponents[1:], views[1:], strict=True):
            L += view.dtype.type(exponent) * view
        L -= L.max(axis=1, keepdims=True)
        L -= np.log(np.exp(L).sum(axis=1, keepdims=True))
        return L

    def judge(self, views: Sequence[Floats], y: Labels) -> LabelVerdicts:
        """What the scores (m, k) of each view say of rows with labels y (m,)."""
        L, rows = self.log_q(views), np.arange(len(y))
        flat = np.log(np.exp(L / 2).sum(axis=1, dtype=np.float64))
        own = L[rows, y].astype(np.float64)
        L[rows, y] = -np.inf
        proposed = L.argmax(axis=1)
        other = L[rows, proposed].astype(np.float64)
        share = max(self.alike, _LEAST_SHARE)
        score = (own / 2 - flat) - share * (other / 2 - flat)
        likelihood = self._likelihood(np.exp(own), np.exp(other))
        return LabelVerdicts(likelihood[1] / np.maximum(sum(likelihood), 1e-300), own, other, proposed, score)

    def _likelihood(self, own: Doubles, other: Doubles) -> tuple[Doubles, Doubles]:
        """p(y | x) (m,) in its two parts: that of right labels, and that of wrong ones."""
        rest = np.maximum(np.maximum(1 - other, own), _LEAST)
        strange = (1 - self.alike) / (self.k - 1) + self.alike * own / rest
        return (1 - self.noise) * own, self.noise * (1 - own) * strange


def _mean_loss(model: LabelNoise, views: Sequence[Floats], y: Labels) -> tuple[float, Doubles]:
    """`_loss` of all rows, some at a time, in float64: float32 would end the search too early."""
    value, slopes = 0.0, np.zeros(len(views) + 2)
    for at in spans(len(y), max(1, _BLOCK // model.k)):
        part, share = _loss(model, [view[at].astype(np.float64) for view in views], y[at]), len(y[at]) / len(y)
        value += share * part[0]
        slopes += share * part[1]
    return value, slopes


def _loss(model: LabelNoise, views: Sequence[Floats], y: Labels) -> tuple[float, Doubles]:
    """The mean of -log p(y | x), and its gradient by log e_v and the log odds of the noise and of s."""
    L, rows = model.log_q(views), np.arange(len(y))
    Q = np.exp(L)
    own = Q[rows, y].astype(np.float64)
    L[rows, y] = -np.inf
    best = L.argmax(axis=1)
    other = np.exp(L[rows, best].astype(np.float64))
    right, wrong = model._likelihood(own, other)
    total = np.maximum(right + wrong, 1e-300)
    rest = np.maximum(np.maximum(1 - other, own), _LEAST)
    strange = wrong / model.noise / np.maximum(1 - own, _LEAST)
    by_own = (1 - model.noise) + model.noise * ((1 - own) * model.alike / rest - strange)
    by_other = model.noise * (1 - own) * model.alike * own / rest**2
    slopes = []
    for exponent, view in zip(model.exponents, views, strict=True):
        mean = np.einsum("mk,mk->m", Q, view, dtype=np.float64)
        d_own, d_other = own * (view[rows, y] - mean), other * (view[rows, best] - mean)
        slopes.append(exponent * np.mean((by_own * d_own + by_other * d_other) / total))
    by_noise = np.mean((wrong / model.noise - right / (1 - model.noise)) / total)
    slopes.append(by_noise * model.noise * (1 - model.noise))
    by_alike = model.noise * np.mean((1 - own) * (own / rest - 1 / (model.k - 1)) / total)
    slopes.append(by_alike * model.alike * (1 - model.alike))
    return float(-np.mean(np.log(total))), -np.array(slopes)


def _logit(part: float) -> float:
    return float(np.log(part / (1 - part)))

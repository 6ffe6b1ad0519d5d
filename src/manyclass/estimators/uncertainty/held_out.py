"""HeldOut: what a classifier says of rows that it has not seen, by which it judges what it says of others."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats, Singles
from manyclass.data.matrix import spans

_SCORES, _LEAST = 1 << 24, 1000  # scores of held-out rows at most: half a second for 1,000 columns; rows in any case

_NUMBERS, _ROWS = 1 << 18, 32  # scores, or numbers of rows, that are worked on at a time; and rows, as a product wants


class HeldOut(NamedTuple):
    """All that is kept of m rows that machines have not seen.

    >>> losses, ones = np.float32([1, 2, 3]), np.ones(3, np.float32)
    >>> HeldOut(losses, losses, losses, np.int32([0, 0, 0]), ones).threshold(0.5)
    2.0
    """

    losses: Singles  # (m,): -log of the probability of the own class
    sure: Singles  # (m,): log of the probability of the best class
    near: Singles  # (m,): how near they are to a class, as `KnownJudge` tells; the same as `sure` where nobody does
    classes: NDArray[np.int32]  # (m,): the own classes, as positions in `classes_`
    weights: Singles  # (m,): how much they count, 1 on average

    @classmethod
    def by_scores(
        cls, scores: Callable[[slice], Floats], d: int, y: NDArray[Any], temperature: float, sizes: Any = None
    ) -> "HeldOut":
        """Of rows of d columns with classes y (m,), by the scores (p, k) of any slice of them, which are overwritten.

        Where sizes of all classes (k,) are given, classes count by these, in whatever shares their rows were held out.
        """

        def of_rows(at: slice) -> tuple[Floats, Floats]:
            L = log_softmax(scores(at), temperature)
            return -L[np.arange(len(L)), y[at]], L.max(axis=1)

        k = scores(slice(0, 1)).shape[1]
        losses, sure = map(_singles, zip(*thread_map(of_rows, spans(len(y), rows_at_once(d, k))), strict=True))
        classes = np.asarray(y, np.int32)
        weights = np.ones(len(y)) if sizes is None else sizes[classes] / np.bincount(classes)[classes]
        return cls(losses, sure, sure.copy(), classes, (weights / weights.mean()).astype(np.float32))

    @classmethod
    def of_model(cls, model: Any) -> "HeldOut":
        """That of a fitted classifier."""
        found, k = cls(**model.held_out_), len(model.classes_)
        if not ((found.classes >= 0) & (found.classes < k)).all():
            raise ValueError(f"held_out_ must have classes in [0, {k}); got others; calibrate the classifier again")
        if not hasattr(model, "prior_"):
            return found
        # With another prior, rows of a class come that much more often than they were held out.
        weights = found.weights * (model.prior_ / model.class_prior_)[found.classes]
        return found._replace(weights=(weights / weights.mean()).astype(np.float32))

    def rows(self, which: NDArray[Any]) -> "HeldOut":
        """Some of them."""
        return HeldOut(*(values[which] for values in self))

    def halves(self) -> tuple["HeldOut", "HeldOut"]:
        """Every other row of each class, from the second on, and the rest."""
        order, counts = np.argsort(self.classes, kind="stable"), np.bincount(self.classes)
        second = (np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)) % 2 == 1
        return self.rows(np.sort(order[second])), self.rows(np.sort(order[~second]))

    def threshold(self, coverage: float) -> float:
        """The loss that so many other rows do not exceed; infinity where these are too few to tell.

        Of m rows that count alike it is the ceil((m + 1) coverage)-th least.
        """
        order = np.argsort(self.losses, kind="stable")
        upto = np.cumsum(self.weights[order], dtype=np.float64)
        # Another row is one more, which may be worse than all; rounding must not ask for yet another.
        needed = coverage * (1 - 1e-9) * (1 + 1 / max(1, len(upto))) * upto[-1:].sum()
        place = int(np.searchsorted(upto, needed))
        return float(self.losses[order[place]]) if place < len(order) else np.inf

    def p_values(self, sure: Floats, near: Floats, exponent: float = 1.0) -> Doubles:
        """How likely other rows of known classes are as little sure and near as these rows (n,) are, both together.

        Shares of rows that are less sure, to this power, and less near are multiplied (Fisher), and the products ranked
        once more.
        """
        one = float(self.weights.mean(dtype=np.float64))
        told = self.likeness(sure, near, exponent, one)
        return self._shares(self.likeness(self.sure, self.near, exponent), told, one)

    def likeness(self, sure: Floats, near: Floats, exponent: float, one: float = 0.0) -> Doubles:
        """The products for rows (n,): shares of those held out, and of the row itself where it counts."""
        found: Doubles = self._shares(self.sure, sure, one) ** exponent * self._shares(self.near, near, one)
        return found

    def _shares(self, known: Floats, values: Floats, one: float = 0.0) -> Doubles:
        """The share of rows that are at most as high as each value; with one more, which is itself."""
        order = np.argsort(known, kind="stable")
        upto = np.concatenate([[0.0], np.cumsum(self.weights[order], dtype=np.float64)])
        found: Doubles = (upto[np.searchsorted(known[order], values, "right")] + one) / (upto[-1] + one)
        return found


def some_rows(m: int, k: int, most: int | None = None) -> NDArray[np.intp]:
    """Of m rows that were held out, those that are kept where scores of k classes would take long; spread evenly."""
    size = min(m, max(_LEAST, _SCORES // k))
    return np.linspace(0, m - 1, size if most is None else min(size, most)).astype(np.intp)


def rows_at_once(d: int, k: int) -> int:
    """Rows of d columns whose scores of k classes are worked on at a time."""
    return max(_ROWS, _NUMBERS // max(d, k, 512))


def log_softmax(S: Floats, temperature: float = 1.0) -> Floats:
    """The logarithms of the probabilities softmax(S / temperature) (m, k), in the memory of S and as much again.

    >>> np.exp(log_softmax(2 * np.log([[1.0, 3.0]]), 2.0))
    array([[0.25, 0.75]])
    """
    S /= S.dtype.type(temperature)
    S -= S.max(axis=1, keepdims=True)
    S -= np.log(np.exp(S).sum(axis=1, keepdims=True))
    return S


def trained_intercept(model: Any) -> Floats:
    """The biases (k,) by which held-out rows were scored, whatever prior a classifier has by now."""
    found: Floats = getattr(model, "trained_intercept_", model.intercept_)
    return found


LEARNED = ("temperature_", "held_out_", "known_classes_", "_known_judge")  # what goes when machines change


def forget_held_out(model: Any) -> None:
    """Drop what is known of the machines of a classifier, and not true of others."""
    for name in LEARNED:
        model.__dict__.pop(name, None)


def has_held_out(method: str) -> Callable[[Any], bool]:
    """Whether a classifier has held-out rows, for a method that needs them; else an AttributeError."""

    def check(model: Any) -> bool:
        if not hasattr(model, "held_out_"):
            raise AttributeError(
                f"{method} needs what is said of rows that fit has not seen; fit with early_stopping=True, where the "
                "classifier has it, or call calibrate with such rows"
            )
        return True

    return check


def _singles(parts: Any) -> Singles:
    return np.concatenate(parts).astype(np.float32)

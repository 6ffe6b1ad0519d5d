"""The trace norm against the Frobenius norm, each with the strength that is best on a part held out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import manyclass as mc

PENALTIES = {"frobenius": "Frobenius", "trace": "trace norm"}


@dataclass(frozen=True)
class Parts:
    """Rows and labels to train on, to choose the strength on, and to test on."""

    train: tuple[Any, Any]
    held: tuple[Any, Any]
    test: tuple[Any, Any]


def best_on_held(parts: Parts, penalty: str, strengths: Sequence[float], **settings: Any) -> tuple[float, "Machines"]:
    """(C, coefficients (k, d) over all classes) with the fewest errors on the part held out; of equals the least C.

    Fits go from small C to large, each from the one before.
    """
    model = mc.SharedStructureClassifier(penalty=penalty, warm_start=True, **settings)
    found = []
    for C in sorted(strengths):
        model.set_params(C=C).fit(*parts.train)
        found.append((error(model.predict(parts.held[0]), parts.held[1]), C, model.coef_, model.classes_))
    _, C, coef, classes = min(found, key=lambda one: one[:2])
    return C, Machines(coef, classes)


def at_ends(chosen: Sequence[float], strengths: Sequence[float]) -> int:
    """How many are the least or the largest that was tried, or beyond them by a second round.

    >>> at_ends([1.0, 2.0, 5.0], [1.0, 2.0, 4.0])
    2
    """
    return sum(not min(strengths) < C < max(strengths) for C in chosen)


def said_ends(chosen: Mapping[str, Sequence[float]], strengths: Mapping[str, Sequence[float]], of: str) -> str:
    """A sentence on where the C of each norm lay among its values.

    >>> said_ends({"trace": [1.0, 2.0]}, {"trace": [1.0, 2.0, 4.0]}, "drawings")
    'C lay at an end of its values in 1 of 2 drawings (trace norm).'
    """
    parts = [f"{at_ends(some, strengths[p])} of {len(some)} {of} ({PENALTIES[p]})" for p, some in chosen.items()]
    return f"C lay at an end of its values in {' and in '.join(parts)}."


@dataclass(frozen=True)
class Machines:
    """Linear machines, kept of a path."""

    coef: Any
    classes: Any

    def predict(self, X: Any) -> Any:
        return self.classes[(X @ self.coef.T).argmax(axis=1)]

    def truncated(self, rank: int) -> "Machines":
        """The closest machines of lower rank."""
        U, s, V = np.linalg.svd(self.coef, full_matrices=False)
        return Machines((U[:, :rank] * s[:rank]) @ V[:rank], self.classes)

    @property
    def spectrum(self) -> Any:
        return np.linalg.svd(self.coef, compute_uv=False)


def error(found: Any, y: Any) -> float:
    """The part of the labels that are wrong."""
    return float(np.mean(np.asarray(found) != np.asarray(y)))

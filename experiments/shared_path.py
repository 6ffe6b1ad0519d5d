"""The trace norm against the Frobenius norm, each with the strength that is best on a part held out."""

from collections.abc import Sequence
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

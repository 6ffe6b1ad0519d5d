"""Rows of known classes in the place of unknown ones: which view tells these from known rows, learned without any.

A held-out row whose own class is left out is a row of a class that nobody knows: means of classes and rows that were
learned from are left out of distances to them, at no cost, and its column is left out of probabilities. The view that
tells held-out rows best from themselves without their class, by the area under the curve (AUROC), is the one to go by.

Machines of other classes have seen rows of the class as what they are not, so that probabilities without its column
look stranger than those of a class that was never there. What is found for them is an upper bound therefore, and they
never count more than distances do.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.typing import Doubles, Floats, Singles
from manyclass.data.dense import DenseMatrix
from manyclass.data.matrix import Matrix, spans
from manyclass.estimators.uncertainty.held_out import HeldOut, log_softmax, rows_at_once
from manyclass.estimators.uncertainty.known_classes import KnownClasses

MOST_HELD_OUT = 1 << 14  # rows whose distances are kept: 6 s beside so many rows to be near to as there can be

_ASKED = 2048  # held-out rows that a view is chosen by

_COPIES = 0.5  # of them that may be copies of rows to be near to, as some are in tables of whole numbers

# How much probabilities may count. With two classes all are sure of the one that is left, and nothing can be learned.
_EXPONENTS, _UNTOLD = (1.0, 0.75, 0.5, 0.25, 0.0), (1.0,)


def best_view(
    found: KnownClasses,
    learned: tuple[Matrix, NDArray[Any]],
    rows: DenseMatrix,
    machines: tuple[Floats, float],
    held_out: HeldOut,
) -> tuple[KnownClasses, HeldOut]:
    """(what is known of classes, held-out rows with their nearness) by the view that tells most of unknown ones.

    Classes were found from rows that were learned, (X, y); machines have given scores (m, k), at a temperature, to the
    rows that were held out.
    """
    asked = np.linspace(0, len(rows) - 1, min(len(rows), _ASKED)).astype(np.intp)
    some, own, k = DenseMatrix(rows.rows(asked)), held_out.classes[asked], len(found.means)
    few = held_out.rows(asked)
    sure = sure_without(machines[0][asked], own, machines[1])
    views = []
    for known, row_classes in ((found, None), found.with_rows(*learned)):
        judge = known.judge(row_classes)
        few = few._replace(near=judge.all_scores(some))
        if np.mean(few.near >= -judge.rounding) > _COPIES:
            continue  # held-out rows were among those that were learned: others would never be as near
        strange = judge.all_scores(some, own)
        for exponent in _EXPONENTS if k > 2 else _UNTOLD:
            pair = (few.likeness(few.sure, few.near, exponent), few.likeness(sure, strange, exponent, 1.0))
            views.append((told_apart(*pair), known, exponent))
    _, known, exponent = max(views, key=lambda one: one[0])
    known = known._replace(exponent=np.array([exponent], np.float32))
    return known, held_out._replace(near=known.judge().all_scores(rows))


def sure_without(S: Floats, own: NDArray[Any], temperature: float) -> Singles:
    """The log of the best probability of rows (m,) by scores S (m, k), were their own class not there.

    >>> S = np.log([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]])
    >>> np.exp(sure_without(S, np.array([0, 2]), 1.0)).round(3).tolist()
    [0.6000000238418579, 0.625]
    """
    out = np.empty(len(S), np.float32)
    for at in spans(len(S), rows_at_once(1, S.shape[1])):
        part = S[at].copy()
        part[np.arange(len(part)), own[at]] = -np.inf
        out[at] = log_softmax(part, temperature).max(axis=1)
    return out


def told_apart(known: Doubles, strange: Doubles) -> float:
    """How often a known row has more than a strange one, and half as often as it has the same.

    >>> told_apart(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    0.875
    """
    ranks = np.sort(known)
    below = np.searchsorted(ranks, strange, "left") + np.searchsorted(ranks, strange, "right")
    return 1 - float(below.mean()) / (2 * len(known))

"""LabelState: what each picture is, by what people said, or else by what it came with."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_length
from manyclass.runs.labeling.label_log import LabelLog

Indices = NDArray[np.intp]  # positions of pictures, or numbers of classes


@dataclass(frozen=True)
class LabelState:
    """What holds at one moment.

    Parameters
    ----------
    labels : dict of str to str
        Those of the log; another object after every change.
    set_aside : set of str
        Ids of pictures that are set aside.
    y : ndarray of shape (n,)
        The class of every picture, as a number of the `LabelBook`; -1 for none.
    said : ndarray of shape (n,), bool
        Whether a person gave the label, or said that it is right.
    out : ndarray of shape (n,), bool
        Whether it is set aside.
    """

    labels: dict[str, str]
    set_aside: set[str]
    y: Indices
    said: NDArray[np.bool_]
    out: NDArray[np.bool_]

    def waiting(self) -> Indices:
        """Positions of pictures without any label."""
        return np.flatnonzero((self.y < 0) & ~self.out)

    def unconfirmed(self) -> Indices:
        """Positions of pictures with labels of which nobody has said anything."""
        return np.flatnonzero((self.y >= 0) & ~self.said & ~self.out)

    def differs(self, labels: dict[str, str], set_aside: set[str]) -> bool:
        """Whether people said something else since."""
        return self.labels != labels or self.set_aside != set_aside


class LabelBook:
    """Pictures by position, classes by number, and the state of their labels.

    Parameters
    ----------
    ids : sequence of str
        The pictures, each once.
    log : LabelLog
        What people say; what it says of other ids is left alone.
    given : sequence of (str or None), default=None
        What the pictures came with.

    Attributes
    ----------
    positions : dict of str to int
        Pictures by id.
    names : list of str
        Classes by number, in the order of their coming.
    given : ndarray of shape (n,)
        What each picture came with, by number; -1 for nothing.
    """

    def __init__(self, ids: Sequence[str], log: LabelLog, given: Sequence[str | None] | None = None):
        n = len(ids)
        self._log, self.positions = log, {one: i for i, one in enumerate(ids)}
        if len(self.positions) < n:
            raise ValueError(f"ids must be different; got {n - len(self.positions)} of {n} twice; name each once")
        if given is not None:
            check_length(given, n, "given", "ids")
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self.given = np.array([-1 if one is None else self._number_of(one) for one in given or [None] * n], np.intp)
        self._mutex = threading.Lock()
        self._state: LabelState | None = None

    def now(self) -> LabelState:
        """What holds now; the same object until something changes."""
        with self._mutex:
            labels, apart, known = self._log.labels, self._log.set_aside, self._state
            if known is None or known.labels is not labels or known.set_aside != apart:
                self._state = known = self._make(labels, apart)
            return known

    def _make(self, labels: dict[str, str], apart: set[str]) -> LabelState:
        y = self.given.copy()
        said, out = np.zeros(len(y), bool), np.zeros(len(y), bool)
        for one, label in labels.items():
            if (position := self.positions.get(one)) is not None:
                y[position], said[position] = self._number_of(label), True
        said[[self.positions[one] for one in self._log.kept if one in self.positions]] = True
        where = [self.positions[one] for one in apart if one in self.positions]
        y[where], out[where] = -1, True
        return LabelState(labels, apart, y, said, out)

    def _number_of(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]

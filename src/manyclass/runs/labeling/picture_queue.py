"""PictureQueue: the pictures to ask for by one model, in the order of each strategy, found when somebody asks."""

import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from manyclass.runs.labeling.choosing import (
    COVERED,
    Candidates,
    Pick,
    learning_picks,
    rare_picks,
    typical_picks,
    uncertain_picks,
    wrong_picks,
)
from manyclass.runs.labeling.label_state import Indices, LabelState
from manyclass.runs.labeling.learned_model import LearnedModel
from manyclass.runs.labeling.learning_curve import ONE_IN
from manyclass.runs.labeling.picture_space import PictureSpace

_FEWEST = 1000  # pictures of the sample that are enough to choose from

_BY_CHANCE = "picked by chance, to judge how often the model is right"

LEARNING = "learning"  # what "mixed" is made of, beside chance

_PICKS = {
    LEARNING: learning_picks,
    "uncertain": uncertain_picks,
    "typical": typical_picks,
    "rare": rare_picks,
}


@dataclass(frozen=True)
class Choice:
    """A picture to ask for, and why.

    Parameters
    ----------
    position : int
        Its position.
    id : str
        Its id.
    reason : str
        "uncertain", "typical", "rare", "wrong" or "random".
    words : str
        The reason in words.
    """

    position: int
    id: str
    reason: str
    words: str


class PictureQueue:
    """Pictures to ask for, as what was learned would choose them. Threads may share it.

    Parameters
    ----------
    ids : sequence of str
        The pictures.
    chance : ndarray of intp
        Positions of those that may be asked for by chance, in their order.
    space : PictureSpace
        Their coordinates.
    state : LabelState
        What held when it was made; what is labeled since is passed over.
    model : LearnedModel or None
        What was learned.
    rows, y, counts : ndarray of intp
        The positions it learned from, their classes as it numbers them, and how many there are of each.
    """

    def __init__(
        self,
        ids: Sequence[str],
        chance: Indices,
        space: PictureSpace,
        state: LabelState,
        model: LearnedModel | None,
        rows: Indices,
        y: Indices,
        counts: Indices,
    ):
        self._ids, self._chance, self._space, self._state = ids, chance, space, state
        self._model, self._rows, self._y, self._counts = model, rows, y, counts
        self._mutex, self._sequences = threading.Lock(), dict[str, _Sequence]()

    def take(self, by: str, now: LabelState, without: Collection[str], count: int) -> list[Choice]:
        """The first so many of a strategy that nobody has labeled meanwhile, and that are not excluded."""
        found: list[Choice] = []
        for position, pick in self._sequence(by):
            if not now.said[position] and not now.out[position] and self._ids[position] not in without:
                found.append(Choice(position, self._ids[position], pick.reason, pick.words))
                if len(found) == count:
                    break
        return found

    def mixed(self, now: LabelState, exclude: Collection[str], count: int) -> list[Choice]:
        """Pictures that teach, and as many by chance that every fifth label is such a one."""
        without, waits = set(exclude), (now.y < 0) & ~now.out
        shown = np.array([self._ids[i] in without for i in self._chance], bool) if without else np.False_
        free = iter(self._chance[waits[self._chance] & ~shown].tolist())
        asked = int((now.said[self._chance] | shown).sum())
        total = int(now.said.sum()) + len(without)
        ways = (LEARNING,) if waits.any() else ("wrong", LEARNING)
        found: list[Choice] = []
        while len(found) < count:
            more: list[Choice] = []
            if asked < (total + len(found) + 1) // ONE_IN and (position := next(free, None)) is not None:
                more, asked = [Choice(position, self._ids[position], "random", _BY_CHANCE)], asked + 1
            for way in ways:
                more = more or self.take(way, now, without, 1)
            if not more and (position := next((i for i in free if self._ids[i] not in without), None)) is not None:
                more = [Choice(position, self._ids[position], "random", _BY_CHANCE)]
            if not more:
                break
            found += more
            without.add(more[0].id)
        return found

    def _sequence(self, by: str) -> "_Sequence":
        with self._mutex:
            if by not in self._sequences:
                self._sequences[by] = _Sequence(self._begin(by))
            return self._sequences[by]

    def _begin(self, by: str) -> Iterator[tuple[int, Pick]]:
        if by == "wrong":
            yield from self._suspects()
            return
        waiting = self._state.waiting()
        if not len(waiting):
            waiting = self._state.unconfirmed()
        drawn = np.random.default_rng(0).permutation(waiting)
        by_chance = np.isin(drawn, self._chance)
        yield from self._chosen(by, drawn[~by_chance])
        # What is asked for by chance must not be what somebody chose, as long as there are others.
        if by != LEARNING:
            yield from self._chosen(by, drawn[by_chance])

    def _chosen(self, by: str, drawn: Indices) -> Iterator[tuple[int, Pick]]:
        """Some of these positions, as a strategy has them."""
        # Coordinates of the sample are known; where nearly all of it is labeled, it is time to look at others.
        known = drawn[np.isin(drawn, self._space.sample)]
        drawn = known if len(known) >= _FEWEST else drawn[: len(self._space.sample)]
        drawn = drawn if by in ("uncertain", "rare") else drawn[:COVERED]
        for pick in _PICKS[by](self._candidates(drawn)) if len(drawn) else ():
            yield int(drawn[pick.number]), pick

    def _suspects(self) -> Iterator[tuple[int, Pick]]:
        """Labels that pictures came with, and that nobody has confirmed."""
        if self._model is None or self._model.held_out is None:
            return
        given = np.flatnonzero(~self._state.said[self._rows])
        for pick in wrong_picks(self._model.held_out[given], self._y[given], self._model.held_out_classes):
            yield int(self._rows[given[pick.number]]), pick

    def _candidates(self, positions: Indices) -> Candidates:
        space, model = self._space, self._model
        labeled = space.coordinates(np.flatnonzero(self._state.said & (self._state.y >= 0)))
        if model is None:
            return Candidates(space.coordinates(positions), labeled, None, [], self._counts)
        counts = self._counts if len(self._counts) == len(model.classes) else np.zeros(len(model.classes), np.intp)
        P = model.probabilities(positions, space.X)
        return Candidates(space.coordinates(positions), labeled, P, model.classes, counts)


class _Sequence:
    """Picks that are found when somebody first asks for them, and then known to all who ask."""

    def __init__(self, picks: Iterator[tuple[int, Pick]]):
        self._picks, self._found, self._mutex = picks, list[tuple[int, Pick]](), threading.Lock()

    def __iter__(self) -> Iterator[tuple[int, Pick]]:
        place = 0
        while True:
            with self._mutex:
                if place == len(self._found):
                    one = next(self._picks, None)
                    if one is None:
                        return
                    self._found.append(one)
            yield self._found[place]
            place += 1

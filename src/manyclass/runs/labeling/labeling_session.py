"""LabelingSession: labels come in, a classifier learns from them, and says which picture to ask for next.

Nothing is kept but in the log: a session over the same pictures and the same log goes on where another ended.
"""

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manyclass._core.checks import check_count, check_length, check_one_of
from manyclass.data.readers.as_matrix import as_matrix
from manyclass.runs.labeling.choosing import CHOICES
from manyclass.runs.labeling.label_log import LabelLog
from manyclass.runs.labeling.label_state import Indices, LabelBook, LabelState
from manyclass.runs.labeling.learned_model import LearnedModel, learn
from manyclass.runs.labeling.learning_curve import (
    CurvePoint,
    Judgement,
    chance_order,
    curve_of,
    gain_in_words,
    judge_events,
)
from manyclass.runs.labeling.picture_queue import Choice, PictureQueue
from manyclass.runs.labeling.picture_space import PictureSpace

_SAMPLE = 20_000  # rows that stand for all

_MOST_LEARNED = 20_000  # rows with labels that are learned from, but for what people said

_NONE = np.empty(0, np.intp)


@dataclass(frozen=True)
class Proposal:
    """A class that a picture may be of.

    Parameters
    ----------
    label : str
        The class.
    probability : float
        How likely it is; what is missing to 1 is left to other classes, known and unknown.
    """

    label: str
    probability: float


@dataclass(frozen=True)
class TrainingResult:
    """What was learned.

    Parameters
    ----------
    labels : int
        Pictures whose labels were learned from.
    classes : int
        Classes that they have.
    kind : str
        What is best with them: "means", "square" (the closed form), "run", or "" if nothing was learned.
    accuracy : float or None
        The share of labels that it has right without having seen them. Pictures that were chosen are no fair sample;
        `LabelingSession.curve` goes by those that were.
    seconds : float
        How long it took.
    """

    labels: int
    classes: int
    kind: str
    accuracy: float | None
    seconds: float


@dataclass(frozen=True)
class _Learned:
    """What was learned last, of which labels, and the pictures to ask for by it."""

    number: int  # of the last event that was learned
    labels: dict[str, str]
    set_aside: set[str]
    model: LearnedModel | None
    rows: Indices  # positions that were learned from
    counts: Indices  # (k,), of each class
    queue: PictureQueue | None


class LabelingSession:
    """Labels of pictures, a classifier that learns from them, and which picture to ask for next.

    Threads may share it: while one is in `train`, others are answered by what was learned last.

    Parameters
    ----------
    X : matrix-like of shape (n, d)
        Features of the pictures.
    ids : sequence of str
        Their ids, each of which is there once.
    log : LabelLog
        What people say. What it says of ids that are not among these is left alone.
    given : sequence of (str or None), default=None
        Labels that the pictures came with, which teach until a person says something else.
    classes : sequence of str, default=()
        Classes that are known by name, without examples; they are of no use to the classifier.
    model : classifier, default=None
        One that is there already. It is used as long as it is right more often than what is learned here.
    seed : int, default=0
        What is drawn by chance is drawn by it.

    Examples
    --------
    >>> import tempfile
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat(np.eye(3), 20, axis=0) + 0.1 * rng.normal(size=(60, 3))
    >>> with tempfile.TemporaryDirectory() as folder, LabelLog(f"{folder}/labels.jsonl") as log:
    ...     session = LabelingSession(X, [f"{i}.jpg" for i in range(60)], log)
    ...     for _ in range(8):
    ...         (choice,) = session.next()
    ...         _ = log.append([choice.id], ["ant", "bee", "cat"][choice.position // 20])
    ...         _ = session.train()
    ...     session.proposals([25])[0][0].label
    'bee'
    """

    def __init__(
        self,
        X: Any,
        ids: Sequence[str],
        log: LabelLog,
        *,
        given: Sequence[str | None] | None = None,
        classes: Sequence[str] = (),
        model: Any = None,
        seed: int = 0,
    ):
        self.X, self.ids, self.log, self.seed = as_matrix(X), list(ids), log, seed
        check_length(self.ids, self.X.shape[0], "ids", "rows of X")
        if not self.ids:
            raise ValueError("X must have at least one row; got none")
        self.known_classes = list(classes)
        self._book, self._run = LabelBook(self.ids, log, given), model
        self._chance = np.array(chance_order(self.ids, seed), np.intp)
        self._mutex, self._training = threading.RLock(), threading.Lock()
        self._space: PictureSpace | None = None
        first = None if model is None else LearnedModel.of_run(model)
        self._learned = _Learned(0, {}, set(), first, _NONE, _NONE, None)
        self._predicted: dict[int, str] = {}
        self._judged: tuple[int, list[Judgement]] = (-1, [])

    @property
    def trained_on(self) -> int:
        """How many pictures the classifier has learned from, an int."""
        return len(self._learned.rows)

    def proposals(self, positions: Sequence[int], k: int = 5) -> list[list[Proposal]]:
        """Propose classes for pictures.

        Parameters
        ----------
        positions : sequence of int
            Positions of the pictures.
        k : int, default=5
            How many classes at most.

        Returns
        -------
        list of list of Proposal
            Of each picture the most likely classes, the best first; none while nothing is learned. A label that a
            picture came with and nobody has confirmed has no part in what is proposed for it.
        """
        check_count(k, "k")
        learned = self._learned
        model, where = learned.model, np.asarray(positions, np.intp).reshape(-1)
        if model is None or not len(where):
            return [[] for _ in where]
        P = model.proposed(where, self.X)
        if model.held_out is not None and model.classes == list(model.held_out_classes):
            unseen, rows = self._learned_from_given(learned.rows, learned.counts, model.classes, where)
            P = P.copy()
            P[unseen] = model.held_out[rows]
        best = np.argsort(-P, axis=1, kind="stable")[:, :k]
        return [
            [Proposal(model.classes[place], float(row[place])) for place in places]
            for row, places in zip(P, best, strict=True)
        ]

    def next(self, by: str = "mixed", count: int = 1, exclude: Iterable[str] = ()) -> list[Choice]:
        """Choose pictures to ask for.

        Parameters
        ----------
        by : {"mixed", "uncertain", "typical", "rare", "wrong"}, default="mixed"
            How. "mixed" is the way to learn fast: pictures that stand for many over which the model hesitates, and one
            in five by chance, by which `curve` judges.
        count : int, default=1
            How many.
        exclude : iterable of str, default=()
            Ids of pictures not to choose, such as those that others look at.

        Returns
        -------
        list of Choice
            The pictures, the first to ask for first; fewer where there are no more.
        """
        check_one_of(by, "by", CHOICES)
        check_count(count, "count")
        now, queue, without = self._book.now(), self._queue(), set(exclude)
        return queue.mixed(now, without, count) if by == "mixed" else queue.take(by, now, without, count)

    def train(self) -> TrainingResult:
        """Learn from the labels that there are now.

        Returns
        -------
        TrainingResult
            What was learned.
        """
        with self._training:
            begun, number = time.monotonic(), self.log.last_number
            now = self._book.now()
            self._judge()  # by the model that has not seen the new labels
            rows = self._rows_to_learn(now)
            model, y, counts = (self._learned.model if self._run is not None else None), _NONE, _NONE
            if len(rows):
                y, classes = self._classes_of(now.y[rows])
                space = self._picture_space()
                pool = space.sample[(now.y[space.sample] < 0) & ~now.out[space.sample]]
                fair = np.isin(rows, self._chance) & now.said[rows]
                new = now.said[rows] & (self._book.given[rows] < 0)
                model = learn(space, rows, y, classes, pool, self._run, fair, new, self.seed)
                counts = np.bincount(y, minlength=len(classes))
            queue = self._make_queue(now, model, rows, y, counts)
            queue.mixed(now, (), 1)  # the first takes longest; others are answered by the old queue meanwhile
            with self._mutex:
                self._learned = _Learned(number, now.labels, now.set_aside, model, rows, counts, queue)
            kind, accuracy = ("", None) if model is None else (model.kind, model.accuracy)
            return TrainingResult(len(rows), len(counts), kind, accuracy, time.monotonic() - begun)

    def needs_training(self) -> bool:
        """Tell whether there are labels that are not learned yet.

        Returns
        -------
        bool
            Whether there are.
        """
        now, learned = self._book.now(), self._learned
        if now.differs(learned.labels, learned.set_aside):
            return True
        return not len(learned.rows) and bool((now.y >= 0).any())

    def curve(self) -> list[CurvePoint]:
        """Tell how often the model was right as labels grew more.

        It is judged by pictures that were picked by chance, one in five, for which something was proposed before their
        label was given: pictures that are chosen to teach are no fair sample.

        Returns
        -------
        list of CurvePoint
            The share of the last fifty such pictures, with its interval; none before there are ten.
        """
        return curve_of(self._judge())

    def last_gain(self) -> str:
        """Tell what the last labels brought, in words.

        Returns
        -------
        str
            A sentence without its full stop; empty where too little is known.
        """
        return gain_in_words(self._judge())

    def classifier(self) -> Any:
        """Get the classifier that was learned last.

        Returns
        -------
        classifier or None
            A fitted classifier of the features, with `predict` and `save`; None before two classes are known.
        """
        learned = self._learned
        return None if learned.model is None else learned.model.classifier(learned.counts)

    def _learned_from_given(
        self, learned: Indices, counts: Indices, classes: Sequence[str], where: Indices
    ) -> tuple[Indices, Indices]:
        """Which of some positions taught by the labels they came with, beside others of their class, and their rows."""
        now, rows = self._book.now(), np.searchsorted(learned, where)
        taught = np.isin(where, learned) & ~now.said[where] & (now.y[where] >= 0)
        several = {name for name, n in zip(classes, counts.tolist(), strict=True) if n > 1}
        found = [i for i in np.flatnonzero(taught).tolist() if self._book.names[now.y[where[i]]] in several]
        return np.array(found, np.intp), rows[found]

    def _rows_to_learn(self, now: LabelState) -> Indices:
        """Those that people labeled, and others with labels, as many of each class as far as there are some."""
        said, others = np.flatnonzero(now.said & (now.y >= 0)), now.unconfirmed()
        room = max(0, _MOST_LEARNED - len(said))
        if len(others) > room:
            others = np.random.default_rng([self.seed, 6]).permutation(others)
            others = others[np.argsort(now.y[others], kind="stable")]
            sizes = np.bincount(now.y[others])
            turn = np.arange(len(others)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            others = others[np.argsort(turn, kind="stable")[:room]]
        return np.sort(np.concatenate([said, others]))

    def _classes_of(self, numbers: Indices) -> tuple[Indices, list[str]]:
        """Classes of rows as numbers of their sorted names, and these."""
        names = self._book.names
        present, inverse = np.unique(numbers, return_inverse=True)
        order = np.array(sorted(range(len(present)), key=lambda i: names[present[i]]))
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        return place[inverse], [names[present[i]] for i in order]

    def _picture_space(self) -> PictureSpace:
        with self._mutex:
            if self._space is None:
                self._space = PictureSpace(self.X, _SAMPLE, self.seed)
            return self._space

    def _make_queue(
        self, now: LabelState, model: LearnedModel | None, rows: Indices, y: Indices, counts: Indices
    ) -> PictureQueue:
        return PictureQueue(self.ids, self._chance, self._picture_space(), now, model, rows, y, counts)

    def _queue(self) -> PictureQueue:
        with self._mutex:
            known = self._learned
            if known.queue is None:  # nothing was learned yet
                queue = self._make_queue(self._book.now(), known.model, _NONE, _NONE, _NONE)
                self._learned = known = replace(known, queue=queue)
            assert known.queue is not None
            return known.queue

    def _judge(self) -> list[Judgement]:
        """What is known of pictures picked by chance; of labels that are new, what the model says is kept here."""
        with self._mutex:
            number, learned = self.log.last_number, self._learned
            if self._judged[0] == number:
                return self._judged[1]
            events = self.log.events()
            for event in events:
                if event.number > max(learned.number, self._judged[0]) and event.proposed is None:
                    self._predict(event.number, event.ids)
            by_chance = {self.ids[i] for i in self._chance}
            undone = {event.undoes for event in events if event.undoes is not None}
            self._judged = number, judge_events(events, undone, by_chance, self._predicted)
            return self._judged[1]

    def _predict(self, number: int, ids: Sequence[str]) -> None:
        if len(ids) == 1 and ids[0] in self._book.positions:
            (found,) = self.proposals([self._book.positions[ids[0]]], 1)
            if found:
                self._predicted[number] = found[0].label

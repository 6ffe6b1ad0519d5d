"""LabelingDesk: where people say what the pictures of a collection show, while a classifier learns behind them.

What is said is on disk before anybody is told that it was taken. Learning is one thread that nobody waits for: it
begins when enough was said, or when nothing more was said for a moment, and what is said meanwhile is learned next.
"""

import errno
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from manyclass._core.errors import StorageError
from manyclass._core.parallel import get_threads, threads
from manyclass.runs.labeling import LabelEvent, LabelLog
from manyclass.server.app import ApiError
from manyclass.server.desks.class_search import ClassSearch

if TYPE_CHECKING:
    from manyclass.runs.labeling import LabelingSession
    from manyclass.server.collection import Collection

LOG_FILE = "labels.jsonl"

ENOUGH, MOMENT = 20, 1.0  # things said that are learned at once; seconds without another after which fewer are

MOST_ASKERS = 24  # who wait for what learns at once; a server has 40 threads for all requests

_LOG = logging.getLogger("manyclass.server")

Publish = Callable[[str, dict[str, Any]], None]  # (kind of event, what it tells)


class NotWrittenError(ApiError):
    """What somebody said could not be brought to the disk, and does not hold."""


@dataclass(frozen=True)
class Said:
    """What holds at one moment of all that people said: labels by id, and ids that are set aside or kept."""

    labels: dict[str, str]
    set_aside: frozenset[str]
    kept: frozenset[str]

    @cached_property
    def counts(self) -> Counter[str]:
        """Pictures of each label."""
        return Counter(self.labels.values())


_NOTHING = Said({}, frozenset(), frozenset())


class LabelingDesk:
    """Labels of the pictures of a collection: taking them, taking them back, and what is learned of them.

    Any number of threads may use it. `publish` is called with "labeling" and the state whenever learning begins or
    ends.
    """

    def __init__(
        self, collection: "Collection", publish: Publish | None = None, enough: int = ENOUGH, moment: float = MOMENT
    ):
        self.collection = collection
        self.askers = threading.BoundedSemaphore(MOST_ASKERS)
        self._publish = publish or (lambda kind, data: None)
        self._enough, self._moment = enough, moment
        # The file and what learns have locks of their own: nobody waits for the second who only looks at pictures.
        self._opening, self._making, self._changed = threading.Lock(), threading.Lock(), threading.Condition()
        self._log: LabelLog | None = None
        self._said: Said | None = None
        self._session: LabelingSession | None = None
        self._thread: threading.Thread | None = None
        self._new, self._last = 0, 0.0  # things said that are not learned yet, and when the last of them was
        self._asked = self._training = self._closed = False
        self._problem = ""
        self._given = Counter(label for label in collection.given if label is not None)
        self._known = frozenset({*self._given, *map(str, getattr(collection.model, "classes_", ()))})
        self._search: tuple[frozenset[str], ClassSearch] | None = None  # beside classes that people added

    @property
    def log(self) -> LabelLog:
        """All that was said. A file that cannot be opened is a NotWrittenError; the next who asks tries again."""
        with self._opening:
            if self._log is None:
                try:
                    self._log = LabelLog(self.collection.home / LOG_FILE)
                except (StorageError, OSError) as error:
                    raise self._not_written(error, "labels are neither read nor taken") from error
            return self._log

    @property
    def session(self) -> "LabelingSession":
        """What learns. It is made when first asked for, and begins at once where there is something to learn from."""
        with self._making:
            if self._session is None:
                from manyclass.runs.labeling import LabelingSession

                about = self.collection
                known: dict[str, Any] = {"given": about.given, "model": about.model, "classes": sorted(self._known)}
                made = LabelingSession(about.X, about.ids, self.log, **known)
                needed = made.needs_training()
                self._session = made
                if needed:
                    self._wake(self._enough)
            return self._session

    def said(self) -> Said:
        """What holds now; nothing where the file cannot be read, as pictures are found all the same."""
        try:
            log = self.log
        except NotWrittenError:
            return _NOTHING
        labels = log.labels  # another dict after every change
        known = self._said
        if known is None or known.labels is not labels:
            self._said = known = Said(labels, frozenset(log.set_aside), frozenset(log.kept))
        return known

    def labels_now(self) -> list[str | None]:
        """What each picture is, by number: what people said, or else what it came with; None for those set aside."""
        said, about = self.said(), self.collection
        known = zip(about.ids, about.given, strict=True)
        return [None if one in said.set_aside else said.labels.get(one, given) for one, given in known]

    def picture(self, number: int) -> dict[str, Any]:
        """A picture as it is answered, with what people said of it."""
        said, one = self.said(), self.collection.ids[number]
        about: dict[str, Any] = self.collection.picture(number)
        return {**about, "label": said.labels.get(one), "set_aside": one in said.set_aside}

    def say(
        self,
        ids: Sequence[str],
        label: str | None,
        *,
        action: str = "label",
        proposed: str | None = None,
        who: str = "",
        source: str = "",
    ) -> LabelEvent:
        """Take down what somebody said of pictures of the collection; it is on disk when this returns."""
        for one in ids:
            self.number(one)
        try:
            event = self.log.append(ids, label, action=action, proposed=proposed, who=who, source=source)
        except (StorageError, OSError) as error:
            raise self._not_written(error, "nothing was labeled") from error
        self._wake()
        return event

    def undo(self, who: str = "", number: int | None = None) -> LabelEvent | None:
        """Take back the last thing that this person said, or that of a number; the event, or None if there is none."""
        log = self.log
        try:
            undo = log.undo(who, number)
        except (StorageError, OSError) as error:
            raise self._not_written(error, "nothing was taken back") from error
        if undo is None:
            return None
        self._wake()
        return next(event for event in reversed(log.events()) if event.number == undo.undoes)

    def number(self, one: str) -> int:
        """The number of the picture of an id."""
        try:
            return int(self.collection.number(one))
        except ValueError as error:
            raise ApiError(404, str(error)) from None

    def classes(self, text: str) -> list[dict[str, Any]]:
        """Classes that fit what somebody typed, the best first, each with how many pictures came and were labeled so.

        Of those that fit alike, the ones that people use more come sooner.
        """
        counts = self.said().counts
        new = frozenset(counts) - self._known
        search = self._search
        if search is None or search[0] != new:
            self._search = search = (new, ClassSearch(self._known | new))
        found = search[1].find(text, lambda name: counts[name])
        return [{"name": name, "given": self._given[name], "labeled": counts[name]} for name in found]

    def state(self) -> dict[str, Any]:
        """What is known of labeling, as GET /api/labeling tells it."""
        said, session = self.said(), self._session
        return {
            "labeled": len(said.labels),
            "classes": len(said.counts),
            "set_aside": len(said.set_aside),
            "training": self._training or self._asked,
            "trained_on": 0 if session is None else session.trained_on,
            "curve": [] if session is None else [asdict(point) for point in session.curve()],
            "last_gain": "" if session is None else session.last_gain(),
            "problem": self._problem or self._note(),
        }

    def close(self) -> None:
        """Learn no more, and let others write the file. What is being learned just now is not waited for."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        with self._opening:
            if self._log is not None:
                self._log.close()

    def _note(self) -> str:
        """What is to be said of the file; mostly nothing."""
        try:
            return str(self.log.note)
        except NotWrittenError as error:
            return str(error)

    def _not_written(self, error: Exception, consequence: str) -> NotWrittenError:
        """The error for people at the page, who gave no command that they could repeat."""
        cause = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(cause, OSError):
            return NotWrittenError(503, str(error))
        reason, number = (cause.strerror or str(cause)).lower(), cause.errno or 0
        path, advice = self.collection.home / LOG_FILE, _ADVICE.get(number, "look at the disk and say it again")
        sentence = f"{path} cannot be written ({reason}): {consequence}; {advice}"
        return NotWrittenError(507 if number in _FULL else 503, sentence)

    def _wake(self, new: int = 1) -> None:
        """Have the thread learn; it is started where somebody has asked for what is learned."""
        with self._changed:
            self._new, self._last = self._new + new, time.monotonic()
            if self._session is None or self._closed:
                return
            self._asked = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._learn, name="labeling", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _learn(self) -> None:
        while self._wait():
            self._announce()
            problem = ""
            try:
                with threads(max(1, get_threads() - 1)):  # one is left to those who ask
                    self.session.train()
            except Exception as error:  # whatever it is, people go on labeling, and are told
                _LOG.exception("learning from labels failed")
                problem = f"learning from the labels failed: {error}"
            with self._changed:
                self._training, self._problem = False, problem
            self._announce()

    def _wait(self) -> bool:
        """Wait until it is time to learn; False when there is nothing more to come."""
        with self._changed:
            while not self._closed:
                left = self._last + self._moment - time.monotonic() if self._asked else None
                if left is not None and (left <= 0 or self._new >= self._enough):
                    self._asked, self._training, self._new = False, True, 0
                    return True
                self._changed.wait(left)
            return False

    def _announce(self) -> None:
        self._publish("labeling", self.state())


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_ADVICE = {
    **dict.fromkeys(_FULL, "make room on the disk and say it again"),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS), "let the server write there, or start it with another home"
    ),
}

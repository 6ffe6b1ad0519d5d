"""LabelLog: what people said of pictures, in one file to whose end alone is ever written.

Each event is one line, on disk before anybody is told that it was taken. What a process that was killed left of a line
at the end was told to nobody, and is cut off. Everything before the end was, so that damage there is an error.
"""

import fcntl
import os
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from manyclass._core.errors import FolderBusyError, StorageError
from manyclass._core.files import explain_disk_errors, make_folder, open_own, sync_file, sync_folder
from manyclass._core.reading import read_file
from manyclass._core.text import pluralize
from manyclass.runs.labeling.label_event import ACTIONS, LabelEvent, check_ids, check_label

_SAID = tuple(action for action in ACTIONS if action != "undo")


class LabelLog:
    """What people said of pictures: one append-only file, and what holds now. Threads may share it.

    The file is made when something is first said. From then on, or from the opening of one that is there, no other
    process can write to it.

    Parameters
    ----------
    path : path-like
        The file, JSON lines.

    Attributes
    ----------
    path : Path
        The file.
    note : str
        What had to be cut off when the file was opened, as a sentence; mostly empty.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, LabelLog(f"{folder}/labels.jsonl") as log:
    ...     _ = log.append(["a.jpg", "b.jpg"], "cat"), log.append(["b.jpg"], "dog")
    ...     now = log.labels
    ...     undone = log.undo().undoes
    ...     now, undone, log.labels
    ({'a.jpg': 'cat', 'b.jpg': 'dog'}, 2, {'a.jpg': 'cat', 'b.jpg': 'cat'})
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path, self.note = Path(path), ""
        self._mutex = threading.RLock()
        self._descriptor: int | None = None
        self._end = 0  # bytes of the file that are acknowledged
        self._broken = False  # what is behind the end could not be cut off
        self._shown: dict[str, str] | None = None
        self._forget()
        if os.path.lexists(self.path):
            self._open()

    def append(
        self,
        ids: Sequence[str],
        label: str | None,
        *,
        action: str = "label",
        proposed: str | None = None,
        who: str = "",
        source: str = "",
    ) -> LabelEvent:
        """Take down what somebody said; it is on disk when this returns.

        Parameters
        ----------
        ids : sequence of str
            The pictures.
        label : str or None
            The label; None takes it away.
        action : str, default="label"
            "label", "set_aside" or "keep".
        proposed : str, default=None
            The label that was proposed.
        who : str, default=""
            Who said it.
        source : str, default=""
            Where it was said.

        Returns
        -------
        LabelEvent
            What was taken down.
        """
        if action not in _SAID:
            raise ValueError(f"action must be one of {', '.join(_SAID)}; got {action!r}; `undo` takes things back")
        if action == "set_aside" and label is not None:
            raise ValueError(f"label must be None for pictures that are set aside; got {label!r}")
        known = None if label is None else check_label(label)
        seen = None if proposed is None else check_label(proposed, "proposed")
        who, source = check_label(who, "who", True), check_label(source, "source", True)
        return self._say(check_ids(ids), action, known, seen, who, source)

    def undo(self, who: str | None = None, number: int | None = None) -> LabelEvent | None:
        """Take back the last thing that is not taken back yet, or a certain one.

        Parameters
        ----------
        who : str, default=None
            Whose; an empty text is whoever gave no name, None is anybody.
        number : int, default=None
            The number of the event to take back. Asked for twice, it is taken back once.

        Returns
        -------
        LabelEvent or None
            What was taken down, with the number of what it takes back as `undoes`; None if there is nothing left.
        """
        with self._mutex:
            self._ready()
            for event in reversed(self._events):
                wanted = event.action != "undo" and who in (None, event.who) and number in (None, event.number)
                if wanted and event.number not in self._undone:
                    return self._say(event.ids, "undo", None, None, event.who if who is None else who, "", event.number)
            return None

    @property
    def labels(self) -> dict[str, str]:
        """Labels that hold now, by id: a dict of str to str, which later changes leave alone."""
        with self._mutex:
            if self._shown is None:
                self._shown = dict(self._labels)
            return self._shown

    @property
    def set_aside(self) -> set[str]:
        """Ids of pictures that are set aside, a set of str."""
        with self._mutex:
            return {one for one, action in self._apart.items() if action == "set_aside"}

    @property
    def kept(self) -> set[str]:
        """Ids of pictures of which somebody said that their label is right, a set of str."""
        with self._mutex:
            return {one for one, action in self._apart.items() if action == "keep"}

    @property
    def last_number(self) -> int:
        """The number of the last event, an int; 0 if there is none."""
        with self._mutex:
            return self._events[-1].number if self._events else 0

    def events(self) -> list[LabelEvent]:
        """Tell all that was said, in its order.

        Returns
        -------
        list of LabelEvent
            The events.
        """
        with self._mutex:
            return list(self._events)

    def is_undone(self, number: int) -> bool:
        """Tell whether an event is taken back.

        Parameters
        ----------
        number : int
            The number of the event.

        Returns
        -------
        bool
            Whether it is.
        """
        with self._mutex:
            return number in self._undone

    def counts(self) -> dict[str, int]:
        """Count pictures by label.

        Returns
        -------
        dict of str to int
            Pictures of each label, most first.
        """
        return dict(Counter(self.labels.values()).most_common())

    def close(self) -> None:
        """Let other processes write to the file; this object can no longer."""
        with self._mutex:
            if self._descriptor is not None:
                os.close(self._descriptor)
            self._descriptor, self._broken = None, True

    def __enter__(self) -> "LabelLog":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._labels)

    def _say(
        self,
        ids: tuple[str, ...],
        action: str,
        label: str | None,
        proposed: str | None,
        who: str,
        source: str,
        undoes: int | None = None,
    ) -> LabelEvent:
        with self._mutex:
            self._ready(make=True)
            number = self._events[-1].number + 1 if self._events else 1
            time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            event = LabelEvent(number, time, who, action, ids, label, proposed, source, undoes)
            self._write(event.to_line())
            self._take(event)
            return event

    def _ready(self, make: bool = False) -> None:
        if self._broken:
            raise StorageError(f"{self.path} is closed, or was left with half a line at its end; open it again")
        if self._descriptor is None and (make or os.path.lexists(self.path)):
            self._open()

    def _open(self) -> None:
        """Open the file, which is made if there is none, keep others from it, and read what is there."""
        with explain_disk_errors(self.path):
            make_folder(self.path.parent)
            descriptor = open_own(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                data = read_file(self.path, "labels")
                if not data:  # its name must last before anything in it is acknowledged
                    sync_folder(self.path.parent)
                events, end = parse_events(data, self.path)
                if end < len(data):
                    os.ftruncate(descriptor, end)
                    sync_file(descriptor)
                    cut = pluralize(len(data) - end, "byte")
                    self.note = f"{self.path} ended in the middle of a line, whose {cut} were cut off"
            except BlockingIOError:
                os.close(descriptor)
                raise FolderBusyError(f"{self.path} is being written by another process; stop that first") from None
            except BaseException:
                os.close(descriptor)
                raise
        self._descriptor, self._end = descriptor, end
        self._forget()
        for event in events:
            self._take(event)

    def _write(self, line: bytes) -> None:
        """Bring a line to the disk, or leave the file as it was."""
        assert self._descriptor is not None
        self._check_own()
        with explain_disk_errors(self.path):
            try:
                written = os.write(self._descriptor, line)
                if written < len(line):  # the disk is full, as the rest will tell
                    written += os.write(self._descriptor, line[written:])
                if written < len(line):
                    raise StorageError(f"{self.path} took only a part of a line; nothing was labeled; try again")
                sync_file(self._descriptor)
            except BaseException:
                self._cut()
                raise
        self._end += len(line)

    def _cut(self) -> None:
        self._broken = True
        assert self._descriptor is not None
        with suppress(OSError):  # what went wrong first is the news
            os.ftruncate(self._descriptor, self._end)
            self._broken = False

    def _check_own(self) -> None:
        """Refuse to write where nobody would find it, or behind what somebody else wrote."""
        assert self._descriptor is not None
        ours = os.fstat(self._descriptor)
        try:
            same = os.path.samestat(os.lstat(self.path), ours)
        except OSError:
            same = False
        if not same or ours.st_size != self._end:
            what = "changed" if same else "moved or removed"
            advice = "nothing was labeled; put it back and open it again"
            raise StorageError(f"{self.path} was {what} by somebody else; {advice}")

    def _forget(self) -> None:
        self._events: list[LabelEvent] = []
        self._by_number: dict[int, LabelEvent] = {}
        self._undone: set[int] = set()
        self._said: dict[str, list[LabelEvent]] = {}  # of each picture
        self._labels: dict[str, str] = {}
        self._apart: dict[str, str] = {}  # set aside, or kept: the last of both
        self._shown = None

    def _take(self, event: LabelEvent) -> None:
        self._events.append(event)
        self._by_number[event.number] = event
        self._shown = None
        if event.action != "undo":
            for one in event.ids:
                self._said.setdefault(one, []).append(event)
                self._apply(one, event)
        elif event.undoes in self._by_number and event.undoes not in self._undone:
            self._undone.add(event.undoes)
            for one in self._by_number[event.undoes].ids:
                self._labels.pop(one, None)
                self._apart.pop(one, None)
                for earlier in self._said[one]:
                    if earlier.number not in self._undone:
                        self._apply(one, earlier)

    def _apply(self, one: str, event: LabelEvent) -> None:
        self._apart.pop(one, None)
        if event.action != "label":
            self._apart[one] = event.action
        if event.label is not None:
            self._labels[one] = event.label
        elif event.action != "keep":
            self._labels.pop(one, None)


def read_label_events(path: str | os.PathLike[str]) -> list[LabelEvent]:
    """Read what a label log holds, also while somebody writes to it; nothing is changed.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    list of LabelEvent
        The events, in their order; what is not whole at the end is left out.
    """
    return parse_events(read_file(path, "labels"), Path(path))[0]


def parse_events(data: bytes, path: Path) -> tuple[list[LabelEvent], int]:
    """The events of whole lines, and how many bytes these take; StorageError names a line that is damaged."""
    *lines, rest = data.split(b"\n")
    events: list[LabelEvent] = []
    for number, line in enumerate(lines, 1):
        try:
            event = LabelEvent.from_line(line)
            if events and event.number <= events[-1].number:
                raise ValueError("is out of order")
        except ValueError as error:
            raise _damaged(path, number, str(error)) from None
        events.append(event)
    # Half a line was told to nobody; a whole one, of which the end alone is another byte, was.
    if _is_whole(rest[:-1]):
        raise _damaged(path, len(lines) + 1, "has another end than it was written with")
    return events, len(data) - len(rest)


def _is_whole(line: bytes) -> bool:
    try:
        LabelEvent.from_line(line)
    except ValueError:
        return False
    return True


def _damaged(path: Path, line: int, reason: str) -> StorageError:
    advice = "nothing was changed; restore the file from a copy, or take out that line"
    return StorageError(f"{path} is damaged: line {line} {reason}; {advice}")

"""Progress: how far a fit is, as a callback."""

import sys
import time
from abc import ABC, abstractmethod
from typing import Any, TextIO

from manyclass.estimators.progress_words import Epochs, Pairs, Steps, Told

_SECONDS = 5.0
_PHASES = {"train": "training", "refit": "training on everything"}


class Progress:
    """A callback that shows how far a fit is.

    It shows epochs with examples per second and the accuracy on validation, steps of a batch solver with objective, gap
    and rank, or pairs of a path; and an upper bound on the time left, where that is known. Early stopping may end a
    phase long before. On a terminal it is a bar; elsewhere one line every few seconds, and one for each phase that ends
    before that.

    Parameters
    ----------
    file : file object, default=None
        Where to write; None for stderr.
    """

    def __init__(self, file: TextIO | None = None):
        self.file = file
        self._phase: _Phase | None = None

    def __call__(self, record: dict[str, Any]) -> None:
        phase = record.get("phase", "train")
        if self._phase is None or self._phase.name != phase:
            self.close()
            file = self.file or sys.stderr
            self._phase = (_Bar if file.isatty() else _Lines)(phase, file, _told(record))
        self._phase.told.take(record)
        self._phase.draw()

    def close(self) -> None:
        """Leave the last state on the screen; the next record begins anew."""
        if self._phase is not None:
            self._phase.close()
        self._phase = None


def _told(record: dict[str, Any]) -> Told:
    """What makes words of records of this kind."""
    return Pairs() if "point" in record else Epochs() if "epoch" in record else Steps()


class _Phase(ABC):
    """Where the words about a phase are shown."""

    def __init__(self, name: str, file: TextIO, told: Told):
        self.name, self.what, self.file, self.told = name, _PHASES.get(name, name), file, told

    @abstractmethod
    def draw(self) -> None:
        """Show the state as it is now."""

    @abstractmethod
    def close(self) -> None:
        """The phase is over."""


class _Bar(_Phase):
    def __init__(self, name: str, file: TextIO, told: Told):
        from rich import progress as bars
        from rich.console import Console

        super().__init__(name, file, told)
        columns = (bars.TextColumn("{task.description}"), bars.BarColumn(16), bars.TextColumn("{task.fields[words]}"))
        self.bar = bars.Progress(*columns, console=Console(file=file))
        self.task = self.bar.add_task(self.what, total=None, words="")
        self.bar.start()

    def draw(self) -> None:
        words = ", ".join(self.told.words())
        self.bar.update(self.task, completed=self.told.done, total=self.told.most, words=words, refresh=True)

    def close(self) -> None:
        self.bar.stop()


class _Lines(_Phase):
    def __init__(self, name: str, file: TextIO, told: Told):
        super().__init__(name, file, told)
        self._last, self._waiting = time.monotonic(), False

    def draw(self) -> None:
        self._waiting = True
        if time.monotonic() >= self._last + _SECONDS:
            self.close()

    def close(self) -> None:
        if self._waiting:
            print(f"{self.what}: {', '.join(self.told.words())}", file=self.file, flush=True)
        self._last, self._waiting = time.monotonic(), False

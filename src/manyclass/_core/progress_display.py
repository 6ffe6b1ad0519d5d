"""How far long work is, in words: a bar on a terminal, a line every few seconds elsewhere; records of `logging`.

Commands show rows or images with it, and the callback `Progress` the epochs of a fit. The loggers of the library have
the names of its folders below "manyclass"; nobody hears them unless the program around has a handler.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TextIO

from manyclass._core.worker_groups import activity_words

logging.getLogger("manyclass").addHandler(logging.NullHandler())

SECONDS_BETWEEN_LINES = 5.0  # a log of a night has a few thousand lines, and work of a moment has none


def get_logger(folder: str) -> logging.Logger:
    """The logger of a folder of the library, such as "estimators"."""
    return logging.getLogger(f"manyclass.{folder}")


class ProgressDisplay(ABC):
    """Where the words about one piece of work are shown."""

    @abstractmethod
    def draw(self, done: int, total: int | None, words: Callable[[], str]) -> None:
        """Show the state as it is now; words are made only if they are shown."""

    @abstractmethod
    def close(self) -> None:
        """Leave the last state on the screen."""


class ProgressBar(ProgressDisplay):
    """A bar on a terminal, with the words behind it.

    Between calls the bar is drawn anew a few times per second, or at every call if these are few (`eager`).
    """

    def __init__(self, what: str, file: TextIO, width: int = 40, time_left: bool = False, eager: bool = False) -> None:
        from rich import progress
        from rich.console import Console

        columns = [
            progress.TextColumn("{task.description}"),
            progress.BarColumn(width),
            progress.TextColumn("{task.fields[words]}"),
            *([progress.TimeRemainingColumn(compact=True)] if time_left else []),
        ]
        self._eager = eager
        self._bar = progress.Progress(*columns, console=Console(file=file))
        self._task = self._bar.add_task(what, total=None, words="")
        self._bar.start()

    def draw(self, done: int, total: int | None, words: Callable[[], str]) -> None:
        self._bar.update(self._task, completed=done, total=total, words=_with_workers(words), refresh=self._eager)

    def close(self) -> None:
        self._bar.stop()


class ProgressLines(ProgressDisplay):
    """A line every few seconds; `close` prints the words that wait."""

    def __init__(self, what: str, file: TextIO) -> None:
        self._what, self._file = what, file
        self._words: Callable[[], str] | None = None
        self._last = time.monotonic()

    def draw(self, done: int, total: int | None, words: Callable[[], str]) -> None:
        self._words = words
        if time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self.close()

    def close(self) -> None:
        if self._words is not None:
            print(f"{self._what}: {_with_workers(self._words)}", file=self._file, flush=True)
        self._last, self._words = time.monotonic(), None


def _with_workers(words: Callable[[], str]) -> str:
    """The words, and what each worker of a cluster does."""
    activity = activity_words()
    return f"{words()}; {activity}" if activity else words()


class Pace:
    """Units per second since the first report, so that work found done does not flatter it."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def per_second(self, done: int) -> float:
        """0 until some time has passed."""
        now = time.monotonic()
        start, before = self._first = self._first or (now, done)
        return (done - before) / (now - start) if now > start else 0.0

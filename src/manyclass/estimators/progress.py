"""Progress: how far a fit is, as a callback."""

import sys
import time
from abc import ABC, abstractmethod
from typing import Any, TextIO

_SECONDS = 5.0
_PHASES = {"train": "training", "refit": "training on everything"}


class Progress:
    """Shows how far a fit is: epochs, examples per second, time left at most, and the accuracy on validation.

    A bar on a terminal; elsewhere one line every few seconds, and one for each phase that ends before that. `file` is
    stderr by default. Early stopping may end a phase long before the time that is left.
    """

    def __init__(self, file: TextIO | None = None):
        self.file = file
        self._phase: _Phase | None = None

    def __call__(self, record: dict[str, Any]) -> None:
        phase = record.get("phase", "train")
        if self._phase is None or self._phase.name != phase:
            self.close()
            file = self.file or sys.stderr
            self._phase = (_Bar if file.isatty() else _Lines)(phase, file)
        self._phase.show(record)

    def close(self) -> None:
        """Leave the last state on the screen; the next record begins anew."""
        if self._phase is not None:
            self._phase.close()
        self._phase = None


class _Phase(ABC):
    """What is known of a phase from its records."""

    def __init__(self, name: str, file: TextIO):
        self.name, self.what, self.file = name, _PHASES.get(name, name), file
        self.examples, self.seconds, self.accuracy = 0, 0.0, ""

    def show(self, record: dict[str, Any]) -> None:
        """Take a record in, and let people see it."""
        self.examples += record["examples"]
        self.seconds += record["seconds"] + record.get("judging_seconds", 0.0)
        if "accuracy" in record:
            self.accuracy = f"accuracy {100 * record['accuracy']:.1f} %"
        self.draw(record["epoch"], record.get("max_epochs", record["epoch"]), record["examples"])

    def rate(self) -> float:
        """Examples per second."""
        return self.examples / self.seconds if self.seconds > 0 else 0.0

    def words(self, epoch: int, most: int, examples: int) -> list[str]:
        """What is to be said after an epoch, in pieces."""
        said = [f"epoch {epoch} of {most}"]
        if self.rate() > 0:
            said += [f"{self.rate():,.0f} examples/s", f"at most {(most - epoch) * examples / self.rate():,.0f} s left"]
        return [*said, self.accuracy] if self.accuracy else said

    @abstractmethod
    def draw(self, epoch: int, most: int, examples: int) -> None:
        """Show the state after an epoch."""

    @abstractmethod
    def close(self) -> None:
        """The phase is over."""


class _Bar(_Phase):
    def __init__(self, name: str, file: TextIO):
        from rich import progress as bars
        from rich.console import Console

        super().__init__(name, file)
        columns = (bars.TextColumn("{task.description}"), bars.BarColumn(16), bars.TextColumn("{task.fields[words]}"))
        self.bar = bars.Progress(*columns, console=Console(file=file))
        self.task = self.bar.add_task(self.what, total=None, words="")
        self.bar.start()

    def draw(self, epoch: int, most: int, examples: int) -> None:
        words = ", ".join(self.words(epoch, most, examples))
        self.bar.update(self.task, completed=epoch, total=most, words=words, refresh=True)

    def close(self) -> None:
        self.bar.stop()


class _Lines(_Phase):
    def __init__(self, name: str, file: TextIO):
        super().__init__(name, file)
        self._last, self._waiting = time.monotonic(), ""

    def draw(self, epoch: int, most: int, examples: int) -> None:
        self._waiting = f"{self.what}: {', '.join(self.words(epoch, most, examples))}"
        if time.monotonic() >= self._last + _SECONDS:
            self.close()

    def close(self) -> None:
        if self._waiting:
            print(self._waiting, file=self.file, flush=True)
        self._last, self._waiting = time.monotonic(), ""

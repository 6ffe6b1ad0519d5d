"""Progress: how far a fit is, as a callback; and the same to the standard log.

Records of epochs, of steps of a batch solver or of pairs of a path become words, which a bar, plain lines or `logging`
show.
"""

import logging
import sys
from abc import ABC, abstractmethod
from typing import Any, TextIO

from manyclass._core.progress_display import ProgressBar, ProgressDisplay, ProgressLines, get_logger

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

    ends_fit = False  # it watches

    def __init__(self, file: TextIO | None = None):
        self.file = file
        self._phase: _Phase | None = None

    def __call__(self, record: dict[str, Any]) -> None:
        phase = record.get("phase", "train")
        if self._phase is None or self._phase.name != phase:
            self.close()
            self._phase = _Phase(phase, self.file or sys.stderr, _progress_text(record))
        self._phase.text.take(record)
        self._phase.draw()

    def close(self) -> None:
        """Leave the last state on the screen; the next record begins anew."""
        if self._phase is not None:
            self._phase.close()
        self._phase = None


class FitLog:
    """A callback that tells the log of every record, and stderr too where an estimator is `verbose`."""

    ends_fit = False  # it watches

    def __init__(self, name: str, verbose: bool):
        self.name, self.verbose = name, verbose
        self._phase: str | None = None
        self._text: ProgressText = IterationText()

    def __call__(self, record: dict[str, Any]) -> None:
        phase = record.get("phase", "train")
        if phase != self._phase:
            self._phase, self._text = phase, _progress_text(record)
        self._text.take(record)
        words = f"{self.name}: {_PHASES.get(phase, phase)}: {', '.join(self._text.words())}"
        _LOG.info("%s", words, extra={"record": record})
        if self.verbose:
            print(words, file=sys.stderr, flush=True)


_LOG = get_logger("estimators")


def fit_logs(estimator: Any) -> tuple[FitLog, ...]:
    """What tells of a fit: one, or none where nobody listens, so that this costs nothing then."""
    verbose = bool(estimator.verbose)
    return (FitLog(type(estimator).__name__, verbose),) if verbose or _LOG.isEnabledFor(logging.INFO) else ()


class ProgressText(ABC):
    """What is known from the records so far; `done` of `most`, which is None where nobody knows."""

    done: int = 0
    most: int | None = None

    def __init__(self) -> None:
        self.latest: dict[str, str] = {}

    def take(self, record: dict[str, Any]) -> None:
        """Take a record in; what a later one lacks stays as it was."""
        self.count(record)
        for name, form in (("objective", ".5g"), ("gap", ".2g"), ("rank", "")):
            if record.get(name) is not None:
                self.latest[name] = f"{name} {record[name]:{form}}"
        if "accuracy" in record:
            self.latest["accuracy"] = f"accuracy {100 * record['accuracy']:.1f} %"

    @abstractmethod
    def count(self, record: dict[str, Any]) -> None:
        """Note how far the record is."""

    @abstractmethod
    def words(self) -> list[str]:
        """What is to be said now, in pieces."""


class EpochText(ProgressText):
    """Of stochastic gradient descent: examples per second, and the time left at most."""

    def __init__(self) -> None:
        super().__init__()
        self.examples, self.last, self.seconds = 0, 0, 0.0

    def count(self, record: dict[str, Any]) -> None:
        self.done, self.most = record["epoch"], record.get("max_epochs", record["epoch"])
        self.last = record["examples"]
        self.examples += self.last
        self.seconds += record["seconds"] + record.get("judging_seconds", 0.0)

    def words(self) -> list[str]:
        most, rate = self.most or self.done, self.examples / self.seconds if self.seconds > 0 else 0.0
        said = [f"epoch {self.done} of {most}"]
        if rate > 0:
            said += [f"{rate:,.0f} examples/s", f"at most {(most - self.done) * self.last / rate:,.0f} s left"]
        return [*said, *self.latest.values()]


class IterationText(ProgressText):
    """Of a batch solver, which cannot tell how many there will be."""

    def count(self, record: dict[str, Any]) -> None:
        self.done = record["iteration"]

    def words(self) -> list[str]:
        return [f"step {self.done}", *self.latest.values()]


class PathText(ProgressText):
    """Of a path; the time left, if those to come take as long as those so far."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.strengths = ""

    def count(self, record: dict[str, Any]) -> None:
        self.done, self.most = record["point"], record["points"]
        self.seconds += record["seconds"]
        self.strengths = f"trace {record['trace']:.3g} ridge {record['ridge']:.3g}"

    def words(self) -> list[str]:
        left = ((self.most or self.done) - self.done) * self.seconds / max(1, self.done)
        said = [f"pair {self.done} of {self.most}", f"about {left:,.0f} s left", self.strengths]
        return [*said, *(words for name, words in self.latest.items() if name not in ("objective", "gap"))]


def _progress_text(record: dict[str, Any]) -> ProgressText:
    """What makes words of records of this kind."""
    return PathText() if "point" in record else EpochText() if "epoch" in record else IterationText()


class _Phase:
    """A phase of a fit, and where the words about it are shown."""

    def __init__(self, name: str, file: TextIO, text: ProgressText):
        what = _PHASES.get(name, name)
        self.name, self.text = name, text
        self._display: ProgressDisplay = (
            ProgressBar(what, file, width=16, eager=True) if file.isatty() else ProgressLines(what, file)
        )

    def draw(self) -> None:
        """Show the state as it is now."""
        self._display.draw(self.text.done, self.text.most, lambda: ", ".join(self.text.words()))

    def close(self) -> None:
        """The phase is over."""
        self._display.close()

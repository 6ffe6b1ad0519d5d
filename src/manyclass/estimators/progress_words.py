"""What the records of a fit tell, in words: epochs, steps of a batch solver, or pairs of a path."""

from abc import ABC, abstractmethod
from typing import Any


class Told(ABC):
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


class Epochs(Told):
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


class Steps(Told):
    """Of a batch solver, which cannot tell how many there will be."""

    def count(self, record: dict[str, Any]) -> None:
        self.done = record["iteration"]

    def words(self) -> list[str]:
        return [f"step {self.done}", *self.latest.values()]


class Pairs(Told):
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

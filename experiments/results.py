"""What an experiment found: sentences, tables and figures, written as one Markdown page with its drawings."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from experiments.verdicts import Verdict

WITHIN, OPEN, BEHIND = "within", "not told", "behind"


@dataclass
class Results:
    """A page that grows; every part is shown when it is added."""

    name: str
    title: str
    parts: list[str] = field(default_factory=list)
    drawings: dict[str, str] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """A paragraph."""
        self.parts.append(" ".join(text.split()))
        print(self.parts[-1], "\n")

    def table(self, caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table of strings under a heading."""
        lines = ["| " + " | ".join(cells) + " |" for cells in (columns, ["---"] * len(columns), *rows)]
        self.parts.append("\n".join([f"## {caption}", "", *lines]))
        print(self.parts[-1], "\n")

    def figure(self, drawn: Any, what: str) -> None:
        """A matplotlib figure, with a sentence for those who do not see it."""
        text = io.StringIO()
        # No date inside, so that the same numbers give the same file.
        drawn.savefig(text, format="svg", metadata={"Date": None})
        name = f"{self.name}.svg" if not self.drawings else f"{self.name}_{len(self.drawings) + 1}.svg"
        self.drawings[name] = text.getvalue()
        self.parts.append(f"![{what}]({name})")

    def finding(self, item: str, claim: str, verdict: Verdict, why: str) -> None:
        """What a table or figure of a paper claims, a sentence, the verdict on it, and the intervals that give it."""
        self.parts.append(f"**{item}.** {' '.join(claim.split())} *{verdict.capitalize()}*: {' '.join(why.split())}")
        print(self.parts[-1], "\n")

    def write(self, folder: Path) -> list[Path]:
        """The files written: the page first."""
        folder.mkdir(parents=True, exist_ok=True)
        pages = {f"{self.name}.md": "\n\n".join([f"# {self.title}", *self.parts]) + "\n"} | self.drawings
        for name, text in pages.items():
            (folder / name).write_text(text, encoding="utf-8")
        return [folder / name for name in pages]


def listed(some: Iterable[object]) -> str:
    """With commas, and "and" before the last.

    >>> listed([10, 25, 100])
    '10, 25 and 100'
    """
    *first, last = map(str, some)
    return f"{', '.join(first)} and {last}" if first else last


def percent(values: Sequence[float]) -> str:
    """Mean and standard error of accuracies, in percent.

    >>> percent([0.5, 0.6])
    '55.0 ± 5.0'
    """
    mean, error = mean_error(values)
    return f"{100 * mean:.1f} ± {100 * error:.1f}" if len(values) > 1 else f"{100 * mean:.1f}"


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean and its standard error; 0 for a single value."""
    found = np.asarray(values, float)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0


def verdict(below: float, half: float, allowed: float = 0.0) -> str:
    """Of something that is so much below another, give or take half of an interval, where some is allowed.

    >>> verdict(-1.0, 0.5), verdict(1.0, 2.0), verdict(3.0, 2.0), verdict(3.0, 2.0, allowed=3.0)
    ('within', 'not told', 'behind', 'within')
    """
    return WITHIN if below <= allowed else OPEN if below - half <= allowed else BEHIND

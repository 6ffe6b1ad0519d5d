"""What a command prints: a table for people, or one JSON object for programs; on stdout.

A table of several columns for people; on stdout.

Where tables for people go.

How far a command is: a bar on a terminal, a line every few seconds elsewhere; always on stderr.
"""

import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from manyclass.cli._errors import while_read


def print_json(result: dict[str, Any]) -> None:
    """The object on one line; whatever JSON has no word for becomes a string."""
    with while_read():
        print(json.dumps(result, default=str, allow_nan=False))


def print_table(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Two columns: what it is, and how much."""
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        # As Text, since a name of a file may look like markup.
        table.add_row(name, Text(value))
    console = Screen()
    with while_read():
        console.print(Text(title, style="bold"), soft_wrap=True)
        console.print(table)


def print_columns(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table with a line for every row, below a line of headers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    with while_read():
        Screen().print(table)


def print_titled_columns(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The first column is words, the others stand to the right as numbers do."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="cyan")
    for i, name in enumerate(names):
        table.add_column(name, justify="right" if i else "left", overflow="fold")
    for row in rows:
        # As Text, since a name of a file may look like markup.
        table.add_row(*map(Text, row))
    console = Screen()
    with while_read():
        console.print(Text(title, style="bold"), soft_wrap=True)
        console.print(table)


class Screen(Console):
    """Standard output. That nobody reads it any more is for the command to know, which rich would end by itself."""

    def __init__(self) -> None:
        super().__init__(highlight=False)

    def on_broken_pipe(self) -> None:
        """Pass it on."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


Report = Callable[[int, int], None]  # (done, in all)

_SECONDS = 5.0


@contextmanager
def progress(what: str, unit: str, quiet: bool = False) -> Iterator[Report]:
    """Gives a function to call with (done, in all) as often as one likes.

    The rate counts what was done since the first call, so that work found done does not flatter it.
    """
    if quiet:
        yield lambda done, total: None
    elif sys.stderr.isatty():
        with _bar(what, unit) as report:
            yield report
    else:
        yield _Lines(what, unit)


@contextmanager
def _bar(what: str, unit: str) -> Iterator[Report]:
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[count]}"),
        bars.TextColumn("{task.fields[rate]}"),
        bars.TimeRemainingColumn(compact=True),
    )
    with bars.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None, count="", rate="")
        pace = Pace()

        def report(done: int, total: int) -> None:
            count = f"{done:,} of {total:,} {unit}"
            bar.update(task, completed=done, total=total, count=count, rate=pace.rate(done, unit))

        yield report


class Pace:
    """Units per second since the first report."""

    def __init__(self) -> None:
        self._first: tuple[float, int] | None = None

    def per_second(self, done: int) -> float:
        """0 until some time has passed."""
        now = time.monotonic()
        start, before = self._first = self._first or (now, done)
        return (done - before) / (now - start) if now > start else 0.0

    def rate(self, done: int, unit: str) -> str:
        """As words, or nothing while it is not known."""
        per_second = self.per_second(done)
        return f"{per_second:,.0f} {unit}/s" if per_second else ""


class _Lines:
    """One line every few seconds, and none for what is done sooner."""

    def __init__(self, what: str, unit: str) -> None:
        self._what, self._unit = what, unit
        self._pace = Pace()
        self._last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        per_second = self._pace.per_second(done)
        if time.monotonic() - self._last < _SECONDS:
            return
        self._last = time.monotonic()
        share = f"{100 * done / max(1, total):.0f} %"
        left = (total - done) / per_second if per_second else 0
        rate = f", {per_second:,.0f} {self._unit}/s, {left:.0f} s left" if per_second else ""
        line = f"{self._what}: {done:,} of {total:,} {self._unit} ({share}){rate}"
        print(line, file=sys.stderr, flush=True)

"""The console of a command: results on stdout, for people or for programs; notices and progress on stderr."""

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import accumulate
from typing import Any

import rich.console

from manyclass._core.progress_display import Pace, ProgressBar, ProgressLines
from manyclass._core.text import printable
from manyclass._core.typing import Report
from manyclass.cli.terminal.command_errors import option_words, print_error, while_read


class Console:
    """What a command says, made once from its options --quiet and --json.

    A command says all it has to say, by `json` and by `table`, and the console prints what was asked for: programs get
    the JSON and nothing else, people the tables, and notices and progress unless they want quiet.

    >>> console = Console(json=True)
    >>> console.json({"rows": 3})
    {"rows": 3}
    >>> console.table("photos.store", [("rows", "3")])
    """

    def __init__(self, quiet: bool = False, json: bool = False) -> None:
        self.quiet = quiet
        self.wants_json = json

    @property
    def silent(self) -> bool:
        """Whether nobody wants notices and progress."""
        return self.quiet or self.wants_json

    def info(self, message: str) -> None:
        """What a command is about to do: one line on stderr."""
        if not self.silent:
            self.error(message)

    def warn(self, message: str) -> None:
        """What a user should know in any case: one line on stderr."""
        self.error(message)

    def error(self, message: str) -> None:
        """Why a command failed: one line on stderr."""
        print_error(option_words(message))

    def json(self, result: dict[str, Any]) -> None:
        """The object on one line; whatever JSON has no word for becomes a string."""
        if self.wants_json:
            with while_read():
                print(json.dumps(result, default=str, allow_nan=False))

    def line(self, words: str) -> None:
        """A sentence among the tables."""
        if not self.wants_json:
            with while_read():
                print(words)

    def table(self, title: str, rows: Iterable[tuple[str, str]]) -> None:
        """Two columns: what it is, and how much."""
        from rich.table import Table

        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="fold")
        self._print(title, table, rows)

    def columns(
        self,
        names: Sequence[str],
        rows: Iterable[Sequence[str]],
        title: str | None = None,
        numbers: bool = False,
        least: int | None = None,
    ) -> int:
        """A table with a line for every row, below one of names; numbers stand to the right of the first column.

        Cells are broken where the screen is too narrow, or the last columns left out if only the `least` first ones
        must be there. How many columns there are is returned.
        """
        from rich.table import Table

        table, lines = Table(box=None, pad_edge=False, header_style="cyan"), list(rows)
        shown = len(names) if least is None else max(least, _fitting([names, *lines], _Screen().width))
        for i, name in enumerate(names[:shown]):
            table.add_column(_plain(name), justify="right" if numbers and i else "left", overflow="fold")
        self._print(title, table, [line[:shown] for line in lines])
        return shown

    def _print(self, title: str | None, table: Any, rows: Iterable[Sequence[str]]) -> None:
        if self.wants_json:
            return
        screen = _Screen()
        for row in rows:
            table.add_row(*map(_plain, row))
        with while_read():
            if title is not None:
                screen.print(_plain(title, style="bold"), soft_wrap=True)
            screen.print(table)

    @contextmanager
    def progress(self, what: str, unit: str) -> Iterator[Report]:
        """A function to call with (done, in all) as often as one likes: a bar on a terminal, lines elsewhere.

        The rate counts what was done since the first call.
        """
        if self.silent:
            yield _say_nothing
        elif sys.stderr.isatty():
            with closing(ProgressBar(what, sys.stderr, time_left=True)) as bar:
                yield _Bar(bar, unit)
        else:
            yield _Lines(what, unit)


def _plain(words: str, style: str = "") -> Any:
    """Words as they are: a name of a file may look like markup, or steer a terminal."""
    from rich.text import Text

    return Text(words if words.isprintable() else printable(words), style=style)


def _fitting(lines: Sequence[Sequence[str]], width: int) -> int:
    """How many columns fit beside one another, two spaces apart."""
    from rich.cells import cell_len

    ends = accumulate(max(map(cell_len, column)) + 2 for column in zip(*lines, strict=True))
    return sum(end - 2 <= width for end in ends)


class _Screen(rich.console.Console):
    """Standard output. That nobody reads it any more is for the command to know, which rich would end by itself."""

    def __init__(self) -> None:
        super().__init__(highlight=False)

    def on_broken_pipe(self) -> None:
        """Pass it on."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def _say_nothing(done: int, total: int) -> None:
    pass


class _Bar:
    def __init__(self, bar: ProgressBar, unit: str) -> None:
        self._bar, self._unit, self._pace = bar, unit, Pace()

    def __call__(self, done: int, total: int) -> None:
        per_second = self._pace.per_second(done)
        rate = f" {per_second:,.0f} {self._unit}/s" if per_second else ""
        self._bar.draw(done, total, lambda: f"{done:,} of {total:,} {self._unit}{rate}")


class _Lines:
    """Lines while the work goes on, and none for what is done sooner."""

    def __init__(self, what: str, unit: str) -> None:
        self._lines, self._unit, self._pace = ProgressLines(what, sys.stderr), unit, Pace()

    def __call__(self, done: int, total: int) -> None:
        per_second = self._pace.per_second(done)

        def words() -> str:
            left = (total - done) / per_second if per_second else 0
            rate = f", {per_second:,.0f} {self._unit}/s, {left:.0f} s left" if per_second else ""
            return f"{done:,} of {total:,} {self._unit} ({100 * done / max(1, total):.0f} %){rate}"

        self._lines.draw(done, total, words)

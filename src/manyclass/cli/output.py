"""What a command prints: a table for people, or one JSON object for programs; on stdout."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from manyclass._amounts import seconds, size
from manyclass.cli.failures import while_read

__all__ = ["print_columns", "print_json", "print_table", "seconds", "size"]


def print_json(result: dict[str, Any]) -> None:
    """The object on one line; whatever JSON has no word for becomes a string."""
    with while_read():
        print(json.dumps(result, default=str, allow_nan=False))


def print_table(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Two columns: what it is, and how much."""
    from rich.table import Table
    from rich.text import Text

    from manyclass.cli.screen import Screen

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

    from manyclass.cli.screen import Screen

    table = Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        table.add_column(header, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    with while_read():
        Screen().print(table)

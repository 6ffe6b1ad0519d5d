"""A table of several columns for people; on stdout."""

from collections.abc import Iterable, Sequence

from manyclass.cli.failures import while_read


def print_columns(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The first column is words, the others stand to the right as numbers do."""
    from rich.table import Table
    from rich.text import Text

    from manyclass.cli.screen import Screen

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

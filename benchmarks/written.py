"""Pages read back: those of docs/benchmarks and docs/results are the record of what was found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class WrittenTable:
    """A heading, the names of the columns, and rows of strings."""

    caption: str
    columns: list[str]
    rows: list[list[str]]

    def row(self, *first: str) -> list[str]:
        """The row that begins with these cells."""
        for row in self.rows:
            if row[: len(first)] == list(first):
                return row
        raise ValueError(f"no row of the table {self.caption!r} begins with {', '.join(first)}")

    def cell(self, first: str | Sequence[str], column: str) -> str:
        """The entry of the row that begins so, in the first column of this name."""
        if column not in self.columns:
            raise ValueError(f"the table {self.caption!r} has no column {column!r}")
        return self.row(*([first] if isinstance(first, str) else first))[self.columns.index(column)]


@dataclass(frozen=True)
class WrittenPage:
    """The name of the file, its title, its paragraphs and its tables."""

    name: str
    title: str
    paragraphs: list[str]
    tables: list[WrittenTable]

    def table(self, caption: str) -> WrittenTable:
        """The first table whose heading begins so."""
        for table in self.tables:
            if table.caption.startswith(caption):
                return table
        raise ValueError(f"{self.name}.md has no table {caption!r}")

    def found(self, pattern: str) -> list[re.Match[str]]:
        """Where the paragraphs match."""
        return [match for paragraph in self.paragraphs for match in re.finditer(pattern, paragraph)]

    def sentence(self, start: str) -> str:
        """The first sentence that begins so."""
        for match in self.found(re.escape(start) + r".*?[.](?=\s|$)"):
            return match[0]
        raise ValueError(f"{self.name}.md has no sentence that begins with {start!r}")


def read_page(path: Path) -> WrittenPage:
    """A page of headings, paragraphs and tables."""
    title, caption = "", ""
    paragraphs, tables = [], []
    for part in path.read_text(encoding="utf-8").split("\n\n"):
        part = part.strip()
        if part.startswith("# "):
            title = part[2:]
        elif part.startswith("## "):
            caption = part[3:]
        elif part.startswith("|"):
            columns, _, *rows = (_cells(line) for line in part.splitlines())
            tables.append(WrittenTable(caption, columns, rows))
        elif part:
            paragraphs.append(" ".join(part.split()))
    return WrittenPage(path.stem, title, paragraphs, tables)


def read_pages(folder: Path, names: Sequence[str]) -> list[WrittenPage]:
    """Those of the named pages that are there, in this order."""
    return [read_page(folder / f"{name}.md") for name in names if (folder / f"{name}.md").exists()]


def number(cell: str) -> float:
    """The number that a cell begins with.

    >>> number("91.9 ± 0.1"), number("34.6 ms"), number("+3")
    (91.9, 34.6, 3.0)
    """
    found = re.match(r"[-+]?[\d,]*\.?\d+(e-?\d+)?", cell)
    if not found:
        raise ValueError(f"a cell should begin with a number; got {cell!r}")
    return float(found[0].replace(",", ""))


def written_row(cells: Sequence[str]) -> str:
    """One line of a Markdown table.

    >>> written_row(["a", "b"])
    '| a | b |'
    """
    return "| " + " | ".join(cells) + " |"


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]

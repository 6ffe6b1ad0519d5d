"""A benchmark's tables, on the terminal and as one page of docs/benchmarks/."""

import platform
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

import manyclass as mc
from benchmarks.versions import versions
from benchmarks.written import written_row
from manyclass import _native


@dataclass
class Page:
    """Title, a sentence on what is measured, and tables of strings."""

    name: str
    title: str
    about: str
    tables: list[tuple[str, list[str], list[list[str]]]] = field(default_factory=list)

    def table(self, caption: str, columns: list[str], rows: list[list[str]]) -> None:
        """Add a table and show it."""
        self.tables.append((caption, columns, rows))
        shown = Table(*columns, title=caption, title_justify="left")
        for row in rows:
            shown.add_row(*row)
        Console().print(shown)

    def write(self, folder: Path) -> Path:
        """Write the page as Markdown."""
        lines = [f"# {self.title}", "", self.about, "", machine(), ""]
        for caption, columns, rows in self.tables:
            lines += [f"## {caption}", "", *map(written_row, (columns, ["---"] * len(columns), *rows)), ""]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.md"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path


def machine() -> str:
    """Processor, threads and versions in one sentence."""
    return (
        f"Measured with manyclass {mc.__version__} ({_native.level()}) on {_processor()}, {_cores()}, "
        f"Python {platform.python_version()}, {versions()}."
    )


def _cores() -> str:
    n = mc.get_threads()
    return f"{n} core{'s' * (n > 1)}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()

"""Whoever looks for a file that ARCHITECTURE.md or CONTRIBUTING.md names finds it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:py|h|inl|md)|(?:[\w-]+/)+)`")
SOURCE = ROOT / "src" / "manyclass"
TOPS = [SOURCE, *(ROOT / name for name in ("tests", "native", "benchmarks", "experiments"))]
PLACES = [ROOT, *TOPS, *(path for top in TOPS for path in top.rglob("*") if path.is_dir())]


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_the_files_that_a_page_names_are_there(page):
    names = FILE.findall((ROOT / page).read_text())
    assert len(names) > 10
    assert [name for name in names if not any((place / name).exists() for place in PLACES)] == []

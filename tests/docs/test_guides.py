"""The code that guides show is code that runs: the blocks of a page, one after the other, in an empty folder."""

import doctest
import re
from pathlib import Path

import pytest

import manyclass as mc

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
# Blocks in Python, and sessions with what they print.
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_block(kind: str, code: str, page: str, line: int, names: dict) -> None:
    """Run one block in the names that the earlier ones have left."""
    if kind == "python":
        exec(compile("\n" * line + code, page, "exec"), names)
        return
    session = doctest.DocTestParser().get_doctest(code, names, page, page, line)
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    said: list[str] = []
    assert runner.run(session, out=said.append, clear_globs=False).failed == 0, "".join(said)
    names.update(session.globs)


def run_page(text: str, page: str) -> dict:
    names: dict = {"__name__": "guide"}
    for found in BLOCK.finditer(text):
        run_block(found[1], found[2], page, text.count("\n", 0, found.start(2)), names)
    return names


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_the_code_of_a_guide_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Problems are so small that threads would mostly wait for one another.
    with mc.threads(1):
        assert len(run_page(path.read_text(encoding="utf-8"), str(path))) > 3


@pytest.mark.parametrize("block", ["```python\nx = 1 / 0\n```\n", "```pycon\n>>> 1 + 1\n3\n```\n"])
def test_code_that_fails_or_prints_something_else_is_noticed(block):
    with pytest.raises((ZeroDivisionError, AssertionError)):
        run_page(f"Words.\n\n{block}", "page")

"""The code and the commands that guides show run, and say what the guides show; see guide_pages.py."""

import doctest
from pathlib import Path

import pytest
from docs.guide_pages import run_page

from docs import guide_pages

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_the_code_of_a_guide_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(run_page(path.read_text(encoding="utf-8"), str(path))) > 3


@pytest.mark.parametrize(
    "block",
    [
        "```python\nx = 1 / 0\n```\n",
        "```pycon\n>>> 1 + 1\n3\n```\n",
        "```console\n$ echo two words\ntwo other words\n```\n",
        "```console\n$ manyclass info nothing.npy\n```\n",
    ],
)
def test_code_that_fails_or_prints_something_else_is_noticed(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ZeroDivisionError, AssertionError)):
        run_page(f"Words.\n\n{block}", "page")


def test_a_session_may_leave_out_lines_and_its_times_may_be_any():
    run_page("```console\n$ printf 'a 1.2 s\\nb\\nc 4.01\\n'\na 33 s\n...\nc 4.02\n```\n", "page")


def test_the_examples_of_the_runner_give_what_they_show():
    assert doctest.testmod(guide_pages).failed == 0

"""The page over all experiments says what the others say."""

import re
from pathlib import Path

import pytest

from experiments.__main__ import ALL
from experiments.index import QUESTIONS, write_index

FOLDER = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def lines():
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?\?) \| (.*) \| \[.*\]\((\w+)\.md\) \|$", text, re.MULTILINE)
    return {name: (question, answer) for question, answer, name in rows}


def test_every_experiment_has_a_line(lines):
    assert list(lines) == list(ALL) == [answer.__name__ for answer in QUESTIONS]


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_numbers_of_an_answer_stand_on_its_page(lines, name):
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    numbers = re.findall(r"[-+]?\d+(?:\.\d+)?", lines[name][1])
    assert numbers
    assert [number for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", page)] == []


def test_the_page_is_what_the_others_give(tmp_path):
    for name in ALL:
        (tmp_path / f"{name}.md").write_text((FOLDER / f"{name}.md").read_text(encoding="utf-8"), encoding="utf-8")
    assert write_index(tmp_path).read_text(encoding="utf-8") == (FOLDER / "index.md").read_text(encoding="utf-8")


def test_an_answer_changes_with_its_page(tmp_path):
    page = (FOLDER / "few_examples.md").read_text(encoding="utf-8")
    text = re.sub(r"[-+]\d\.\d\d points", "-0.99 points", page)
    (tmp_path / "few_examples.md").write_text(text, encoding="utf-8")
    assert "-0.99 points" in write_index(tmp_path).read_text(encoding="utf-8")

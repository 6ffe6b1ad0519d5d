"""Pages that were written are read back as they are."""

import doctest

import pytest

from benchmarks import written
from benchmarks.written import read_page, read_pages

PAGE = """# A title

Words over
two lines. Here it gains 3.5 points. And more.

## Caption, 10 x 2

| block | ours | ratio |
| --- | --- | --- |
| 4 | 1.5 ms | 2.0 |
| 8 |  | > 3 |
"""


@pytest.fixture
def page(tmp_path):
    (tmp_path / "name.md").write_text(PAGE)
    return read_page(tmp_path / "name.md")


def test_a_page_has_its_title_paragraphs_and_tables(page):
    assert (page.name, page.title) == ("name", "A title")
    assert page.paragraphs == ["Words over two lines. Here it gains 3.5 points. And more."]
    assert [(table.caption, table.columns) for table in page.tables] == [
        ("Caption, 10 x 2", ["block", "ours", "ratio"])
    ]
    assert page.tables[0].rows == [["4", "1.5 ms", "2.0"], ["8", "", "> 3"]]


def test_a_cell_is_found_by_its_row_and_column(page):
    table = page.table("Caption")
    assert table.cell("8", "ratio") == "> 3"
    assert table.cell(["4", "1.5 ms"], "ours") == "1.5 ms"


def test_a_sentence_ends_at_its_point_and_not_at_that_of_a_number(page):
    assert page.sentence("Here it") == "Here it gains 3.5 points."


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (lambda page: page.table("Other"), "name.md has no table 'Other'"),
        (lambda page: page.tables[0].cell("16", "ours"), "no row of the table 'Caption, 10 x 2' begins with 16"),
        (lambda page: page.tables[0].cell("4", "theirs"), "the table 'Caption, 10 x 2' has no column 'theirs'"),
        (lambda page: page.sentence("There"), "name.md has no sentence that begins with 'There'"),
        (lambda page: written.number("none"), "a cell should begin with a number; got 'none'"),
    ],
)
def test_what_is_not_there_is_named(page, look, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        look(page)


def test_pages_that_are_not_there_are_left_out(tmp_path):
    (tmp_path / "b.md").write_text(PAGE)
    assert [page.name for page in read_pages(tmp_path, ["a", "b"])] == ["b"]


def test_the_examples_of_the_reader_give_what_they_show():
    assert doctest.testmod(written).failed == 0

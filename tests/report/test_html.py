"""HTML by calls: whatever is not markup is escaped, wherever it stands."""

import pytest

from manyclass.report.html import Markup, NumberCell, element, join_markup, table

HOSTILE = """<script>alert("1")</script>&'"""
ESCAPED = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#x27;"


def test_text_is_escaped_and_markup_is_not():
    assert element("p", HOSTILE) == f"<p>{ESCAPED}</p>"
    assert element("p", Markup("<b>x</b>"), "<") == "<p><b>x</b>&lt;</p>"
    assert isinstance(element("p"), Markup)


def test_attributes_are_escaped():
    assert element("a", title=HOSTILE) == f'<a title="{ESCAPED}"></a>'


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"class_": "n"}, ' class="n"'),
        ({"data_value": 0}, ' data-value="0"'),
        ({"open": True}, " open"),
        ({"open": False, "style": None}, ""),
    ],
)
def test_attributes_are_written_as_html_has_them(given, written):
    assert element("p", **given) == f"<p{written}></p>"


@pytest.mark.parametrize("tag", ["br", "hr", "img", "input", "meta"])
def test_elements_without_content_have_no_end(tag):
    assert element(tag) == f"<{tag}>"


def test_children_may_be_lists_of_lists_and_none_is_nothing():
    assert join_markup(["a", None, ("b", [3, Markup("<i>")])], (x for x in "c<")) == "ab3<i>c&lt;"


def test_numbers_stand_to_the_right_with_what_they_are_sorted_by():
    text = table(["name", "<score>"], [["a", NumberCell("90 %", 0.9, 0.5)], ["b", NumberCell("-")]])
    assert '<th scope="col">name</th><th scope="col" class="n">&lt;score&gt;</th>' in text
    assert '<th scope="row">a</th><td class="n bar" style="--share:50.0%" data-value="0.9">90 %</td>' in text
    assert '<td class="n">-</td>' in text


def test_a_table_without_rows_has_its_heads_and_a_caption_if_there_is_one():
    assert "<caption>" not in table(["a"], [])
    assert table(["a"], [], caption="<c>").count("<caption>&lt;c&gt;</caption>") == 1

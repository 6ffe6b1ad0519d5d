"""What the page says of classes is what the records hold."""

from manyclass.report.html import element
from manyclass.report.sections.classes import show_accuracy, show_confusions, show_examples
from manyclass.report.thumbnails import Thumbnails


def test_the_table_of_classes_begins_with_the_worst_and_says_what_it_is_taken_for(report):
    body = show_accuracy(report()).body
    first = body[body.index("<tbody>") :].split("</tr>")[0]
    for words in ("class 11<", "45.0 %", 'data-value="0.45"', "class 10<"):
        assert words in first
    assert "Of 12 classes, 1 is always recognized and 1 less than half of the time." in body


def test_the_most_confused_pair_is_named(report):
    body = show_confusions(report()).body
    assert "warp takes class 11 for class 10 most often, 7 times." in body
    assert "7 times of 20 (35 %)" in body


def test_best_and_worst_classes_are_told_apart(report):
    body = show_examples(report()).body
    assert "class 0 is right in 100 % of its rows, class 11 in 45 %" in body
    assert (
        body.index("<h3>Best") < body.index("<b>class 0</b>") < body.index("<h3>Worst") < body.index("<b>class 11</b>")
    )


def test_a_class_without_mistakes_is_none_of_the_worst(report):
    found = report()
    for one in found.runs[0].evaluations["x"]["per_class"]:
        if one["class"] != "class 11":
            one["right"] = one["rows"]
    assert show_examples(found).body.split("<h3>Worst")[1].count('class="card"') == 1


def test_the_picture_after_the_arrow_is_that_of_the_pair_or_else_one_that_is_known(report, monkeypatch):
    monkeypatch.setattr(Thumbnails, "show", lambda self, name, words: element("img", alt=words))
    found = report()
    assert 'alt="b.png, class 10"' in show_confusions(found).body
    found.runs[0].evaluations["x"]["confusions"][0]["representative"] = "c.png"
    assert 'alt="c.png, class 10"' in show_confusions(found).body


def test_pairs_that_chance_does_not_explain_have_a_tag(report):
    found = report()
    assert show_confusions(found).body.count(">more than chance<") == 2
    for pair in found.runs[0].evaluations["x"]["confusions"]:
        pair["count"] = 1
    assert ">more than chance<" not in show_confusions(found).body

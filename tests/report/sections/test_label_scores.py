"""What the page says of several labels per row is what the records hold."""

from dataclasses import replace

from manyclass.report.advice import advise
from manyclass.report.sections.classes import show_accuracy
from manyclass.report.sections.label_scores import show_several_labels
from tests.report.synthetic import MULTILABEL, evaluation_record


def test_every_measure_of_every_evaluation_is_told(report, checked):
    given = report()
    judged = checked("evaluation", evaluation_record(0.7, multilabel=MULTILABEL))
    given.runs[0].evaluations["x"] = judged
    body = show_several_labels(given).body
    assert given.runs[0].name in body
    for words in ("81.0", "61.0", "71.0", "F1, macro", "precision at 3", "propensity-scored precision at 1", "77.0"):
        assert words in body
    assert "a right label stands first" in show_accuracy(replace(given, runs=given.runs[:1])).body


def test_rows_of_one_label_have_no_such_section(report):
    assert show_several_labels(report()) is None


def test_rules_on_one_class_for_each_row_say_nothing_of_several(checked):
    judged = checked("evaluation", evaluation_record(0.7, multilabel=MULTILABEL))
    assert len(advise(None, None, judged)) < len(advise(None, None, checked("evaluation", evaluation_record(0.7))))

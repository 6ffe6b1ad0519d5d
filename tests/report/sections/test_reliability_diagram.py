"""What the page says of probabilities and sets is what the evaluations hold."""

import sys

from manyclass.report.report_data import ReportData, RunReport
from manyclass.report.sections.reliability_diagram import show_calibration
from tests.report.synthetic import evaluation_record, run_record


def test_what_runs_say_of_themselves_stands_beside_how_often_they_are_right(report):
    body = show_calibration(report()).body
    assert "warp gives its best classes 90.0 % on average, and 75.0 % of 240 rows are right" in body
    assert "off by 15.0 points (10.0 points to 20.0 points), more than the 4.0 points that chance makes" in body
    assert "<svg" in body


def test_an_error_within_chance_is_said_to_be_so(checked, tmp_path):
    record = evaluation_record()
    record["calibration"]["error"] = {"value": 0.05, "low": 0.03, "high": 0.07, "chance": 0.04}
    run = RunReport("x", tmp_path, checked("run", run_record()), {"x": checked("evaluation", record)})
    assert "no more than the 4.0 points" in show_calibration(ReportData([run])).body


def test_sets_are_listed_with_what_was_promised(report):
    body = show_calibration(report()).body
    assert "91.0 % (87.0 % to 94.0 %)" in body
    assert body.count("3.50") == 2


def test_a_classifier_without_sets_has_its_probabilities_alone(checked, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    record = checked("evaluation", evaluation_record(sets=None))
    run = RunReport("x", tmp_path, checked("run", run_record()), {"x": record})
    assert "promised" not in show_calibration(ReportData([run])).body


def test_evaluations_of_before_have_no_such_section(checked, tmp_path):
    old = evaluation_record()
    del old["calibration"], old["sets"]
    run = RunReport("x", tmp_path, checked("run", run_record()), {"x": checked("evaluation", old)})
    assert show_calibration(ReportData([run])) is None

"""What the page says of rare classes is what the evaluations hold."""

import pytest

from manyclass.report.report_data import ReportData, RunReport
from manyclass.report.sections.rare_classes import show_class_sizes
from tests.report.synthetic import evaluation_record, run_record


def group(name, smallest, largest, right):
    counts = {"smallest": smallest, "largest": largest, "classes": 4, "rows": 80, "right": right}
    return {"name": name, **counts, "accuracy": right / 80}


USUAL = [group("many", 101, 500, 76), group("medium", 20, 100, 70), group("few", 2, 19, 40)]
THIRDS = [group("many", 30, 40, 76), group("few", 2, 19, 40)]


@pytest.fixture
def report(checked, tmp_path):
    """report(groups of a plain evaluation, groups of one with another prior)."""

    def make(plain, other=None):
        found = {"x-test": evaluation_record(by_size=plain, fingerprint="f")}
        if other:
            found = {
                "x-other": evaluation_record(0.9, by_size=other, prior="uniform", fingerprint="f"),
                **found,
            }
        judged = {name: checked("evaluation", one) for name, one in found.items()}
        return ReportData([RunReport("warp", tmp_path, checked("run", run_record()), judged)])

    return make


def test_groups_are_columns_and_their_bounds_are_said(report):
    body = show_class_sizes(report(USUAL)).body
    assert "few: 2 to 19 examples" in body
    assert "more than 100 examples to learn from are many, fewer than 20 few" in body
    assert "95.0 % of 80 rows of classes of many (87.8 to 98.0 %)" in body
    assert "50.0 % of 80 rows of classes of few (39.3 to 60.7 %)" in body


def test_thirds_are_called_so(report):
    assert "thirds of the classes by how many" in show_class_sizes(report(THIRDS)).body


def test_another_prior_is_another_row_and_the_run_is_told_by_its_own(report):
    made = report(USUAL, [*USUAL[:2], group("few", 2, 19, 64)])
    assert made.evaluated_runs[0][1]["prior"] is None
    body = show_class_sizes(made).body
    assert body.index("75.0 %") < body.index("warp, prior uniform") < body.index("80.0 %")


def test_without_classes_of_unlike_size_there_is_no_section(report):
    assert show_class_sizes(report(None)) is None

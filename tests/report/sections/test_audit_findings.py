"""What the page says of an audit is what its record holds, leaks first."""

from manyclass.report.report_data import AuditReport, ReportData
from manyclass.report.sections.audit_findings import describe_audit, show_audits
from tests.report.synthetic import audit_record, write_pictures


def page_of(checked, folder, **changes):
    """The section of one audit."""
    return show_audits(ReportData(audits=[AuditReport("audit", folder, checked("audit", audit_record(**changes)))]))


def test_everything_that_was_found_is_shown(checked, tmp_path):
    write_pictures(tmp_path / "pictures")
    (tmp_path / "audit").mkdir()
    body = page_of(checked, tmp_path / "audit").body
    assert "97 % likely wrong; row 5" in body
    assert "a.png, labeled class 0, perhaps class 1" in body
    assert "cosine 0.960; rows 5 and 9; train and test" in body
    assert body.index("rows 5 and 9") < body.index("rows 1 and 2")
    assert "farther than 99.8 % of rows" in body
    assert "33 to 62 %" in body
    assert "cannot be told apart" in body
    assert "12 of 50 rows are of another kind" in body
    assert body.count("data:image/") >= 4


def test_the_numbers_are_told_in_sentences(checked):
    words = describe_audit(checked("audit", audit_record()))
    assert "600 rows of x.store were looked at; nothing was changed." in words
    assert "2.1 % of the labels are expected to be wrong, and 7 likely are." in words
    assert "2 pairs of rows are nearly the same, 1 of them between two parts" in words
    assert words.endswith("Note that something was left out.")


def test_an_audit_without_findings_has_no_cards(checked, tmp_path):
    empty = {key: [] for key in ("label_errors", "duplicates", "outliers", "class_pairs", "class_splits")}
    body = page_of(checked, tmp_path, **empty, counts={}, notes=[], expected_errors=None).body
    assert "card" not in body
    assert "<h3>" not in body
    assert "600 rows of x.store" in body


def test_without_an_audit_there_is_no_section():
    assert show_audits(ReportData()) is None

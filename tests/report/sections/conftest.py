"""Records of two runs and a search, as they are read from files."""

import pytest

from manyclass.report.report_data import ReportData, RunReport, SearchReport
from manyclass.runs.records import read_record, write_record
from tests.report.synthetic import evaluation_record, retrieval_record, run_record


@pytest.fixture
def checked(tmp_path):
    """checked(kind, record): the record as it is read from a file."""

    def through_a_file(kind, record):
        write_record(tmp_path / "x.json", kind, record)
        return read_record(tmp_path / "x.json", kind)

    return through_a_file


@pytest.fixture
def report(checked, tmp_path):
    """report(run changes, top-1 of warp and of ovr): two runs and a search."""

    def make(changes=None, shares=(0.75, 0.738), search=None):
        runs = [
            RunReport(name, tmp_path, checked("run", run_record(name, **(changes or {}))),
                {"x": checked("evaluation", evaluation_record(share))}, number)
            for number, (name, share) in enumerate(zip(("warp", "ovr"), shares, strict=True))
        ]  # fmt: skip
        return ReportData(
            runs, [SearchReport("gallery", tmp_path, checked("retrieval", retrieval_record(**(search or {}))))]
        )

    return make

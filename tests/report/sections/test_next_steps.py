"""What the page says first: findings with pictures and commands, of the best run."""

import pytest

from manyclass.report.report_data import ReportData, RunReport
from manyclass.report.sections.next_steps import show_next_steps
from tests.report.synthetic import evaluation_record, run_record, write_pictures

SURE = [{"name": "a.png", "class": "class 1", "predicted": "class 2", "surer_than": 0.9}]


@pytest.fixture
def page(checked, tmp_path):
    """page(evaluations of one run): the section."""

    def make(*evaluations, **changes):
        write_pictures(tmp_path / "pictures")
        (tmp_path / "ovr" / "evaluations").mkdir(parents=True, exist_ok=True)
        records = {str(i): checked("evaluation", one) for i, one in enumerate(evaluations)}
        return show_next_steps(
            ReportData([RunReport("ovr", tmp_path / "ovr", checked("run", run_record(**changes)), records)])
        )

    return make


def test_of_data_that_is_gone_nothing_is_said_without_an_evaluation(page):
    assert page() is None


def test_how_to_judge_a_run_that_nobody_judged_is_said(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.store").touch()
    data = {"role": "train", "path": "x.store", "part": "train", "rows": 9, "fingerprint": "f"}
    body = page(data=[data], settings={"part": "train"}).body
    assert "<h3>Not tested yet</h3>" in body
    assert f"manyclass evaluate {tmp_path / 'ovr'} x.store" in body


def test_findings_stand_with_what_they_mean(page):
    body = page(evaluation_record(mistakes=SURE)).body
    assert "<h3>Known to ± 5.4 points</h3>" in body
    assert "may be no better and no worse than this one." in body
    assert "Look whether their labels are wrong" in body


def test_sure_mistakes_have_their_pictures(page):
    body = page(evaluation_record(mistakes=SURE, pictures={"folder": "../../pictures"})).body
    assert 'alt="a.png: labeled class 1, taken for class 2"' in body
    assert "class 1 → class 2" in body
    assert "<img" not in page(evaluation_record(mistakes=[SURE[0] | {"surer_than": 0.1}])).body


def two_runs(checked, tmp_path, shares, marks=("f", "f"), objectives=("ovr", "softmax"), names=None):
    runs = []
    for number, (share, mark, objective) in enumerate(zip(shares, marks, objectives, strict=True)):
        record = run_record(objective, data=[{"role": "train", "path": "x", "fingerprint": mark}])
        evaluation = checked("evaluation", evaluation_record(share))
        runs.append(
            RunReport((names or objectives)[number], tmp_path, checked("run", record), {"x": evaluation}, number)
        )
    return show_next_steps(ReportData(runs)).body


def test_an_objective_that_is_ahead_is_named_with_the_interval(checked, tmp_path):
    body = two_runs(checked, tmp_path, (0.6, 0.8))
    assert "softmax (80.0 %) is ahead of ovr (60.0 %) by at least 11.9 points on 240 rows (95 % interval)." in body


def test_one_sentence_tells_of_all_objectives_that_are_behind(checked, tmp_path):
    three = {"shares": (0.5, 0.6, 0.8), "marks": "fff", "objectives": ("ovr", "warp", "trace")}
    body = two_runs(checked, tmp_path, **three, names=("ovr", "warp", "best"))
    words = "trace (best, 80.0 %) is ahead of warp (60.0 %) and ovr (50.0 %) by at least 11.9 points on 240 rows"
    assert f"{words} (95 % intervals)." in body


@pytest.mark.parametrize(
    "changes",
    [{"shares": (0.7, 0.75)}, {"marks": ("f", "g")}, {"marks": (None, None)}, {"objectives": ("ovr", "ovr")}],
    ids=["in doubt", "other rows", "unknown rows", "the same objective"],
)
def test_nothing_is_said_of_objectives_that_the_numbers_do_not_tell_apart(checked, tmp_path, changes):
    assert "is ahead of" not in two_runs(checked, tmp_path, **{"shares": (0.6, 0.8), **changes})

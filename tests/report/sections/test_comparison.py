"""What the page says of runs side by side is what the records hold."""

from manyclass.report.report_data import ReportData, RunReport
from manyclass.report.sections.comparison import compare_runs, describe_lead, show_costs, summarize
from tests.report.synthetic import evaluation_record, run_record


def test_the_leader_and_its_lead_are_named_with_the_doubt(report):
    said = describe_lead(report())
    assert "warp leads by 1.2 points, 75.0 % against 73.8 % of ovr" in said
    assert "about ± 5.4 points" in said


def test_runs_that_are_level_are_called_level(report):
    assert "warp and ovr are level" in describe_lead(report(shares=(0.75, 0.75)))


def test_only_the_best_run_is_tagged_and_it_comes_first(report):
    body = compare_runs(report(shares=(0.5, 0.6))).body
    assert body.count(">best<") == 1
    assert body.index("ovr") < body.index("best") < body.index("warp")


def test_the_cheapest_and_dearest_runs_are_named(report):
    body = show_costs(report()).body
    assert "Time of the whole run: from 4.5 s (ovr) to 5.5 s (warp)." in body
    assert "Most memory in use: 100.0 MB." in body


def test_what_a_single_run_cost_is_a_sentence_and_no_bars(checked, tmp_path):
    body = show_costs(ReportData([RunReport("ovr", tmp_path, checked("run", run_record()), {})])).body
    assert "Time of the whole run: 5.5 s." in body
    assert "<svg" not in body


def test_accuracies_on_rows_that_were_trained_on_say_so(checked, tmp_path):
    train = {"role": "train", "path": "x.store", "rows": 240, "part": "all", "fingerprint": "f"}
    evaluation = checked("evaluation", evaluation_record(data=train))
    for data, seen in ((train, True), ({**train, "path": "y.store", "fingerprint": "g"}, False)):
        run = RunReport("warp", tmp_path, checked("run", run_record(data=[data])), {"x": evaluation})
        assert ("these rows are what it was trained on" in summarize(ReportData([run]))) == seen


def of_examples(checked, tmp_path, **marks):
    runs = []
    for number, (name, mark) in enumerate(marks.items()):
        data = {"path": f"{name}.store", "part": "test", "rows": 240, "fingerprint": name}
        evaluation = checked("evaluation", evaluation_record(0.5 + number / 10, data=data, fingerprint=mark))
        runs.append(RunReport(name, tmp_path, checked("run", run_record(name)), {"x": evaluation}, number))
    return ReportData(runs)


def test_no_run_is_best_across_tests_and_all_numbers_are_shown(checked, tmp_path):
    report = of_examples(checked, tmp_path, ovr="e", warp="g")
    body = compare_runs(report).body
    assert ">best<" not in body
    assert "50.0 %<" in body
    assert "60.0 %*<" in body
    assert "* Measured on other examples than ovr, so that the accuracies cannot be compared: " in body
    assert "warp on 240 rows of warp.store." in body
    assert "warp cannot be compared with that: other examples were used." in summarize(report)


def test_the_best_of_those_on_the_same_test_is_best_though_another_has_a_higher_number(checked, tmp_path):
    body = compare_runs(of_examples(checked, tmp_path, ovr="e", warp="e", trace="g")).body
    assert body.count(">best<") == 1
    assert body.index("warp") < body.index(">best<") < body.index("ovr") < body.index("trace")
    assert "70.0 %*<" in body


def test_a_run_alone_is_compared_with_nothing(checked, tmp_path):
    assert compare_runs(of_examples(checked, tmp_path, ovr="e")) is None

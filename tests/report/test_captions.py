"""What the page says in words is what the records hold."""

import pytest
from report.synthetic import evaluation_record, retrieval_record, run_record

from manyclass.report.collect import ReportData, RunReport, SearchReport
from manyclass.report.sections.classes import accuracy, confusions, examples
from manyclass.report.sections.comparison import comparison, cost, standing, summary
from manyclass.report.sections.learning_curves import curve, curves, tuning
from manyclass.report.sections.search_results import retrieval
from manyclass.report.sections.setup import setup
from manyclass.report.sections.weights import chosen_pair, embedding, path_grid, spectrum
from manyclass.runs.records import read_record, write_record


@pytest.fixture
def checked(tmp_path):
    """checked(kind, record): the record as it is read from a file."""

    def through_a_file(kind, record):
        write_record(tmp_path / "x.json", kind, record)
        return read_record(tmp_path / "x.json", kind)

    return through_a_file


@pytest.fixture
def material(checked, tmp_path):
    """material(run changes, top-1 of warp and of ovr): two runs and a search."""

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


def test_the_leader_and_its_lead_are_named_with_the_doubt(material):
    said = standing(material())
    assert "warp leads by 1.2 points, 75.0 % against 73.8 % of ovr" in said
    assert "about ± 5.5 points" in said


def test_runs_that_are_level_are_called_level(material):
    assert "warp and ovr are level" in standing(material(shares=(0.75, 0.75)))


def test_only_the_best_run_is_tagged_and_it_comes_first(material):
    body = comparison(material(shares=(0.5, 0.6))).body
    assert body.count(">best<") == 1
    assert body.index("ovr") < body.index("best") < body.index("warp")


def test_the_table_of_classes_begins_with_the_worst_and_says_what_it_is_taken_for(material):
    body = accuracy(material()).body
    first = body[body.index("<tbody>") :].split("</tr>")[0]
    for words in ("class 11<", "45.0 %", 'data-value="0.45"', "class 10<"):
        assert words in first
    assert "Of 12 classes, 1 is always recognized and 1 less than half of the time." in body


def test_the_most_confused_pair_is_named(material):
    body = confusions(material()).body
    assert "warp takes class 11 for class 10 most often, 7 times." in body
    assert "7 times of 20 (35 %)" in body


def test_best_and_worst_classes_are_told_apart(material):
    body = examples(material()).body
    assert "class 0 is right in 100 % of its rows, class 11 in 45 %" in body
    assert (
        body.index("<h3>Best") < body.index("<b>class 0</b>") < body.index("<h3>Worst") < body.index("<b>class 11</b>")
    )


def test_seconds_of_epochs_add_up_and_those_of_iterations_do_not(checked, tmp_path):
    def seconds(unit, history):
        run = RunReport("x", tmp_path, checked("run", run_record(history=history)), {})
        return curve(run, ("objective", "loss"), unit)[1]

    rows = [{"loss": 1.0, "seconds": 2.0, "n": i} for i in range(3)]
    assert seconds("epoch", [row | {"epoch": row["n"]} for row in rows]) == [2, 4, 6]
    assert seconds("iteration", [row | {"iteration": row["n"]} for row in rows]) == [2, 2, 2]


def test_what_is_trained_again_is_no_part_of_a_curve(checked, tmp_path):
    history = [{"epoch": e, "accuracy": 0.5, "seconds": 1.0, "phase": p} for p in ("train", "refit") for e in (1, 2)]
    run = RunReport("x", tmp_path, checked("run", run_record(history=history)), {})
    assert curve(run, ("accuracy",), "epoch")[0] == [1, 2]


def test_the_highest_point_of_the_curves_is_named(material):
    assert "warp comes highest: 83.8 % after epoch 8 and 0.8 s of training." in curves(material()).body


def test_the_best_and_worst_values_of_a_setting_are_named(material):
    section = tuning(material())
    assert section.title == "Accuracy against beta"
    assert "beta = 64 is best for warp with 80.0 %; beta = 1 loses 30.0 points." in section.body


def test_rank_and_concentration_are_said(material):
    assert "warp has rank 5 of at most 12; the first 3 carry 88 % of the sum." in spectrum(material()).body


def test_the_framed_pair_is_that_of_the_model_or_else_the_most_accurate(material):
    best = chosen_pair(material().runs[0])
    assert (best["trace"], best["ridge"]) == (1e-3, 1e-5)
    model = {"trace": 1e-2, "ridge": 1e-4}
    made = chosen_pair(material({"model": model}).runs[0])
    assert (made["trace"], made["ridge"]) == (1e-2, 1e-4)


def test_every_cell_of_the_grid_says_its_value(material):
    body = path_grid(material()).body
    assert "<title>ridge 1.0e-05, trace 1.0e-03: 85.0, chosen</title>" in body
    assert body.count("<title>") == 2 * 3 * 6


def test_every_class_of_the_embedding_says_its_name(material):
    body = embedding(material()).body
    assert all(f"<title>class {i}</title>" in body for i in range(12))
    assert "class 3 and class 0 are farthest apart along the first" in body


def test_the_leading_method_is_named(material):
    body = retrieval(material()).body
    assert "SLEM leads with 62.0 %, 12.0 points before cosine." in body
    assert "1 of the 2 results shown are right." in body


def _methods(a, b, against_a=None, against_b=None, more=()):
    """Methods a and b with intervals that overlap, one of them held against another by a paired difference."""
    spread = {"low": 0.1, "high": 0.9}
    return [
        {"name": "a", "map": a, "against": against_a, **spread},
        {"name": "b", "map": b, "against": against_b, **spread},
        *more,
    ]


def _against(method, low, high):
    return {"method": method, "difference": (low + high) / 2, "low": low, "high": high, "p": 0.01}


CERTAIN = {
    "of the leader": (_methods(0.5, 0.4, against_a=_against("b", 0.08, 0.12)), "8.0 to 12.0", "more than chance"),
    "of the second": (_methods(0.5, 0.4, against_b=_against("a", -0.12, -0.08)), "8.0 to 12.0", "more than chance"),
    "in doubt": (_methods(0.5, 0.4, against_b=_against("a", -0.3, 0.1)), "-10.0 to 30.0", "so chance may"),
}  # fmt: skip


@pytest.mark.parametrize(("methods", "interval", "verdict"), CERTAIN.values(), ids=CERTAIN)
def test_what_is_known_of_a_lead_is_the_interval_of_the_difference(material, methods, interval, verdict):
    body = retrieval(material(search={"methods": methods})).body
    assert "a leads with 50.0 %, 10.0 points before b; query by query" in body
    assert f"the lead is {interval} points (95 % interval), {verdict}" in body


UNKNOWN = {
    "no difference": _methods(0.5, 0.4),
    "against a third": _methods(
        0.5, 0.4, _against("c", 0.1, 0.3), _against("c", 0.1, 0.2), more=[{"name": "c", "map": 0.2}]
    ),
}


@pytest.mark.parametrize("methods", UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_is_said_of_a_difference_that_was_not_measured(material, methods):
    body = retrieval(material(search={"methods": methods})).body
    assert "a leads with 50.0 %, 10.0 points before b.<" in body


def test_the_cheapest_and_dearest_runs_are_named(material):
    body = cost(material()).body
    assert "Time of the whole run: from 4.5 s (ovr) to 5.5 s (warp)." in body
    assert "Most memory in use: 100.0 MB." in body


def test_settings_in_which_runs_differ_stand_apart_from_those_they_share(material):
    body = setup(material()).body
    apart, shared = body.split("2 settings of every run")
    assert '<th scope="row">objective</th>' in apart
    assert '<th scope="row">max_epochs</th>' in shared
    assert "manyclass train x.store -o warp" in shared


def test_data_that_several_records_name_is_one_row(material):
    assert setup(material()).body.count('<th scope="row">x.store</th>') == 2  # 600 rows to train, 240 to test


def test_accuracies_on_rows_that_were_trained_on_say_so(checked, tmp_path):
    train = {"role": "train", "path": "x.store", "rows": 240, "part": "all", "fingerprint": "f"}
    evaluation = checked("evaluation", evaluation_record(data=train))
    for data, seen in ((train, True), ({**train, "path": "y.store", "fingerprint": "g"}, False)):
        run = RunReport("warp", tmp_path, checked("run", run_record(data=[data])), {"x": evaluation})
        assert ("these rows are what it was trained on" in summary(ReportData([run]))) == seen

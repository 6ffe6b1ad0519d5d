"""Advice appears when the numbers support it, and not when they do not; records are made by hand for each rule."""

from pathlib import Path

import pytest

from manyclass.report.advice import advise, confused_pairs, sure_mistakes
from manyclass.runs.records import read_record, write_record
from tests.report.synthetic import evaluation_record, run_record


@pytest.fixture
def given(tmp_path, monkeypatch):
    """given(training counts, test counts, ...): what is advised, by key; the data is there to be named."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.store").touch()
    (tmp_path / "photos").mkdir()

    def make(seen=None, test=(180, 240), rows=(), run=None, changes=None):
        training = seen and {
            "rows": seen[1],
            "right": seen[0],
            "per_class": [{"class": name, "rows": n} for name, n in rows],
        }
        changed = {"top_1": test[0] / test[1], "rows": test[1], "confusions": [], **(changes or {})}
        records = {
            "run": run_record("ovr", training=training, **(run or {})),
            "evaluation": evaluation_record(**changed),
        }
        for kind, record in records.items():
            write_record(tmp_path / "r.json", kind, record)
            records[kind] = read_record(tmp_path / "r.json", kind)
        return {one.key: one for one in advise(Path("ovr"), records["run"], records["evaluation"])}

    return make


def test_the_interval_of_the_accuracy_is_said(given):
    found = given(test=(63, 73))["interval"]
    assert found.title == "Known to ± 7.9 points"
    assert "86.3 % of 73 rows are right" in found.finding
    assert "76.6 to 92.4 % (95 % interval)" in found.finding


def test_rows_that_made_the_model_tell_nothing_of_others(given):
    data = {"role": "train", "path": "x.store", "part": "all", "rows": 240, "fingerprint": "f"}
    found = given((240, 240), run={"data": [data]}, changes={"data": data})
    assert not {"interval", "gap", "data", "fit", "features"} & found.keys()
    first = next(iter(found.values()))
    assert first.title == "Not tested yet"
    assert first.finding.startswith("These rows are what it was trained on: that 75.0 % are right says little of")


def test_a_test_of_other_rows_is_one(given):
    assert "untested" not in given((240, 240))


def test_a_gap_is_said_with_its_interval(given):
    words = given((282, 291), (63, 73))["gap"].finding
    assert "96.9 % of 291 rows that it learned from are right, 10.6 points more than of the test" in words
    assert "(95 % interval: 4.0 to 20.4 points)" in words


def test_a_gap_that_chance_may_have_made_is_none(given):
    words = given((76, 100), (75, 100))["gap"].finding
    assert "are right, 1.0 points more than of the test, which chance may have made." in words
    assert "1.0 points less than of the test, which chance may" in given((75, 100), (76, 100))["gap"].finding
    assert "are right, as many as of the test." in given((75, 100), (75, 100))["gap"].finding


def test_of_records_without_training_rows_no_gap_is_said(given):
    assert not {"gap", "data", "fit", "features", "rare"} & given(None).keys()
    assert "gap" not in given((0, 0))


# Training and test counts, and which of the two remedies they support.
REMEDIES = {
    "all that was seen is right": ((600, 600), (160, 240), "data"),
    "as wrong where it has seen": ((400, 600), (160, 240), "fit"),
    "about half": ((500, 600), (160, 240), None),
    "too few rows to tell": ((29, 30), (18, 20), None),
    "nothing is wrong": ((590, 600), (240, 240), None),
}


@pytest.mark.parametrize(("seen", "test", "advice"), REMEDIES.values(), ids=REMEDIES)
def test_rows_or_features_are_advised_by_where_the_mistakes_are(given, seen, test, advice):
    assert {"data", "fit"} & given(seen, test).keys() == {advice} - {None}


def test_the_numbers_that_led_to_advice_are_said(given):
    words = given((600, 600), (160, 240))["data"].finding
    assert "0.0 % of the rows that it learned from are wrong, 33.3 % of the test" in words


def test_a_penalty_is_tuned_or_else_chosen_by_leaving_rows_out(given):
    far = (600, 600), (160, 240)
    assert "--objective=ovr --tune regularization" in given(*far)["data"].commands[0]
    tuned = given(*far, run={"settings": {"objective": "ovr", "tune": ["regularization"]}})["data"]
    assert "--objective=square" in tuned.commands[0]
    assert "regularization" not in tuned.commands[0]


@pytest.mark.parametrize(("objective", "other"), [("ovr", "softmax"), ("softmax", "square")])
def test_another_objective_is_one_that_the_run_has_not(given, objective, other):
    model = {"estimator": "StochasticClassifier", "objective": objective, "classes": 12, "columns": 64}
    assert f"--objective={other}" in given((400, 600), (160, 240), run={"model": model})["fit"].commands[0]


@pytest.mark.parametrize("kind", ["fisher", "network", "own.onnx"])
def test_a_network_is_advised_where_none_made_the_features(given, kind):
    made = {"source": "photos", "kind": kind, "seed": 0, "test_fraction": 0.2}
    found = given((600, 600), (160, 240), changes={"features": made})
    assert ("features" in found) == (kind == "fisher")
    if kind == "fisher":
        assert (
            found["features"].commands[-2] == "manyclass learn photos -o ovr-network --kind=network --test-fraction=0.2"
        )
        assert "features" not in given((500, 600), (160, 240), changes={"features": made})


MANY = [(f"class {i}", 40) for i in range(11)]


def per_class(*rare, rows=20):
    common = [{"class": f"class {i}", "rows": rows, "right": rows - 1} for i in range(11)]
    return {"per_class": [*common, {"class": "class 11", "rows": rare[1], "right": rare[0]}]}


def test_classes_with_few_rows_are_named(given):
    words = given((9, 9), rows=[*MANY, ("class 11", 3)], changes=per_class(19, 20))["rare"].finding
    assert words == "There are 40 rows of the median class to learn from, and few of class 11 (3)."
    assert "rare" not in given((9, 9), rows=[*MANY, ("class 11", 30)])


def test_more_rows_of_them_are_advised_where_they_are_recognized_less(given):
    rows = [*MANY, ("class 11", 3)]
    worse = given((9, 9), rows=rows, changes=per_class(5, 20))["rare"]
    assert "25.0 % of these are right and 95.0 % of others" in worse.finding
    assert "--class-weight balanced" in worse.commands[0]
    model = {"estimator": "StochasticClassifier", "objective": "softmax", "classes": 12, "columns": 64}
    likely = given((9, 9), rows=rows, changes=per_class(5, 20), run={"model": model})["rare"]
    assert "--prior uniform" in likely.commands[0]
    known = {"settings": {"objective": "softmax", "prior": "uniform"}, "model": model}
    assert given((9, 9), rows=rows, changes=per_class(5, 20), run=known)["rare"].commands == ()
    for counts in ((19, 20), (1, 2)):  # as good as others; too few to tell
        alike = given((9, 9), rows=rows, changes=per_class(*counts))["rare"]
        assert "In the test" not in alike.finding
        assert alike.commands == ()


def test_classes_that_are_hardly_tested_are_counted(given):
    assert "1 of 12 classes are tested by fewer than 10 rows" in given(changes=per_class(5, 9))["tested"].finding
    assert "tested" not in given(changes=per_class(5, 10))


def mistakes(*sure):
    return [
        {"name": f"{i}.png", "class": "class 1", "predicted": "class 2", "surer_than": s} for i, s in enumerate(sure)
    ]


def test_mistakes_are_sure_from_half_of_the_right_rows_on(given):
    found = given(changes={"mistakes": mistakes(0.9, 0.5, 0.49)})["sure"]
    assert found.finding.startswith("2 rows are taken for another class")
    assert given(changes={"mistakes": mistakes(0.9, 0.5)})["sure"].finding.startswith("At least 2 rows are taken")
    assert given(test=(1, 2), changes={"mistakes": mistakes(0.9)})["sure"].finding.startswith("1 row is taken")
    assert "0.png: labeled class 1, taken for class 2, surer than 90 % of them" in found.finding
    assert found.commands == ()
    assert "sure" not in given(changes={"mistakes": mistakes(0.49, 0.1)})
    assert sure_mistakes({"mistakes": None}) == []


def test_training_rows_are_looked_at_by_a_classifier_of_the_others(given):
    parts = {"settings": {"objective": "ovr", "part": "train"}}
    found = given((9, 9), rows=[*MANY, ("class 11", 40)], run=parts, changes={"mistakes": mistakes(0.9)})["sure"]
    assert found.commands[:2] == (
        "manyclass train x.store -o ovr-swapped --part=test",
        "manyclass evaluate ovr-swapped x.store --part=train",
    )
    assert "a classifier of the rows of the test shows them" in found.meaning


def confusion(k, wrong, *pairs):
    """An evaluation of k classes with so many mistakes each, some of which go to one class."""
    return {
        "per_class": [{"class": f"{i:02}", "rows": 50, "right": 50 - wrong} for i in range(k)],
        "confusions": [{"class": a, "predicted": b, "count": n} for a, b, n in pairs],
    }


def test_pairs_are_confused_where_chance_does_not_explain_it():
    found = confused_pairs(confusion(10, 5, ("00", "01", 4), ("01", "00", 3), ("02", "03", 2)))
    assert [pair[:4] for pair in found] == [("00", "01", 7, 10)]
    # C(10, 7) ... of (1/9)^7 and more, for each of 45 pairs
    assert found[0][4] == pytest.approx(45 * 1.8e-5, rel=0.05)


def test_a_pair_that_is_confused_once_is_not_really_confused():
    assert confused_pairs(confusion(5000, 1, ("00", "01", 1))) == []
    assert (
        confused_pairs(confusion(2, 20, ("00", "01", 20), ("01", "00", 20))) == []
    )  # of two classes it is the only one


def test_of_many_pairs_some_are_alike_by_chance():
    # Three of six mistakes are rare for a pair, and not among the 4,950 pairs of a hundred classes.
    assert confused_pairs(confusion(100, 3, ("00", "01", 3))) == []
    assert len(confused_pairs(confusion(100, 3, ("00", "01", 3), ("01", "00", 1)))) == 1
    assert len(confused_pairs(confusion(20, 3, ("00", "01", 4)))) == 1


def test_really_confused_pairs_are_advised(given):
    pairs = [{"class": "class 11", "predicted": "class 10", "count": 9, "examples": []}]
    assert "class 10 with class 11 (9 of 21 mistakes)" in given(changes={"confusions": pairs})["pairs"].finding
    assert "pairs" not in given(changes={"confusions": [pairs[0] | {"count": 2}]})


def test_of_a_model_that_is_a_file_the_test_alone_is_told(tmp_path):
    write_record(tmp_path / "r.json", "evaluation", evaluation_record(mistakes=mistakes(0.9)))
    found = advise(None, None, read_record(tmp_path / "r.json", "evaluation"))
    assert {one.key for one in found} == {"interval", "sure", "pairs"}
    assert all(one.commands == () for one in found)

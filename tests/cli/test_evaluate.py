"""manyclass evaluate, as a user meets it."""

import json

import numpy as np
import pytest
from cli.runs import CLASSES, QUICK, begin_run, rows, store

import manyclass as mc
from manyclass.runs.records import read_record


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a store and a run that was trained on it."""
    folder = tmp_path_factory.mktemp("evaluate")
    data = store(folder / "x.store")
    part = np.flatnonzero(mc.open_store(data).split == "train")
    y = np.array(CLASSES)[mc.open_store(data).y[part]]
    model = mc.StochasticClassifier(max_epochs=6, random_state=0).fit(mc.open_store(data).X.rows(part), y)
    model.save(folder / "model")
    return folder


@pytest.fixture
def runs(run, trained, tmp_path):
    """A run of the store."""
    assert run("train", trained / "x.store", "-o", tmp_path / "run", *QUICK).code == 0
    return tmp_path / "run"


def test_the_numbers_are_those_of_the_library(run, trained):
    record = json.loads(run("evaluate", trained / "model", trained / "x.store", "--json").out)
    data, model = mc.open_store(trained / "x.store"), mc.load(trained / "model")
    test = np.flatnonzero(data.split == "test")
    X, y = data.X.rows(test), np.array(CLASSES)[data.y[test]]
    scores = model.decision_function(X)
    top = {"classes": model.classes_, "per_class": False}
    assert record["rows"] == 60
    assert record["top_1"] == pytest.approx(mc.evaluation.top_k_accuracy(y, scores, k=1, **top))
    assert record["top_5"] == pytest.approx(mc.evaluation.top_k_accuracy(y, scores, k=5, **top))
    assert record["mean_per_class"] == pytest.approx(mc.evaluation.accuracy(y, model.predict(X)))
    wrong = sum(one["count"] for one in record["confusions"])
    assert wrong == (model.predict(X) != y).sum() > 0
    assert sum(one["rows"] - one["right"] for one in record["per_class"]) == wrong


def test_what_the_numbers_say_stands_at_the_end_and_not_in_json(run, trained, runs):
    words = " ".join(run("evaluate", runs, trained / "x.store").out.split())
    assert "what next" in words
    assert "95 % interval" in words
    assert "rows that it learned from are right" in words
    alone = " ".join(run("evaluate", trained / "model", trained / "x.store").out.split())
    assert "95 % interval" in alone
    assert "learned from" not in alone
    assert "what next" not in run("evaluate", runs, trained / "x.store", "--json").out


def test_examples_are_rows_of_their_class_the_most_confident_first(run, trained):
    record = json.loads(run("evaluate", trained / "model", trained / "x.store", "--part", "all", "--json").out)
    data, model = mc.open_store(trained / "x.store"), mc.load(trained / "model")
    rows_of = {name: row for row, name in enumerate(data.names)}
    for one in record["examples"]:
        assert one["right"]
        assert all(name.startswith(one["class"] + "/") for name in one["right"])
        scores = np.sort(model.decision_function(data.X.rows([rows_of[name] for name in one["right"]])), axis=1)
        assert (np.diff(scores[:, -1] - scores[:, -2]) <= 1e-6).all()
        for mistake in one["wrong"]:
            assert model.predict(data.X.rows([rows_of[mistake["name"]]])) == [mistake["predicted"]]


def test_the_result_is_kept_with_the_run(run, runs, trained):
    outcome = run("evaluate", runs, trained / "x.store")
    assert outcome.code == 0, outcome.err
    assert "judging 60 rows of the part test" in outcome.err
    record = read_record(runs / "evaluations" / "x-test.json", "evaluation")
    assert (record["rows"], record["data"]["part"], record["pictures"]) == (60, "test", None)
    for words in ("top-1", f"{record['top_1']:.2%}", "mean per class", "worst class", "x-test.json"):
        assert words.replace(" ", "") in "".join(outcome.out.split())


def test_of_a_model_file_nothing_is_written_unless_asked(run, trained, tmp_path):
    run("evaluate", trained / "model", trained / "x.store")
    assert sorted(path.name for path in trained.iterdir()) == ["model", "x.store"]
    run("evaluate", trained / "model", trained / "x.store", "-o", tmp_path / "a" / "e.json")
    assert read_record(tmp_path / "a" / "e.json", "evaluation")["rows"] == 60


def test_classes_go_by_name_whatever_their_numbers(run, trained, tmp_path):
    _, y = rows()
    turned = CLASSES[::-1]
    other = store(tmp_path / "y.store", y=5 - y, classes=turned)
    results = [
        json.loads(run("evaluate", trained / "model", path, "--json").out) for path in (trained / "x.store", other)
    ]
    assert results[0]["top_1"] == results[1]["top_1"] > 0.8


def test_a_model_of_numbers_judges_numbers(run, tmp_path):
    X, y = rows()
    mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X, y).save(tmp_path / "m")
    named = json.loads(run("evaluate", tmp_path / "m", store(tmp_path / "x.store"), "--json").out)
    np.savez(tmp_path / "y.npz", X=X, labels=y)
    assert named["top_1"] > 0.8
    assert run("evaluate", tmp_path / "m", tmp_path / "y.npz").code == 0


def test_two_classes_are_judged_too(run, tmp_path):
    X, y = rows(k=2)
    np.savez(tmp_path / "y.npz", X=X, labels=y)
    mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X, y).save(tmp_path / "m")
    assert json.loads(run("evaluate", tmp_path / "m", tmp_path / "y.npz", "--json").out)["top_5"] == 1.0


def _columns(path):
    np.savez(path / "y.npz", X=np.ones((4, 5)), labels=["cat", "dog", "cat", "dog"])
    return "y.npz must have 8 columns, as the data of"


def _unknown(path):
    np.savez(path / "y.npz", X=np.ones((3, 8)), labels=["cat", "yak", "gnu"])
    return "must hold classes among the 6 that"


def _numbers(path):
    np.savez(path / "y.npz", X=np.ones((3, 8)), labels=[1, 2, 3])
    return "must label its rows by names such as 'ant'"


def _unlabeled(path):
    np.savez(path / "y.npz", X=np.ones((3, 8)))
    return "must have labels; it has none; give a file of them with --labels"


def _missing(path):
    return "y.npz"


@pytest.mark.parametrize("make", [_columns, _unknown, _numbers, _unlabeled, _missing])
def test_data_that_do_not_fit_are_one_sentence_and_exit_one(run, trained, tmp_path, make):
    words = make(tmp_path)
    outcome = run("evaluate", trained / "model", tmp_path / "y.npz")
    assert (outcome.code, outcome.out) == (1, "")
    assert words in outcome.err
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1


def _no_run(path):
    return "no run or model at"


def _folder(path):
    (path / "r").mkdir()
    return "it has no run.json"


def _unfinished(path):
    store(path / "z.store")
    begin_run(path / "r")
    return "is unfinished; go on with it by manyclass train --resume"


def _encoder(path):
    mc.WhitenedPCA(2).fit(np.random.default_rng(0).standard_normal((9, 3))).save(path / "r")
    return "must hold a classifier; it holds a WhitenedPCA"


def _other_file(path):
    (path / "r").write_text("no model")
    return "is not a manyclass model"


@pytest.mark.parametrize("make", [_no_run, _folder, _unfinished, _encoder, _other_file])
def test_what_is_no_classifier_is_one_sentence_and_exit_one(run, trained, tmp_path, make):
    words = make(tmp_path)
    outcome = run("evaluate", tmp_path / "r", trained / "x.store")
    assert (outcome.code, outcome.out) == (1, "")
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_help_teaches(run):
    out = run("evaluate", "--help").out
    for word in ("--part", "--labels", "--json", "Example: manyclass evaluate"):
        assert word in out


def test_labels_that_are_whole_numbers_stay_whole(run, tmp_path):
    X, y = rows(n=10)
    np.savez(tmp_path / "x.npz", features=X, labels=y + 2**60)
    run("train", tmp_path / "x.npz", "-o", tmp_path / "run", *QUICK)
    record = json.loads(run("evaluate", tmp_path / "run", tmp_path / "x.npz", "--json").out)
    assert [one["class"] for one in record["per_class"]] == [str(2**60 + i) for i in range(6)]


@pytest.mark.parametrize(
    ("trained_on", "judged_on", "said"),
    [("all", "all", "trained on"), ("train", "all", "trained on"), ("train", "train", "trained on"),
     ("train", "val", "chosen by"), ("train", "test", None)],
)  # fmt: skip
def test_rows_that_made_the_model_are_told(run, tmp_path, trained_on, judged_on, said):
    X, y = rows()
    split = np.array(["train", "val", "test"] * 60)
    np.savez(tmp_path / "x.npz", features=X, labels=y, split=split)
    judged = ("--validation", "val") if trained_on == "train" else ()
    run("train", tmp_path / "x.npz", "-o", tmp_path / "run", "--part", trained_on, *judged, *QUICK)
    outcome = run("evaluate", tmp_path / "run", tmp_path / "x.npz", "--part", judged_on)
    assert outcome.code == 0
    assert ("says little of others" in outcome.err) == (said is not None)
    assert said is None or said in outcome.err


def test_a_class_that_is_always_right_is_not_called_the_worst(run, tmp_path):
    X = np.repeat(10 * np.eye(4, dtype=np.float32), 10, axis=0)
    np.savez(tmp_path / "x.npz", features=X, labels=np.repeat(np.arange(4), 10))
    run("train", tmp_path / "x.npz", "-o", tmp_path / "run", *QUICK)
    outcome = run("evaluate", tmp_path / "run", tmp_path / "x.npz")
    assert "100.00%" in outcome.out
    assert "worst" not in outcome.out


def test_the_fingerprint_is_that_of_the_data_whatever_a_model_calls_its_classes(run, trained, tmp_path):
    mc.StochasticClassifier(max_epochs=3, random_state=0).fit(*rows()).save(tmp_path / "numbers")
    marks = {
        json.loads(run("evaluate", model, trained / "x.store", "--json").out)["data"]["fingerprint"]
        for model in (trained / "model", tmp_path / "numbers")
    }
    assert len(marks) == 1


@pytest.fixture
def uneven(tmp_path):
    """Rows of classes of unlike size, with a split."""
    X, y = rows(n=60)
    keep = np.flatnonzero(np.arange(len(y)) % 60 < np.array([60, 48, 36, 24, 12, 6])[y])
    split = np.where(np.arange(len(keep)) % 3 == 2, "test", "train")
    np.savez(tmp_path / "uneven.npz", X=X[keep], y=np.array(CLASSES)[y[keep]], split=split)
    return tmp_path / "uneven.npz"


def test_rare_classes_have_a_line_and_a_prior_is_named(run, uneven, tmp_path):
    assert run("train", uneven, "-o", tmp_path / "run", *QUICK).code == 0
    plain = run("evaluate", tmp_path / "run", uneven).out
    assert "classes of few examples" in plain
    assert "4 to 8 to learn from" in plain
    assert "thirds of the classes" in plain
    uniform = run("evaluate", tmp_path / "run", uneven, "--prior", "uniform")
    assert (uniform.code, "prior" in uniform.out, "uniform" in uniform.out) == (0, True, True)
    record = json.loads(run("evaluate", tmp_path / "run", uneven, "--prior", "uniform", "--json").out)
    assert record["by_size"][-1]["name"] == "few"
    assert record["prior"] == "uniform"
    model = mc.load(tmp_path / "run").set_prior("uniform")
    with np.load(uneven) as file:
        test = file["split"] == "test"
        assert record["top_1"] == pytest.approx(model.score(file["X"][test], file["y"][test]))


def test_a_prior_that_is_none_is_refused_in_a_line(run, trained):
    outcome = run("evaluate", trained / "model", trained / "x.store", "--prior", "even")
    assert outcome.code != 0
    assert "--prior must be uniform, training, or a CSV file" in outcome.err
    assert "Traceback" not in outcome.err


def test_what_it_says_of_itself_and_its_sets_are_told(run, trained):
    words = " ".join(run("evaluate", trained / "model", trained / "x.store").out.split())
    assert "bin by bin it is off by" in words
    assert "sets for 95%" in words

"""Priors of classes as users name them, and what runs keep of them."""

import json

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import SettingsError
from manyclass.runs.evaluating.priors import class_sizes, read_prior
from manyclass.runs.records import read_record
from manyclass.runs.run_record import model_rows

NAMES = np.array(["ant", "bee", "cat"])
SIZES = [60, 24, 6]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Rows of classes of unlike size; every third is a test."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), SIZES)
    X = np.random.default_rng(9).normal(size=(3, 8))[y] + 1.2 * rng.normal(size=(len(y), 8))
    path = tmp_path_factory.mktemp("priors") / "x.npz"
    split = np.where(np.arange(len(y)) % 3 == 2, "test", "train")
    np.savez(path, X=X.astype(np.float32), y=NAMES[y], split=split)
    return path


def trained(data, out, **more):
    return mc.runs.train(data, out, **{"objective": "softmax", "max_epochs": 5, **more})


def test_a_run_with_a_prior_has_the_machines_of_one_without_and_other_biases(data, tmp_path):
    plain, uniform = (trained(data, tmp_path / name, **more) for name, more in (("a", {}), ("b", {"prior": "uniform"})))
    np.testing.assert_array_equal(plain.model.coef_, uniform.model.coef_)
    np.testing.assert_array_equal(uniform.model.intercept_, plain.model.set_prior("uniform").intercept_)
    assert uniform.record["settings"]["prior"] == "uniform"
    assert "prior" not in plain.record["settings"]


def test_an_evaluation_with_another_prior_stands_beside_the_plain_one(data, tmp_path):
    run = trained(data, tmp_path / "run")
    found = [
        mc.runs.evaluate(run.path, data, prior=prior) for prior in (None, "uniform", {"ant": 1, "bee": 1, "cat": 1})
    ]
    assert [one.path.name for one in found] == ["x-test.json", "x-test-uniform.json", "x-test-prior.json"]
    assert [read_record(one.path, "evaluation")["prior"] for one in found] == [None, "uniform", "given"]
    assert found[1].record["per_class"] == found[2].record["per_class"]
    with np.load(data) as rows:
        test = rows["split"] == "test"
        right = run.model.set_prior("uniform").predict(rows["X"][test]) == rows["y"][test]
    assert found[1].record["top_1"] == pytest.approx(right.mean())


def test_training_is_the_prior_that_a_run_with_another_had(data, tmp_path):
    plain, uniform = trained(data, tmp_path / "a"), trained(data, tmp_path / "b", prior="uniform")
    judged = [mc.runs.evaluate(run.path, data, prior="training").record["per_class"] for run in (plain, uniform)]
    assert judged[0] == judged[1]


def test_groups_of_classes_are_told_by_the_rows_that_were_learned_from(data, tmp_path):
    record = mc.runs.evaluate(trained(data, tmp_path / "run").path, data).record
    assert [(one["name"], one["smallest"], one["largest"]) for one in record["by_size"]] == [
        ("many", 40, 40),
        ("medium", 16, 16),
        ("few", 4, 4),
    ]
    accuracies = {one["class"]: one["accuracy"] for one in record["per_class"]}
    assert [one["accuracy"] for one in record["by_size"]] == [accuracies[name] for name in NAMES]


def test_sizes_are_those_of_the_model_or_else_of_its_run(data, tmp_path):
    run = trained(data, tmp_path / "run")
    sizes = {"ant": 40, "bee": 16, "cat": 4}
    assert class_sizes(run.model, None) == sizes
    del run.model.class_counts_
    assert class_sizes(run.model, run.record) == sizes
    assert class_sizes(run.model, None) is None


def test_a_file_has_shares_by_class_with_or_without_a_heading(tmp_path):
    for text in ("class,share\nant,1\nbee,2.5\n", "ant,1\n\nbee,2.5\n"):
        (tmp_path / "shares.csv").write_text(text)
        assert read_prior(tmp_path / "shares.csv") == {"ant": 1.0, "bee": 2.5}


def test_classes_that_are_numbers_are_named_by_their_text(data, tmp_path):
    with np.load(data) as rows:
        clf = mc.SquareLossClassifier(0.1).fit(rows["X"], np.searchsorted(NAMES, rows["y"]))
    clf.save(tmp_path / "model")
    (tmp_path / "shares.csv").write_text("0,1\n1,1\n2,1\n")
    np.savez(tmp_path / "y.npz", X=np.zeros((3, 8), np.float32), y=np.arange(3))
    assert mc.runs.evaluate(tmp_path / "model", tmp_path / "y.npz", prior=tmp_path / "shares.csv").record["rows"] == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ant,1\nbee\n", "a class and a number on every line; got 'bee' on line 2"),
        ("ant,1\nant,2\n", "every class once; got 'ant' again on line 2"),
    ],
)
def test_a_file_of_other_things_is_refused(tmp_path, text, words):
    (tmp_path / "shares.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        read_prior(tmp_path / "shares.csv")


def test_a_word_that_is_no_prior_and_no_file_is_refused_before_training(data, tmp_path):
    with pytest.raises(SettingsError, match="must be uniform, training, or a CSV file"):
        trained(data, tmp_path / "run", prior="even")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"objective": "ovr", "early_stopping": False}, "leave out `early_stopping=False`"),
        ({"objective": "trace", "loss": "squared", "max_epochs": None}, "use `loss='softmax'`"),
        ({"objective": "ovr", "classes": "1/2"}, "does not go with `classes`"),
    ],
)
def test_what_has_no_probabilities_is_refused_before_training(data, tmp_path, settings, words):
    given = {name: value for name, value in {"max_epochs": 5, **settings}.items() if value is not None}
    with pytest.raises(SettingsError, match=words):
        mc.runs.train(data, tmp_path / "run", prior="uniform", **given)


def test_a_record_of_a_prior_is_plain_json(data, tmp_path):
    found = mc.runs.evaluate(trained(data, tmp_path / "run").path, data, prior="uniform")
    assert json.loads(found.path.read_text())["prior"] == "uniform"


def test_what_is_said_of_a_model_names_its_prior(data, tmp_path):
    model = trained(data, tmp_path / "run", prior="uniform").record["model"]
    assert model["prior"] == "uniform"
    assert "prior uniform" in dict(model_rows(model))["settings"]

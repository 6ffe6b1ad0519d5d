import json

import pytest

import manyclass as mc
from tests.cli.runs import store

QUICK = ("--max-epochs", 4, "--step", 0.05, "--beta", 3, "--quiet")


@pytest.fixture
def data(tmp_path):
    return store(tmp_path / "x.store")


def test_predict_has_probabilities_afterwards(run, data, tmp_path):
    assert run("train", data, "-o", tmp_path / "run", *QUICK).code == 0
    outcome = run("calibrate", tmp_path / "run", data)
    assert outcome.code == 0, outcome.err
    assert "temperature" in outcome.out
    assert "says of itself" in outcome.out
    told = [json.loads(line) for line in run("predict", tmp_path / "run", data, "--json").out.splitlines()]
    assert all(0 <= sum(one["probabilities"]) <= 1 + 1e-6 for one in told)
    assert all(one["unsure"] == (one["probabilities"][0] < 0.5) for one in told)


def test_of_a_run_that_was_evaluated_it_is_said_that_it_must_be_again(run, data, tmp_path):
    run("train", data, "-o", tmp_path / "run", *QUICK)
    run("evaluate", tmp_path / "run", data, "--quiet")
    assert "evaluations are removed" in " ".join(run("calibrate", tmp_path / "run", data).out.split())
    assert not list((tmp_path / "run" / "evaluations").glob("*.json"))
    run("evaluate", tmp_path / "run", data, "--quiet")
    assert "evaluations are removed" not in run("calibrate", tmp_path / "run", data).out  # the same model


def test_its_result_as_json(run, data, tmp_path):
    run("train", data, "-o", tmp_path / "run", *QUICK)
    found = json.loads(run("calibrate", tmp_path / "run", data, "--json").out)
    assert set(found) == {"path", "temperature", "rows", "accuracy", "confidence", "log_loss"}
    assert found["temperature"] > 0


def test_what_is_no_run_is_one_sentence(run, data, tmp_path):
    outcome = run("calibrate", tmp_path / "none", data)
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert "no run or model at" in outcome.err


def test_rows_that_were_learned_are_kept_as_classes(run, data, tmp_path):
    assert run("train", data, "-o", tmp_path / "run", *QUICK).code == 0
    outcome = run("calibrate", tmp_path / "run", data, "--known", data)
    assert outcome.code == 0, outcome.err
    assert mc.load(tmp_path / "run").known_classes_["means"].shape == (6, 8)
    assert "p_value" in run("predict", tmp_path / "run", data, "--unknown", 0.1, "--json").out

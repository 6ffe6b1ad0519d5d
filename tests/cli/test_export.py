import json

import numpy as np
import pytest

import manyclass as mc
from tests.cli.runs import rows, store

QUICK = ("--max-epochs", 4, "--step", 0.05, "--beta", 3, "--quiet")


@pytest.fixture
def trained(run, tmp_path):
    assert run("train", store(tmp_path / "x.store"), "-o", tmp_path / "run", *QUICK).code == 0
    return tmp_path / "run"


def test_the_file_predicts_what_the_run_does(run, trained, tmp_path):
    import onnxruntime

    outcome = run("export", trained, "-o", tmp_path / "c.onnx", "--top", 2)
    assert outcome.code == 0, outcome.err
    assert "label, top_labels, scores" in outcome.out
    X = rows()[0]
    session = onnxruntime.InferenceSession(tmp_path / "c.onnx")
    labels, top = session.run(["label", "top_labels"], {"X": X.astype(np.float32)})
    np.testing.assert_array_equal(labels, mc.load(trained).predict(X))
    assert top.shape == (len(X), 2)


def test_its_result_as_json(run, trained, tmp_path):
    found = json.loads(run("export", trained, "-o", tmp_path / "c.onnx", "--json").out)
    assert found["bytes"] == (tmp_path / "c.onnx").stat().st_size
    assert (found["columns"], found["classes"]) == mc.load(trained).coef_.shape[::-1]


def test_what_is_no_classifier_is_one_sentence(run, tmp_path):
    mc.WhitenedPCA(2).fit(np.random.default_rng(0).normal(size=(20, 4))).save(tmp_path / "e.safetensors")
    outcome = run("export", tmp_path / "e.safetensors", "-o", tmp_path / "c.onnx")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert not (tmp_path / "c.onnx").exists()

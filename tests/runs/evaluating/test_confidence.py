"""Calibration and sets on record are those of the library, also some rows at a time."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.dense import DenseMatrix
from manyclass.datasets.dataset import Dataset
from manyclass.runs.evaluating import confidence
from manyclass.runs.evaluating.confidence import confidence_record
from tests.estimators.problems import blobs

X, Y = blobs(k=5, per_class=40, spread=1.8)


@pytest.fixture(scope="module")
def model():
    return mc.SquareLossClassifier().fit(X, Y)


def examples():
    return Dataset(DenseMatrix(X), y=Y)


def test_the_numbers_are_those_of_the_library(model):
    record = confidence_record(model, examples(), Y)
    P = model.predict_proba(X)
    right = model.predict(X) == Y
    assert record["calibration"]["accuracy"] == right.mean()
    assert record["calibration"]["probability"] == pytest.approx(P.max(axis=1).mean())
    error = mc.evaluation.expected_calibration_error(right, P.max(axis=1))
    assert record["calibration"]["error"]["value"] == pytest.approx(error.value)
    assert sum(one["rows"] for one in record["calibration"]["bins"]) == len(Y)
    for one in record["sets"]:
        twin = mc.evaluation.set_coverage(Y, model.predict_set(X, one["promised"]))
        assert (one["coverage"], one["size"]) == (twin.coverage, twin.size)


def test_they_are_the_same_however_few_scores_are_held(model, monkeypatch):
    whole = confidence_record(model, examples(), Y)
    monkeypatch.setattr(confidence, "_AT_ONCE", 7 * 5)
    parts = confidence_record(model, examples(), Y)
    assert parts["sets"] == whole["sets"]
    assert parts["calibration"]["probability"] == pytest.approx(whole["calibration"]["probability"])


def test_of_very_many_scores_some_rows_are_looked_at(model, monkeypatch):
    monkeypatch.setattr(confidence, "_SCORES", 0)
    monkeypatch.setattr(confidence, "_LEAST", 30)
    assert confidence_record(model, examples(), Y)["calibration"]["rows"] == 30


def test_a_classifier_without_probabilities_or_held_out_rows_has_no_numbers_of_them():
    scores = mc.StochasticClassifier("ovr", early_stopping=False, max_epochs=2, random_state=0).fit(X, Y)
    assert confidence_record(scores, examples(), Y) == {"calibration": None, "sets": None}
    softmax = confidence_record(mc.LinearClassifier().fit(X, Y), examples(), Y)
    assert softmax["sets"] is None
    assert softmax["calibration"]["rows"] == len(Y)


def test_labels_that_are_text_are_found_in_sets():
    names = np.array(["ant", "bee", "cat", "dog", "owl"])[Y]
    record = confidence_record(mc.SquareLossClassifier().fit(X, names), examples(), names)
    assert record["sets"][1]["coverage"] > 0.9

"""ONNX files: a runtime that knows nothing of us gives the same labels."""

import sys

import numpy as np
import pytest

import manyclass as mc

onnxruntime = pytest.importorskip("onnxruntime")

K, D = 8, 6
X = np.random.default_rng(1).normal(size=(1000, D)).astype(np.float32)


def fitted(labels, **settings):
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(len(labels)), 15)
    rows = rng.normal(size=(len(labels), D))[codes] + 0.4 * rng.normal(size=(len(codes), D))
    return mc.StochasticClassifier(random_state=0, max_epochs=3, **settings).fit(rows, np.asarray(labels)[codes])


def run(path, rows=X):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


LABELS = {
    "strings": [f"é{i}" for i in range(K)],
    "objects": np.array(list("abcdefgh"), object),
    "integers": np.arange(K, dtype=np.int16) * 7 - 20,
    "floats": np.arange(K) * 1.0,
    "bools": [False, True],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_are_those_of_predict_on_a_thousand_rows(tmp_path, labels):
    clf = fitted(labels)
    clf.to_onnx(tmp_path / "m.onnx")
    outputs = run(tmp_path / "m.onnx")
    assert set(outputs) == {"label", "top_labels", "scores", "probabilities"}
    np.testing.assert_allclose(outputs["probabilities"], clf.predict_proba(X), atol=1e-5)
    assert outputs["label"].tolist() == clf.predict(X).tolist()
    assert outputs["top_labels"].tolist() == clf.predict_top(X, 5).tolist()


@pytest.mark.parametrize("settings", [{"objective": "softmax"}, {"objective": "ovr"}, {"loss": "logistic"}], ids=str)
def test_a_prior_goes_into_the_graph(tmp_path, settings):
    clf = fitted(np.arange(K), **settings)
    before = clf.predict(X)
    clf.set_prior(np.geomspace(1, 1000, K))
    clf.to_onnx(tmp_path / "m.onnx")
    outputs = run(tmp_path / "m.onnx")
    assert outputs["label"].tolist() == clf.predict(X).tolist() != before.tolist()
    np.testing.assert_allclose(outputs["probabilities"], clf.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("top", [1, 3, K, 100])
def test_as_many_labels_are_given_as_were_asked_for(tmp_path, top):
    clf = fitted(np.arange(K))
    clf.to_onnx(tmp_path / "m.onnx", top=top)
    assert run(tmp_path / "m.onnx")["top_labels"].tolist() == clf.predict_top(X, top).tolist()


@pytest.mark.parametrize("settings", [{"objective": "softmax"}, {"loss": "logistic"}, {}], ids=str)
def test_probabilities_are_those_of_predict_proba(tmp_path, settings):
    clf = fitted(np.arange(K), **settings)
    if not settings:
        clf.calibrate(X[:50], np.arange(50) % K)
    clf.to_onnx(tmp_path / "m.onnx")
    rows = np.concatenate([X, 1000 * X])
    with pytest.warns(UserWarning, match="scale the rows of both in the same way"):
        probabilities = clf.predict_proba(rows)
    np.testing.assert_allclose(run(tmp_path / "m.onnx", rows)["probabilities"], probabilities, atol=1e-5)


def test_of_equal_scores_the_first_class_is_taken(tmp_path):
    clf = fitted(np.arange(K))
    clf.coef_, clf.intercept_ = np.zeros_like(clf.coef_), np.zeros_like(clf.intercept_)
    clf.to_onnx(tmp_path / "m.onnx")
    outputs = run(tmp_path / "m.onnx", X[:3])
    assert outputs["label"].tolist() == [0, 0, 0]
    assert outputs["top_labels"].tolist() == [[0, 1, 2, 3, 4]] * 3


def test_labels_that_onnx_cannot_hold_are_refused(tmp_path):
    clf = fitted(np.array([1, 2**63], np.uint64))
    with pytest.raises(ValueError, match="classes must be text, int64, bools or floats for onnx; got dtype uint64"):
        clf.to_onnx(tmp_path / "m.onnx")


def test_weights_that_are_too_large_for_a_file_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass.estimators.onnx_export._MOST", 100)
    with pytest.raises(ValueError, match="an onnx file holds at most 2 GB"):
        fitted(np.arange(K)).to_onnx(tmp_path / "m.onnx")


def test_without_the_package_one_sentence_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "manyclass\[onnx\]"$'):
        fitted(np.arange(K)).to_onnx(tmp_path / "m.onnx")

"""Models in files: saved, loaded, and refused."""

import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import manyclass as mc
from manyclass._core import models
from manyclass._core.errors import StorageError
from manyclass._core.models import model_digest
from manyclass.estimators.linear_model import LinearModel

K, D = 6, 5


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(K), 12)
    X = (rng.normal(size=(K, D))[codes] + 0.5 * rng.normal(size=(len(codes), D))).astype(np.float32)
    return X, codes


def fitted(data, labels=None, **settings):
    X, codes = data
    y = codes if labels is None else np.asarray(labels)[codes]
    return mc.StochasticClassifier(**{"random_state": 0, "max_epochs": 3, **settings}).fit(X, y)


@pytest.fixture(scope="module")
def saved_once(data, tmp_path_factory):
    """The file of a model, of which tests take copies."""
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    fitted(data, list("abcdef")).save(path)
    return path


@pytest.fixture
def model_file(saved_once, tmp_path):
    return shutil.copy(saved_once, tmp_path / "model.safetensors")


LABELS = {
    "strings": np.array(["a", "bb", "é", "d d", "\U0001f431", ""]),
    "objects": np.array(["a", "bb", "c", "d", "e", "f"], object),
    "int8": np.array([-3, -1, 0, 5, 7, 100], np.int8),
    "uint64": np.array([0, 1, 2, 3, 2**63, 2**64 - 1], np.uint64),
    "big-endian": np.array([1, 2, 3, 4, 5, 600], ">i4"),
    "floats": np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_come_back_with_their_dtype(data, tmp_path, labels):
    clf = fitted(data, labels)
    clf.save(tmp_path / "m")
    found = mc.load(tmp_path / "m")
    assert found.classes_.dtype == clf.classes_.dtype
    assert found.classes_.tolist() == clf.classes_.tolist()
    assert found.predict(data[0]).tolist() == clf.predict(data[0]).tolist()


def test_a_digest_tells_models_apart_and_survives_a_file(data, tmp_path, monkeypatch):
    clf = fitted(data)
    monkeypatch.setattr(mc, "__version__", "0.0.1")
    clf.save(tmp_path / "m")
    monkeypatch.undo()
    assert (
        model_digest(mc.load(tmp_path / "m")) == model_digest(clf) == model_digest(fitted(data, callbacks=[[].append]))
    )
    others = [fitted(data, patience=9), fitted(data, random_state=1), fitted(data, [*"abcdef"])]
    assert len({model_digest(one) for one in (clf, *others)}) == 4
    assert model_digest(others[0], ["patience"]) == model_digest(clf, ["patience"])


@pytest.mark.parametrize(
    "settings",
    [{"objective": "softmax"}, {"loss": "logistic", "beta": None}, {"class_weight": {0: 2.0, 3: 0.5}, "step": 0.1}],
    ids=str,
)
def test_everything_that_was_learned_and_set_comes_back(data, tmp_path, settings):
    clf = fitted(data, **settings)
    clf.save(tmp_path / "m")
    found = mc.load(tmp_path / "m")
    assert found.get_params() == clf.get_params()
    assert (found.history_, found.step_, found.beta_, found.n_epochs_) == (
        timeless(clf.history_), clf.step_, clf.beta_, clf.n_epochs_,
    )  # fmt: skip
    assert found.decision_function(data[0]).tobytes() == clf.decision_function(data[0]).tobytes()


def timeless(history):
    """A history without what a clock said."""
    clocks = ("seconds", "judging_seconds")
    return [{key: value for key, value in record.items() if key not in clocks} for record in history]


def test_probabilities_of_a_calibrated_model_come_back_to_the_bit(data, tmp_path):
    clf = fitted(data).calibrate(*data)
    clf.save(tmp_path / "m")
    assert mc.load(tmp_path / "m").predict_proba(data[0]).tobytes() == clf.predict_proba(data[0]).tobytes()


def test_a_model_can_go_on_learning_after_it_was_loaded(data, tmp_path):
    fitted(data).save(tmp_path / "m")
    found = mc.load(tmp_path / "m").partial_fit(*data)
    new = found.add_classes(-data[0], np.where(data[1] == 0, 77, data[1]))
    assert 77 in new.classes_


@pytest.mark.parametrize("method", ["partial_fit", "add_classes"])
def test_a_loaded_model_knows_by_what_it_was_trained(data, tmp_path, method):
    fitted(data, loss="logistic").save(tmp_path / "m")
    found = mc.load(tmp_path / "m").set_params(loss="hinge")
    with pytest.raises(ValueError, match=f"loss must stay 'logistic' for {method}"):
        getattr(found, method)(*data)


def test_what_belongs_to_a_run_has_its_default_after_loading(data, tmp_path):
    clf = fitted(data, callbacks=[print], checkpoint=tmp_path / "c", random_state=np.random.RandomState(0))
    clf.save(tmp_path / "m")
    found = mc.load(tmp_path / "m")
    assert (found.callbacks, found.checkpoint, found.random_state) == ((), None, None)


def test_a_model_does_not_replace_what_is_no_file(data, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    model = fitted(data)
    for write in (model.save, model.to_onnx):
        with pytest.raises(StorageError, match="pipe is a pipe"):
            write(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_a_model_without_fit_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        mc.StochasticClassifier().save(tmp_path / "m")
    assert not os.listdir(tmp_path)


def test_an_estimator_that_is_not_on_the_list_is_refused(data, tmp_path):
    class Mine(mc.StochasticClassifier):
        pass

    with pytest.raises(TypeError, match=r"a model must be one of .*StochasticClassifier.* to be saved; got Mine"):
        Mine(random_state=0, max_epochs=1).fit(*data).save(tmp_path / "m")


class Factored(LinearModel):
    """Stands for estimators to come: it keeps factors and a parameter of its own."""

    def __init__(self, rank=2):
        self.rank = rank

    def fit(self, X, y):
        rng = np.random.default_rng(0)
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        U, s, V = rng.normal(size=(K, self.rank)), np.ones(self.rank), rng.normal(size=(self.rank, D))
        self.factors_ = (U, s, V)
        self.coef_, self.intercept_ = (U @ V).astype(np.float32), np.zeros(K, np.float32)
        self._scratch = object()
        return self


def test_any_linear_classifier_of_plain_attributes_is_saved_once_it_is_on_the_list(data, tmp_path, monkeypatch):
    monkeypatch.setattr(models, "_SAVABLE", (*models._SAVABLE, "Factored"))
    monkeypatch.setattr(models, "find_public", {"Factored": Factored}.__getitem__)
    clf = Factored(rank=3).fit(*data)
    clf.save(tmp_path / "m")
    found = mc.load(tmp_path / "m")
    assert found.rank == 3
    assert [F.tobytes() for F in found.factors_] == [F.tobytes() for F in clf.factors_]
    assert not hasattr(found, "_scratch")


def test_three_hundred_flipped_bits_are_all_found(model_file):
    whole = model_file.read_bytes()
    for bit in np.random.default_rng(0).integers(8 * len(whole), size=300).tolist():
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        model_file.write_bytes(broken)
        with pytest.raises(ValueError, match=r"model\.safetensors is (damaged|not a manyclass model)"):
            mc.load(model_file)


def test_three_hundred_truncations_are_all_found(model_file):
    whole = model_file.read_bytes()
    for length in np.random.default_rng(1).integers(len(whole), size=300).tolist():
        model_file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=r"model\.safetensors is (damaged|not a manyclass model)"):
            mc.load(model_file)


def change(path, **changes):
    """Write the file again with other content, sealed as it should be."""
    content, arrays = models.FORMAT.read(path)
    models.FORMAT.write(path, {**content, **changes}, arrays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"estimator": "os.system"}, r"its estimator must be one of .*StochasticClassifier.*; got 'os.system'"),
        ({"parameters": {"colour": 3}}, "colour"),
        ({"parameters": 3}, "cannot be read"),
        ({"fitted": {"predict": 3}}, "unknown fitted attribute 'predict'"),
        ({"fitted": {"__class__": 3}}, "unknown fitted attribute '__class__'"),
        ({"fitted": {}}, "classes_"),
        ({"fitted": {"classes_": [1, 2], "n_features_in_": 3, "coef_": 1, "intercept_": 2}}, r"shape \(2, 3\)"),
        ({"fitted": {"coef_": {"strange": 1}}}, "strange"),
        ({"fitted": {"coef_": {"array": ["<f4", [1], [0.5]]}}}, "dtype <f4 cannot be stored as a list"),
        ({"fitted": {"coef_": {"tensor": ["missing", "<f4"]}}}, "missing"),
    ],
)
def test_a_sealed_file_that_makes_no_sense_is_one_sentence_with_its_path(model_file, changes, message):
    change(model_file, **changes)
    with pytest.raises(ValueError, match=message) as caught:
        mc.load(model_file)
    assert str(caught.value).startswith(f"{model_file} cannot be read as a manyclass model: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("row_lengths_", 5, "row_lengths_ must be two numbers; got int"),
        ("row_lengths_", ["a", 2.0], "row_lengths_ must be two numbers"),
        ("row_lengths_", [1.0, 2.0, 3.0], "row_lengths_ must be two numbers"),
        ("classes_", [0, 1, 2, 3, 4, 5], "classes_ must be an array of labels"),
        ("coef_", [[0.5] * D] * K, "coef_ must be an array of numbers; got list"),
        ("n_features_in_", float(D), "n_features_in_ must be a count; got float"),
        ("history_", [3], "history_ must be a list of records"),
        ("step_", "a", "step_ must be a number or None; got str"),
    ],
)
def test_a_sealed_file_whose_attributes_are_of_another_kind_is_refused(model_file, name, value, rule):
    fitted, _ = models.FORMAT.read(model_file)
    change(model_file, fitted={**fitted["fitted"], name: value})
    with pytest.raises(ValueError, match=rule) as raised:
        mc.load(model_file)
    assert "model.safetensors cannot be read" in str(raised.value)


@pytest.mark.parametrize("sampling", ["uniform", "balanced"])
def test_a_file_from_before_sampling_was_called_so_still_loads(data, tmp_path, sampling):
    clf = fitted(data, sampling=sampling)
    clf.save(tmp_path / "m")
    content, _ = models.FORMAT.read(tmp_path / "m")
    parameters = content["parameters"]
    change(tmp_path / "m", parameters={**parameters, "balanced": parameters.pop("sampling") == "balanced"})
    assert mc.load(tmp_path / "m").get_params() == clf.get_params()


def test_a_file_from_before_missing_label_was_called_so_still_loads(tmp_path):
    clf = mc.MultiTaskTraceNorm(missing_label=-9).fit(np.eye(4), np.array([[0, 1], [1, 0], [0, -9], [1, 1]]))
    clf.save(tmp_path / "m")
    content, _ = models.FORMAT.read(tmp_path / "m")
    parameters = content["parameters"]
    change(tmp_path / "m", parameters={**parameters, "unknown": parameters.pop("missing_label")})
    assert mc.load(tmp_path / "m").get_params() == clf.get_params()


def test_a_model_of_a_later_version_asks_for_a_newer_manyclass(model_file, monkeypatch):
    monkeypatch.setattr(models, "FORMAT", models.SealedFormat("manyclass model", 0, ""))
    with pytest.raises(ValueError, match="of version 1, and this manyclass reads versions up to 0; install a newer"):
        mc.load(model_file)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        mc.load(tmp_path / "nowhere")


def test_a_model_is_loaded_and_predicts_without_faiss_and_the_like(model_file, data):
    np.save(model_file.with_name("X.npy"), data[0])
    code = f"""
import sys
from contextlib import contextmanager
from pathlib import Path
sys.modules.update(dict.fromkeys(("faiss", "pyarrow", "matplotlib", "onnx", "onnxruntime")))
import numpy as np, manyclass as mc
print(*mc.load({str(model_file)!r}).predict(np.load({str(model_file.with_name("X.npy"))!r})))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == mc.load(model_file).predict(data[0]).tolist()


FITS = {
    "stochastic": lambda X, y: mc.StochasticClassifier(max_epochs=3, random_state=0).fit(X, y),
    "linear": lambda X, y: mc.LinearClassifier(penalty=mc.TraceNorm(0.01), tolerance=0.1).fit(X, y),
    "trace": lambda X, y: mc.TraceNormClassifier(tolerance=0.1).fit(X, y),
    "path": lambda X, y: mc.TraceNormPath(traces=2, ridges=2, tolerance=0.1, random_state=0).fit(X, y).best_,
    "shared": lambda X, y: mc.SharedStructureClassifier(tolerance=0.1).fit(X, y),
    "tasks": lambda X, y: mc.MultiTaskTraceNorm(tolerance=0.1).fit(X, np.sign(y[:, None] - np.array([0.5, 2.5]))),
    "lda": lambda X, y: mc.ExemplarLDA().fit(X),
    "square loss": lambda X, y: mc.SquareLossExemplar().fit(X),
    "kernel": lambda X, y: mc.KernelSquareLossExemplar().fit(X),
    "svm": lambda X, y: mc.ExemplarSVM(n_steps=50, random_state=0).fit(X),
    "pca": lambda X, y: mc.WhitenedPCA(2).fit(X),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_the_same_fit_gives_the_same_file_whatever_the_clock_says(data, tmp_path, fit):
    for name in "ab":
        fit(*data).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert b"seconds_" not in (tmp_path / "a").read_bytes().replace(b"max_seconds", b"")


def test_the_times_of_a_fit_are_there_until_it_is_saved(data, tmp_path):
    model = fitted(data)
    model.save(tmp_path / "m")
    assert all("seconds" in record for record in model.history_)
    assert mc.load(tmp_path / "m").history_ == timeless(model.history_) != model.history_


@pytest.mark.parametrize(
    "value",
    [
        {"array": ["<U1000000", [2500], ["a"] * 2500]},
        {"array": ["<U999999999", [1], ["a"]]},
        {"array": [[["a", "<U9"]], [1], ["a"]]},
        {"array": ["<U1", [2**62, 2**62], ["a"]]},
        {"array": ["<U1", [-1, 2**63], ["a"]]},
        {"scalar": ["|V1000000000", 1000000000]},
        {"scalar": ["<M8[s]", 3]},
        {"scalar": ["<i4", 2**40]},
        {"scalar": ["<f4", [1]]},
        {"tensor": ["coef_", "<U1000"]},
        {"tensor": ["coef_", "<f8"]},
        [{"tensor": ["coef_", ">f4"]}, {"tensor": ["coef_", ">f4"]}],
    ],
)
def test_a_sealed_file_cannot_ask_for_more_memory_than_it_has_bytes(model_file, value):
    content, arrays = models.FORMAT.read(model_file)
    content["fitted"]["extra_"] = value
    models.FORMAT.write(model_file, content, arrays)
    with pytest.raises(ValueError, match=r"cannot be read as a manyclass model: ") as caught, little_memory():
        mc.load(model_file)
    assert "\n" not in str(caught.value)


@contextmanager
def little_memory(n_bytes=1 << 30):
    """No more than a gigabyte of addresses beyond those that are taken."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_long_names_of_classes_are_kept(data, tmp_path):
    names = ["a" * 20_000, *"bcdef"]
    fitted(data, names).save(tmp_path / "m")
    assert mc.load(tmp_path / "m").classes_.tolist() == names

import os

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.models import FORMAT
from manyclass.estimators.heads import packed_weights, quantized_head
from tests.estimators.heads.weights import all_scores, best, grouped
from tests.estimators.problems import blobs

BITS = (4, 8, 12, 16)


@pytest.fixture(scope="module")
def problem():
    X, y = blobs(k=12, per_class=30, d=64, spread=0.8)
    return X, np.array([f"class {label:02d}" for label in y])


@pytest.fixture(scope="module")
def trained(problem):
    return mc.StochasticClassifier(max_epochs=5, random_state=0).fit(*problem)


@pytest.mark.parametrize("bits", BITS)
def test_a_head_of_a_classifier_predicts_as_it_does(trained, problem, bits):
    X, y = problem
    head = trained.compress(bits)
    assert head.score(X, y) >= trained.score(X, y) - (0.02 if bits == 4 else 0.005)
    assert np.mean(head.predict(X) == trained.predict(X)) > (0.95 if bits == 4 else 0.99)
    assert head.classes_.tolist() == trained.classes_.tolist()


def test_probabilities_of_sixteen_bits_are_those_of_the_classifier(trained, problem):
    X, _ = problem
    head = trained.compress(16)
    np.testing.assert_allclose(head.predict_proba(X), trained.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(head.decision_function(X), trained.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(head.coef_, trained.coef_, atol=1e-4 * np.abs(trained.coef_).max())


def test_a_logistic_link_is_kept(problem):
    X, y = problem
    clf = mc.LinearClassifier(loss="logistic", penalty=mc.Ridge(1e-2)).fit(X, y)
    np.testing.assert_allclose(clf.compress(16).predict_proba(X), clf.predict_proba(X), atol=1e-3)


def test_a_head_without_probabilities_has_none_until_it_is_calibrated():
    W, b, X = grouped(20, 64)
    head = mc.QuantizedHead.from_arrays(W, b)
    assert not hasattr(head, "predict_proba")
    head.calibrate(X, head.predict(X))
    np.testing.assert_allclose(head.predict_proba(X).sum(axis=1), 1, rtol=1e-5)


def test_a_temperature_divides_the_scores():
    W, b, X = grouped(20, 64)
    S = mc.QuantizedHead.from_arrays(W, b, bits=16).decision_function(X) / 7
    P = np.exp(S - S.max(axis=1, keepdims=True))
    head = mc.QuantizedHead.from_arrays(W, b, bits=16, temperature=7)
    np.testing.assert_allclose(head.predict_proba(X), P / P.sum(axis=1, keepdims=True), rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("labels", ["numbers", "names"])
def test_a_saved_head_comes_back_to_the_bit(tmp_path, bits, labels):
    W, b, X = grouped(500, 96)
    classes = None if labels == "numbers" else [f"species é {i}" for i in range(500)]
    head = mc.QuantizedHead.from_arrays(W, b, classes, bits=bits, temperature=0.5, rows=X)
    head.save(tmp_path / "head")
    again = mc.load(tmp_path / "head")
    np.testing.assert_array_equal(again.predict_top(X), head.predict_top(X))
    np.testing.assert_array_equal(again.predict_proba(X), head.predict_proba(X))
    np.testing.assert_array_equal(again.classes_, head.classes_)
    assert again.classes_.dtype == head.classes_.dtype


@pytest.mark.parametrize("bits", BITS)
def test_a_head_made_in_a_file_has_the_bytes_of_one_that_is_saved(tmp_path, bits):
    W, b, X = grouped(3000, 50)
    names = [f"c{i}" for i in range(3000)]
    mc.QuantizedHead.from_arrays(W, b, names, bits=bits, rows=X).save(tmp_path / "saved")
    made = mc.QuantizedHead.from_arrays(W, b, names, bits=bits, rows=X, path=tmp_path / "made")
    assert (tmp_path / "made").read_bytes() == (tmp_path / "saved").read_bytes()
    assert made.predict(X).shape == (len(X),)
    assert sorted(os.listdir(tmp_path)) == ["made", "saved"]


def test_large_arrays_of_a_file_are_mapped_and_not_read(tmp_path):
    W, b, _X = grouped(3000, 50)
    head = mc.QuantizedHead.from_arrays(W, b, bits=16, path=tmp_path / "head")
    for array in (head.weights_, head.low_):
        assert isinstance(array.base, np.memmap)
        assert not array.flags.writeable
    assert not isinstance(head.codes_.base, np.memmap)


def test_what_fails_while_a_file_is_made_leaves_the_old_one(tmp_path):
    W, b, _ = grouped(3000, 50)
    path = tmp_path / "head"
    mc.QuantizedHead.from_arrays(W, b, path=path)
    before = path.read_bytes()
    W[2999, 7] = np.inf
    with pytest.raises(ValueError, match="coef must hold finite numbers"):
        mc.QuantizedHead.from_arrays(W, b, path=path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["head"]


def test_weights_of_a_file_are_read_a_block_at_a_time(tmp_path):
    W, b, X = grouped(5000, 40)
    np.save(tmp_path / "W.npy", W.astype(np.float16))
    head = mc.QuantizedHead.from_arrays(tmp_path / "W.npy", b)
    plain = mc.QuantizedHead.from_arrays(W.astype(np.float16).astype(np.float32), b)
    np.testing.assert_array_equal(head.predict_top(X), plain.predict_top(X))


def test_eight_bits_nearly_always_find_the_best_of_the_weights_themselves():
    W, b, X = grouped(4000, 384, n=200)
    exact = best(all_scores(W, b, X), 5)
    for bits, least in ((8, 0.985), (16, 0.999)):
        found = mc.QuantizedHead.from_arrays(W, b, bits=bits).predict_top(X, 5)
        assert np.mean([len({*mine} & {*theirs}) / 5 for mine, theirs in zip(found, exact, strict=True)]) >= least


def test_the_best_come_with_their_scores():
    W, b, X = grouped(300, 64)
    head = mc.QuantizedHead.from_arrays(W, b, bits=16)
    labels, scores = head.top_scores(X, 3)
    np.testing.assert_array_equal(labels, head.predict_top(X, 3))
    np.testing.assert_allclose(scores, -np.sort(-all_scores(W, b, X), axis=1)[:, :3], rtol=1e-3, atol=1e-2)


def test_sizes_are_as_told(tmp_path):
    W, b, _ = grouped(2560, 96)
    sizes = {bits: mc.QuantizedHead.from_arrays(W, b, bits=bits).nbytes for bits in BITS}
    weights = W.nbytes / 4
    for bits, size in sizes.items():
        assert weights * (bits / 8 + 1 / 6) <= size <= weights * (bits / 8 + 1 / 6) + 2560 * 40 + 96 * 12 + 4


def test_codes_are_packed_alike_whatever_the_threads(tmp_path):
    W, b, _ = grouped(9000, 30)
    for n in (1, 3):
        with mc.threads(n):
            mc.QuantizedHead.from_arrays(W, b, path=tmp_path / str(n))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()


def test_no_rows_have_no_classes():
    W, b, X = grouped(30, 16)
    head = mc.QuantizedHead.from_arrays(W, b, ["x" * (i + 1) for i in range(30)])
    rows = mc.as_matrix(X).row_slice(slice(0, 0))
    assert head.predict_top(rows, 2).shape == (0, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bits": 5}, "bits must be 4, 8, 12 or 16; got 5"),
        ({"intercept": np.zeros(3)}, "intercept must have one entry per row of coef"),
        ({"intercept": np.full(30, np.nan)}, "intercept must hold finite numbers"),
        ({"classes": ["a"] * 30}, "classes must differ; 'a' is there more than once"),
        ({"classes": ["a", "b"]}, "classes must have one entry per row of coef"),
        ({"classes": [object()] * 30}, "classes must be numbers or text"),
        ({"temperature": 0}, "temperature must be a finite number above 0"),
        ({"rows": np.zeros((3, 5))}, "rows must have 16 columns"),
    ],
)
def test_wrong_arguments_are_told_in_a_sentence(changes, message):
    W, b, _ = grouped(30, 16)
    with pytest.raises(ValueError, match=message):
        mc.QuantizedHead.from_arrays(W, **{"intercept": b, **changes})


def test_rows_of_another_width_are_refused():
    W, b, X = grouped(30, 16)
    with pytest.raises(ValueError, match="15 features"):
        mc.QuantizedHead.from_arrays(W, b).predict(X[:, :15])


def test_a_head_that_was_not_made_says_how_to_make_one():
    with pytest.raises(ValueError, match="must be made by"):
        mc.QuantizedHead().predict(np.zeros((2, 3)))


def test_two_classes_by_one_row_of_weights_are_refused():
    from sklearn.linear_model import LogisticRegression

    clf = LogisticRegression().fit(np.eye(4), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="must have a row per class"):
        mc.QuantizedHead.from_classifier(clf)


def test_a_classifier_of_scikit_learn_becomes_a_head(problem):
    from sklearn.linear_model import LogisticRegression

    X, y = problem
    clf = LogisticRegression().fit(X, y)
    assert np.mean(mc.QuantizedHead.from_classifier(clf).predict(X) == clf.predict(X)) > 0.99


@pytest.fixture
def parts(tmp_path):
    """(content, arrays) of a file, to be sealed again."""
    W, b, _ = grouped(300, 16)
    mc.QuantizedHead.from_arrays(W, b, [f"n{i}" for i in range(300)]).save(tmp_path / "head")
    return FORMAT.read(tmp_path / "head")


@pytest.mark.parametrize("name", ["codes_", "weights_", "rough_", "intercept_", "columns_", "rounding_", "label_ends_"])
def test_a_sealed_file_of_other_shapes_is_refused(tmp_path, parts, name):
    content, arrays = parts
    FORMAT.write(tmp_path / "other", content, {**arrays, name: arrays[name][:-1].copy()})
    with pytest.raises(ValueError, match="cannot be read as a manyclass model"):
        mc.load(tmp_path / "other")


@pytest.mark.parametrize(
    ("section", "name", "value"),
    [
        ("parameters", "bits", 7),
        ("fitted", "n_features_in_", 17),
        ("fitted", "link_", "exp"),
        ("fitted", "temperature_", -1),
    ],
)
def test_a_sealed_file_of_other_settings_is_refused(tmp_path, parts, section, name, value):
    content, arrays = parts
    content[section][name] = value
    FORMAT.write(tmp_path / "other", content, arrays)
    with pytest.raises(ValueError, match="cannot be read as a manyclass model"):
        mc.load(tmp_path / "other")


def test_flipped_bits_are_found(tmp_path):
    W, b, _ = grouped(300, 16)
    path = tmp_path / "head"
    mc.QuantizedHead.from_arrays(W, b, path=path)
    data = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(data), 30).tolist():
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(ValueError, match=r"damaged|not a manyclass model"):
            mc.load(path)


def test_labels_are_decoded_only_where_they_are_asked_for(monkeypatch):
    W, b, X = grouped(300, 16)
    head = mc.QuantizedHead.from_arrays(W, b, [f"n{i}" for i in range(300)])
    monkeypatch.setattr(quantized_head.LabelTable, "all", lambda table: pytest.fail("all labels were decoded"))
    assert head.predict_top(X, 3).shape == (len(X), 3)


def test_a_head_becomes_an_onnx_graph_of_its_weights(trained, problem, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    head = trained.compress(8)
    head.to_onnx(tmp_path / "head.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "head.onnx", providers=["CPUExecutionProvider"])
    labels, scores = session.run(["label", "scores"], {"X": problem[0]})
    np.testing.assert_array_equal(labels, head.predict(problem[0]))
    np.testing.assert_allclose(scores, head.decision_function(problem[0]), atol=1e-3)


def test_sets_of_a_head_are_those_of_the_classifier(problem):
    X, y = problem
    clf = mc.StochasticClassifier(max_epochs=5, random_state=0).fit(X[:240], y[:240]).calibrate(X[240:], y[240:])
    head = clf.compress(16)
    for mine, theirs in zip(head.predict_set(X, 0.8), clf.predict_set(X, 0.8), strict=True):
        assert set(mine) == set(theirs)
    np.testing.assert_allclose(head.unknown_p_values(X), clf.unknown_p_values(X), atol=0.02)


def test_a_head_of_a_classifier_made_in_a_file_has_the_bytes_of_one_that_is_saved(problem, tmp_path):
    X, y = problem
    clf = mc.StochasticClassifier(max_epochs=5, random_state=0).fit(X[:240], y[:240])
    clf.calibrate(X[240:], y[240:], known=(X[:240], y[:240]))
    clf.compress(8).save(tmp_path / "saved")
    made = clf.compress(8, tmp_path / "made")
    assert (tmp_path / "made").read_bytes() == (tmp_path / "saved").read_bytes()
    assert made.held_out_["weights"].tolist() == clf.held_out_["weights"].tolist()


def test_a_classifier_of_several_labels_is_refused(problem, tmp_path):
    X, y = problem
    clf = mc.SquareLossClassifier().fit(X, [[label, "all"] for label in y])
    with pytest.raises(ValueError, match="one label per row"):
        clf.compress(8, tmp_path / "head")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", ["rough_", "slopes_", "spreads_", "offsets_", "units_", "columns_", "center_"])
def test_a_sealed_file_without_numbers_has_no_classes_to_tell(tmp_path, bits, name):
    W, b, X = grouped(packed_weights.CLASSES, 300)
    mc.QuantizedHead.from_arrays(W, b, bits=bits).save(tmp_path / "head")
    content, arrays = FORMAT.read(tmp_path / "head")
    FORMAT.write(tmp_path / "other", content, {**arrays, name: np.full_like(arrays[name], np.nan)})
    with pytest.raises(ValueError, match="finite"):
        mc.load(tmp_path / "other").predict(X)


def test_too_many_columns_are_refused_before_a_file_is_made(tmp_path):
    with pytest.raises(ValueError, match="fewer than 65,536 columns"):
        mc.QuantizedHead.from_arrays(np.ones((2, 1 << 16), np.float32), path=tmp_path / "head")
    assert list(tmp_path.iterdir()) == []

"""SharedStructureClassifier: what it minimizes, what its kernels share, its characteristics, new classes, files."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import manyclass as mc
from tests.estimators.problems import blobs

TIGHT = {"C": 0.3, "tolerance": 1e-5, "max_iter": 5000}


def made(seed=0, k=12, per_class=6, d=10, rank=3, noise=0.25):
    """(X, y) of classes whose centers lie in few dimensions."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(k), per_class))
    centers = rng.standard_normal((k, rank)) @ rng.standard_normal((rank, d))
    return centers[y] + noise * rng.standard_normal((len(y), d)), y


def objective(W, X, y, C, r=0.01, a=20.0):
    """The formula of the paper, Eq. 14, row by row."""
    s = np.linalg.svd(W, compute_uv=False)
    total = sum(v * v / (2 * r) + r / 2 if v <= r else v for v in s)
    for x, right in zip(X, y, strict=True):
        scores = x @ W
        others = np.delete(1 + scores - scores[right], right)
        total += C * np.logaddexp.reduce([0, *(a * others)]) / a
    return total


@pytest.fixture(scope="module")
def problem():
    return made()


@pytest.fixture(scope="module")
def linear(problem):
    return mc.SharedStructureClassifier(**TIGHT).fit(*problem)


def test_the_objective_is_that_of_the_paper_and_least(linear, problem):
    X, y = problem
    W = linear.coef_.T
    assert linear.objective_ == pytest.approx(objective(W, X, y, 0.3), rel=1e-9)
    assert linear.gap_ <= 1e-5 * linear.objective_
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-2, 1e-1):
        assert objective(W + size * rng.standard_normal(W.shape), X, y, 0.3) > linear.objective_


def test_few_shared_characteristics_are_found_where_there_are_few(linear):
    assert (linear.singular_values_ > linear.smoothing).sum() == 3
    frobenius = mc.SharedStructureClassifier(penalty="frobenius").fit(*made())
    assert (frobenius.singular_values_ > 0.01).sum() > 8


@pytest.mark.parametrize("penalty", ["trace", "frobenius"])
@pytest.mark.parametrize("d", [10, 100])
def test_rows_and_their_gram_matrix_give_the_same_machines(penalty, d):
    (X, y), settings = made(d=d), {**TIGHT, "penalty": penalty}
    Z = made(seed=5, d=d)[0]
    rows = mc.SharedStructureClassifier(**settings).fit(X, y)
    function = mc.SharedStructureClassifier(lambda A, B: A @ B.T, **settings).fit(X, y)
    gram = mc.SharedStructureClassifier("precomputed", **settings).fit(X @ X.T, y)
    assert function.objective_ == pytest.approx(rows.objective_, rel=1e-5)
    for model, given in ((function, Z), (gram, Z @ X.T)):
        np.testing.assert_allclose(model.decision_function(given), rows.decision_function(Z), atol=1e-2)
        np.testing.assert_allclose(model.latent_kernel(given), rows.latent_kernel(Z), atol=1e-2)


def test_the_gradient_of_the_paper_is_zero_at_the_machines_of_a_kernel(problem):
    # Eq. 15: K a V' D^-1 g'(D) V, where D^-1 g'(D) is 1 / max(D, r), beside K times the losses' gradient.
    X, y = problem
    model = mc.SharedStructureClassifier("rbf", gamma=0.1, **TIGHT).fit(X, y)
    K, a = rbf_kernel(X, gamma=0.1), model.dual_coef_
    squares, V = np.linalg.eigh(a.T @ K @ a)
    S = K @ a
    E = np.exp(20 * (S - S[np.arange(len(y)), y][:, None] + 1))
    E[np.arange(len(y)), y] = 1
    R = E / E.sum(axis=1, keepdims=True) - (np.arange(12) == y[:, None])
    gradient = K @ a @ (V / np.maximum(np.sqrt(np.maximum(squares, 0)), 0.01)) @ V.T + 0.3 * K @ R
    assert np.abs(gradient).max() < 1e-3 * np.abs(0.3 * K @ R).max()


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_scores_are_made_of_the_shared_characteristics(kernel, problem):
    X, y = problem
    model = mc.SharedStructureClassifier(kernel, C=0.1).fit(X, y)
    F, S = model.transform(X), model.decision_function(X)
    np.testing.assert_allclose(F @ np.linalg.lstsq(F, S, rcond=None)[0], S, atol=1e-6)
    np.testing.assert_allclose(model.latent_kernel(X, X[:4]), F @ F[:4].T, rtol=1e-10)
    assert model.get_feature_names_out().shape == (F.shape[1],)


def test_the_characteristics_are_left_singular_vectors_times_root_singular_values(linear, problem):
    U, s, _ = np.linalg.svd(linear.coef_.T, full_matrices=False)
    np.testing.assert_allclose(linear.singular_values_, s[: len(linear.singular_values_)], rtol=1e-9)
    np.testing.assert_allclose(np.abs(linear.components_.T), np.abs(U * np.sqrt(s))[:, : len(s)], atol=1e-6)


def test_a_path_over_the_strength_begins_where_it_was(problem):
    for kernel in ("linear", "rbf"):
        cold = mc.SharedStructureClassifier(kernel, C=0.3, tolerance=1e-5).fit(*problem)
        warm = mc.SharedStructureClassifier(kernel, C=0.29, tolerance=1e-5, warm_start=True).fit(*problem)
        warm.set_params(C=0.3).fit(*problem)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-5)
        assert warm.n_iter_ < cold.n_iter_


def test_a_warm_start_on_other_classes_is_refused(problem):
    X, y = problem
    model = mc.SharedStructureClassifier(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"warm_start needs the classes and columns of the last fit, \(12, 10\)"):
        model.fit(X[:, :4], y)
    assert model.n_features_in_ == 10


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_weights_count_examples(kernel, problem):
    X, y = problem
    twice = np.r_[np.arange(len(y)), np.arange(20)]
    repeated = mc.SharedStructureClassifier(kernel, gamma=0.1, **TIGHT).fit(X[twice], y[twice])
    weighted = mc.SharedStructureClassifier(kernel, gamma=0.1, **TIGHT)
    weighted.fit(X, y, sample_weight=np.r_[np.full(20, 2.0), np.ones(len(y) - 20)])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_new_classes_are_learned_from_a_few_rows_and_old_ones_stay_to_the_bit(kernel):
    X, y = made(k=20, per_class=12, rank=4)
    names = np.array([f"{label:02d}" for label in (y * 7) % 20])
    test = np.arange(len(y)) % 2 == 0
    new = np.isin(names, ["00", "11", "19"])
    few = np.flatnonzero(~test & new)[::2]
    # A wide kernel: far from all that was learned, characteristics of a narrow one vanish.
    model = mc.SharedStructureClassifier(kernel, C=5.0, gamma=0.005).fit(X[~test & ~new], names[~test & ~new])
    before, characteristics = model._weights(), model.transform(X)
    rows = np.r_[few, np.flatnonzero(~test & ~new)]
    model.add_classes(X[rows], names[rows])
    assert model.classes_.tolist() == sorted(set(names))
    np.testing.assert_array_equal(model._weights()[:, np.isin(model.classes_, names[~new])], before)
    np.testing.assert_array_equal(model.transform(X), characteristics)
    assert model.score(X[test & new], names[test & new]) > 0.7
    assert model.score(X[test & ~new], names[test & ~new]) > 0.8


def test_new_classes_can_do_without_rows_of_old_ones(problem):
    X, y = problem
    model = mc.SharedStructureClassifier(C=0.3).fit(X[y < 10], y[y < 10]).add_classes(X[y >= 10], y[y >= 10])
    assert model.score(X[y >= 10], y[y >= 10]) > 0.9


@pytest.mark.parametrize(("labels", "message"), [([0, 1], "all labels are known"), (["x", "y"], "of the kind")])
def test_adding_no_new_class_is_refused(linear, problem, labels, message):
    with pytest.raises(ValueError, match=message):
        linear.add_classes(problem[0][:2], labels)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "precomputed"])
def test_a_saved_model_gives_the_same_bits(kernel, problem, tmp_path):
    X, y = problem
    X = X @ X.T if kernel == "precomputed" else X
    model = mc.SharedStructureClassifier(kernel, C=0.1).fit(X, y)
    model.save(tmp_path / "model")
    found = mc.load(tmp_path / "model")
    assert found.get_params() == model.get_params()
    for method in ("decision_function", "transform", "predict", "latent_kernel"):
        np.testing.assert_array_equal(getattr(found, method)(X), getattr(model, method)(X))


def test_a_kernel_of_ones_own_is_not_saved(problem, tmp_path):
    model = mc.SharedStructureClassifier(rbf_kernel, C=0.1).fit(*problem)
    with pytest.raises(TypeError, match="kernel must be a name for a model to be saved; got a function"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_file_whose_arrays_do_not_fit_together_is_refused(problem, tmp_path):
    model = mc.SharedStructureClassifier("rbf", C=0.1).fit(*problem)
    model.X_fit_ = model.X_fit_[:-1]
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"X_fit_ must have shape \(72, 10\); got \(71, 10\)"):
        mc.load(tmp_path / "model")


def test_settings_that_change_later_change_nothing_that_was_fitted(problem):
    model = mc.SharedStructureClassifier("rbf", C=0.1).fit(*problem)
    scores = model.decision_function(problem[0])
    model.set_params(kernel="poly", gamma=9.0, C=7.0, penalty="frobenius")
    np.testing.assert_array_equal(model.decision_function(problem[0]), scores)


def test_the_best_classes_come_first(linear, problem):
    X, y = problem
    top = linear.predict_top(X, 3)
    np.testing.assert_array_equal(top[:, 0], linear.predict(X))
    np.testing.assert_array_equal(top, np.argsort(-linear.decision_function(X), axis=1, kind="stable")[:, :3])
    assert linear.predict_top(X, 99).shape == (len(y), 12)


@pytest.mark.parametrize("method", ["predict", "predict_top", "decision_function", "transform", "latent_kernel"])
def test_nothing_is_predicted_before_a_fit(method):
    with pytest.raises(NotFittedError):
        getattr(mc.SharedStructureClassifier(), method)(np.zeros((2, 3)))


def test_too_few_iterations_are_told(problem):
    with pytest.warns(ConvergenceWarning, match="to a tolerance of 0.001 in 2 iterations: .* increase max_iter"):
        mc.SharedStructureClassifier(max_iter=2).fit(*problem)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cosine"}, "kernel must be one of linear, rbf, poly, precomputed; got 'cosine'"),
        ({"penalty": "l1"}, "penalty must be one of trace, frobenius; got 'l1'"),
        ({"C": 0}, "C must be a finite number above 0; got 0"),
        ({"smoothing": 0.0}, "smoothing must be a finite number above 0"),
        ({"sharpness": -1}, "sharpness must be a finite number above 0"),
        ({"gamma": "auto"}, "gamma must be 'scale' or a positive number; got 'auto'"),
        ({"degree": 0}, "degree must be"),
        ({"coef0": "x"}, "coef0 must be a number"),
        ({"tolerance": -1}, "tolerance must be"),
        ({"max_iter": 0}, "max_iter must be a whole number, at least 1"),
    ],
)
def test_settings_that_are_none_are_refused(settings, message, problem):
    with pytest.raises(ValueError, match=message):
        mc.SharedStructureClassifier(**settings).fit(*problem)


def test_a_graph_of_a_kernel_is_refused(problem, tmp_path):
    with pytest.raises(ValueError, match="kernel must be 'linear' for export to ONNX; got 'rbf'"):
        mc.SharedStructureClassifier("rbf", C=0.1).fit(*problem).to_onnx(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((8, 3)),
        np.ones((8, 3)),
        np.outer(np.arange(8.0), [1, 2, 3]),
        np.repeat(np.arange(6.0).reshape(2, 3), 4, axis=0),
        1e6 * np.arange(24.0).reshape(8, 3) % 7e6,
        1e-6 * np.arange(24.0).reshape(8, 3) % 7e-6,
    ],
    ids=["zero", "constant", "rank one", "duplicates", "large", "small"],
)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_degenerate_rows_have_a_defined_result(X, kernel):
    y = np.arange(8) % 3
    model = mc.SharedStructureClassifier(kernel, max_iter=100).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.transform(X)).all()
    assert model.gap_ >= 0


def test_a_kernel_that_is_no_number_is_refused():
    rows = np.array([[1.0, -9.0], [2.0, 3.0], [-4.0, 1.0], [5.0, 5.0]])
    with pytest.raises(ValueError, match="values of the kernel 'poly' must hold finite numbers; row 0"):
        mc.SharedStructureClassifier("poly", degree=2.5, gamma=1.0).fit(rows, [0, 1, 0, 1])


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_rows_needs_nothing_but_another_strength(problem, scale):
    X, y = problem
    plain = mc.SharedStructureClassifier(C=0.1, smoothing=0.01).fit(X, y)
    # W is smaller by the scale, and so are its trace norm and where that is rounded off.
    scaled = mc.SharedStructureClassifier(C=0.1 / scale, smoothing=0.01 / scale).fit(X * scale, y)
    assert scaled.objective_ * scale == pytest.approx(plain.objective_, rel=2e-3)
    assert scaled.n_iter_ <= 2 * plain.n_iter_ + 10


def test_any_matrix_will_do(problem):
    X, y = blobs()
    dense = mc.SharedStructureClassifier(C=0.3).fit(X, y)
    wrapped = mc.SharedStructureClassifier(C=0.3).fit(mc.as_matrix(X), y)
    np.testing.assert_array_equal(dense.decision_function(X), wrapped.decision_function(mc.as_matrix(X)))


@pytest.mark.parametrize("n_threads", [2, 3])
def test_the_number_of_threads_changes_no_bit(n_threads):
    X, y = made(k=30, per_class=20, d=60)
    fits = []
    for count in (1, n_threads):
        with mc.threads(count):
            model = mc.SharedStructureClassifier("rbf", C=0.1, max_iter=30, tolerance=0.5).fit(X, y)
            fits.append((model.dual_coef_.tobytes(), model.decision_function(X).tobytes()))
    assert fits[0] == fits[1]

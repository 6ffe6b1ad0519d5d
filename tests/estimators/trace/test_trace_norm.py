"""TraceNormClassifier: the optimum, its factors, and what comes of data and wishes that are not nice."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import manyclass as mc
from tests.estimators.problems import blobs

X, Y = blobs(k=7, d=12)
SCORES = {"rtol": 1e-4, "atol": 1e-5}


@pytest.fixture(scope="module")
def model():
    return mc.TraceNormClassifier(trace=0.01).fit(X, Y)


def test_the_objective_is_that_of_its_own_weights(model):
    S = X @ model.coef_.T.astype(np.float64) + model.intercept_
    S -= S.max(axis=1, keepdims=True)
    loss = np.mean(np.log(np.exp(S).sum(axis=1)) - S[np.arange(len(Y)), Y])
    penalty = 0.01 * np.linalg.svd(model.coef_, compute_uv=False).sum()
    assert model.objective_ == pytest.approx(loss + penalty, rel=1e-5)
    assert model.gap_ <= 1e-4 * model.objective_


@pytest.mark.parametrize("solver", ["rank_one", "fista", "stochastic", "factored"])
def test_all_solvers_find_the_same_optimum(model, solver):
    other = mc.TraceNormClassifier(trace=0.01, solver=solver, tolerance=1e-3, random_state=0).fit(X, Y)
    assert other.status_ == "optimal"
    assert other.objective_ == pytest.approx(model.objective_, rel=1.2e-3)


def test_the_published_settings_end_by_their_own_epsilon():
    assert mc.TraceNormClassifier(trace=0.01, solver="published").fit(X, Y).status_ == "epsilon-optimal"


def test_factors_have_orthonormal_sides_and_make_the_weights(model):
    U, s, V = model.factors_
    np.testing.assert_allclose(U.T @ U, np.eye(model.rank_), atol=1e-5)
    np.testing.assert_allclose(V.T @ V, np.eye(model.rank_), atol=1e-5)
    np.testing.assert_allclose((U * s) @ V.T, model.coef_.T, **SCORES)
    assert (np.diff(s) <= 0).all()
    assert (U[np.abs(U).argmax(axis=0), range(model.rank_)] > 0).all()


@pytest.mark.parametrize(("trace", "narrow"), [(0.08, True), (0.001, False)])
def test_scores_are_the_same_by_factors_and_by_the_whole(trace, narrow):
    model = mc.TraceNormClassifier(trace=trace).fit(X, Y)
    assert model._narrow() == narrow
    S = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), S, **SCORES)
    np.testing.assert_array_equal(model.predict_top(X, 3), np.argsort(-S, axis=1)[:, :3])


def test_scores_are_products_of_latent_features_of_rows_and_classes(model):
    _, s, V = model.factors_
    Z = model.transform(X)
    assert Z.shape == (len(X), model.rank_)
    np.testing.assert_allclose(Z @ (V * np.sqrt(s)).T + model.intercept_, model.decision_function(X), **SCORES)


def test_a_stronger_trace_gives_a_lower_rank():
    ranks = [mc.TraceNormClassifier(trace=trace).fit(X, Y).rank_ for trace in (1.0, 0.08, 0.001)]
    assert ranks[0] == 0 < ranks[1] < ranks[2]


def test_nothing_but_the_bias_is_left_where_the_trace_is_too_strong():
    model = mc.TraceNormClassifier(trace=10.0).fit(X[Y < 3], Y[Y < 3])
    assert model.transform(X).shape == (len(X), 0)
    assert len(set(model.predict(X))) == 1


@pytest.mark.parametrize("loss", ["softmax", "logistic"])
def test_probabilities_add_up_to_one(loss):
    P = mc.TraceNormClassifier(trace=0.01, loss=loss).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert np.mean(P.argmax(axis=1) == Y) > 0.9


def test_a_loss_without_probabilities_says_so():
    with pytest.raises(AttributeError) as caught:
        _ = mc.TraceNormClassifier(loss="squared").predict_proba
    assert "predict_proba needs loss='softmax', loss='logistic' or a call to calibrate" in str(caught.value.__cause__)


@pytest.mark.parametrize("trace", [0.01, 10.0])
def test_a_file_brings_back_the_same_bits(tmp_path, trace):
    model = mc.TraceNormClassifier(trace=trace, ridge=1e-4).fit(X, Y)
    model.save(tmp_path / "m")
    found = mc.load(tmp_path / "m")
    assert found.get_params() == model.get_params()
    assert found.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert (found.objective_, found.gap_, found.status_) == (model.objective_, model.gap_, model.status_)


def test_the_number_of_threads_changes_no_bit():
    one, two = (mc.TraceNormClassifier(trace=0.01, n_threads=n).fit(X, Y) for n in (1, 2))
    assert one.coef_.tobytes() == two.coef_.tobytes()


def test_time_that_is_up_leaves_the_best_point_and_a_warning():
    with pytest.warns(ConvergenceWarning, match=r"time limit was reached before .* raise max_seconds or tolerance"):
        model = mc.TraceNormClassifier(trace=0.01, max_seconds=1e-9).fit(X, Y)
    assert model.status_ == "time limit reached"
    assert model.predict(X).shape == Y.shape


def test_too_few_steps_are_a_warning():
    words = r"iteration limit was reached .*, at most .* above the optimum; raise max_iter"
    with pytest.warns(ConvergenceWarning, match=words):
        mc.TraceNormClassifier(trace=0.01, max_iter=2).fit(X, Y)


@pytest.mark.parametrize(("solver", "advice"), [("auto", "tolerance$"), ("fista", "or use solver='auto'$")])
def test_nobody_is_told_to_take_the_solver_he_has(solver, advice):
    with pytest.warns(ConvergenceWarning, match=advice):
        mc.TraceNormClassifier(trace=0.01, max_iter=2, solver=solver).fit(X, Y)


def test_an_interrupt_leaves_the_best_point():
    def interrupt(record):
        if record["iteration"] == 5:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = mc.TraceNormClassifier(trace=0.01, callbacks=[interrupt]).fit(X, Y)
    assert (model.status_, model.n_iter_) == ("interrupted", 6)


def test_a_callback_ends_the_fit_without_a_warning():
    model = mc.TraceNormClassifier(trace=0.01, callbacks=[lambda record: record["iteration"] == 3]).fit(X, Y)
    assert (model.status_, model.n_iter_) == ("stopped by a callback", 4)


def test_a_warm_start_has_little_left_to_do(model):
    warm = mc.TraceNormClassifier(trace=0.01, warm_start=True).fit(X, Y)
    cold = warm.n_iter_
    assert warm.fit(X, Y).n_iter_ < cold / 2
    with pytest.raises(ValueError, match="warm_start needs the classes and columns of the last fit"):
        warm.fit(X[:, :5], Y)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_the_scale_of_features_needs_nothing_but_another_trace(scale):
    model = mc.TraceNormClassifier(trace=0.01 * scale).fit(X * np.float32(scale), Y)
    assert model.status_ == "optimal"
    assert model.score(X * np.float32(scale), Y) > 0.9


CASES = {
    "constant": np.ones_like(X),
    "zero": np.zeros_like(X),
    "duplicated": np.repeat(X[:6], len(X) // 6, axis=0),
    "rank one": np.outer(X[:, 0], X[0]),
}


@pytest.mark.parametrize("rows", CASES.values(), ids=CASES)
def test_rows_that_tell_little_are_fitted_as_well_as_can_be(rows):
    model = mc.TraceNormClassifier(trace=0.01).fit(rows, Y)
    assert model.status_ == "optimal"
    assert np.isfinite(model.decision_function(rows)).all()


def test_two_classes_have_one_score():
    model = mc.TraceNormClassifier(trace=0.001).fit(X[Y < 2], Y[Y < 2])
    assert model.decision_function(X).shape == (len(X),)
    assert model.score(X[Y < 2], Y[Y < 2]) == 1


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes; got 1 class"):
        mc.TraceNormClassifier().fit(X, np.zeros(len(X)))


def test_nan_is_refused_with_its_place():
    rows = X.copy()
    rows[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3 has NaN or infinity in column 2"):
        mc.TraceNormClassifier().fit(rows, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trace": -1}, "trace must be a finite number, at least 0; got -1"),
        ({"solver": "newton"}, "solver must be one of auto, .*; got 'newton'"),
        ({"loss": "hinge"}, "loss must be one of softmax, .*; got 'hinge'"),
        ({"solver": "ridge"}, "solver 'ridge' needs a penalty without a gauge"),
        ({"max_seconds": 0}, "max_seconds must be a finite number above 0"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False; got 'no'"),
        ({"callbacks": None}, "callbacks must be a list of functions; got None"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dictionary; got 'even'"),
    ],
)
def test_a_setting_that_is_none_is_one_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        mc.TraceNormClassifier(**settings).fit(X, Y)

"""Optima of a ridge around a center: against a plain search, cvxpy, and where the strength has no bounds."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import manyclass as mc
from manyclass.estimators import batch
from manyclass.losses.multiclass import as_score_loss
from manyclass.solvers import problem as problems
from manyclass.solvers.batch.solve import solve, solvers_of

N, D, K = 60, 6, 4


def rows(seed=0, n=N, d=D):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(K, d))[y] + 1.5 * rng.normal(size=(n, d))
    return X, y, 2 * rng.normal(size=(d, K))


X, Y, CENTER = rows()


def fitted(penalty, solver="auto", tolerance=1e-9, data=(X, Y), **more):
    return mc.LinearClassifier(penalty=penalty, solver=solver, tolerance=tolerance, max_iter=5000, **more).fit(*data)


def softmax_objective(v, strength):
    W, b = v[: D * K].reshape(D, K), v[D * K :]
    S = X @ W + b
    return np.mean(logsumexp(S, axis=1) - S[np.arange(N), Y]) + strength * ((W - CENTER) ** 2).sum()


@pytest.mark.parametrize("solver", ["ridge", "fista"])
@pytest.mark.parametrize("strength", [1e-3, 1e-1, 10.0])
def test_the_optimum_is_that_of_a_plain_search(solver, strength):
    clf = fitted(mc.Ridge(strength, CENTER), solver)
    best = minimize(softmax_objective, np.zeros(D * K + K), args=(strength,), tol=1e-12).fun
    assert clf.status_ == "optimal"
    assert clf.objective_ == pytest.approx(best, abs=2e-8)
    assert clf.gap_ >= clf.objective_ - best - 1e-9
    found = np.concatenate([clf.coef_.T.ravel(), clf.intercept_])
    assert softmax_objective(found, strength) == pytest.approx(clf.objective_, abs=1e-9)


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
def test_at_the_optimum_the_gradient_of_the_loss_is_the_pull_of_the_center(loss):
    clf = fitted(mc.Ridge(0.05, CENTER), loss=loss, tolerance=1e-11)
    _, R = as_score_loss(loss).value_and_gradient(X @ clf.coef_.T + clf.intercept_, Y)
    pull = 2 * 0.05 * (clf.coef_.T - CENTER)
    np.testing.assert_allclose(X.T @ R / N, -pull, atol=2e-5)
    np.testing.assert_allclose(R.mean(axis=0), 0, atol=2e-5)


@pytest.mark.parametrize("gauge", [mc.TraceNorm, mc.L1Norm, mc.GroupNorm])
def test_beside_a_gauge_the_optimum_is_that_of_a_cone_program(gauge):
    cp = pytest.importorskip("cvxpy")
    W, b = cp.Variable((D, K)), cp.Variable((1, K))
    S = X @ W + np.ones((N, 1)) @ b
    norms = {mc.TraceNorm: cp.normNuc(W), mc.L1Norm: cp.sum(cp.abs(W)), mc.GroupNorm: cp.sum(cp.norm(W, 2, axis=1))}
    loss = sum(cp.log_sum_exp(S[i]) - S[i, Y[i]] for i in range(N)) / N
    best = cp.Problem(cp.Minimize(loss + 0.05 * norms[gauge] + 0.01 * cp.sum_squares(W - CENTER))).solve()
    clf = fitted(gauge(0.05) + mc.Ridge(0.01, CENTER), tolerance=1e-7)
    assert clf.objective_ == pytest.approx(best, abs=1e-5)
    assert clf.status_ == "optimal"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_strength_without_bounds_gives_the_center(dtype):
    clf = fitted(mc.Ridge(1e6, CENTER), tolerance=1e-4, data=(X.astype(dtype), Y))
    np.testing.assert_allclose(clf.coef_.T, CENTER, atol=1e-5)
    # The bias is free: it is the best for these weights.
    S = X @ CENTER + clf.intercept_
    P = np.exp(S - logsumexp(S, axis=1, keepdims=True))
    np.testing.assert_allclose(P.mean(axis=0), 0.25, atol=1e-3)


def test_a_center_of_zeros_gives_the_bits_of_a_plain_ridge():
    plain, centered = fitted(mc.Ridge(0.01)), fitted(mc.Ridge(0.01, np.zeros((D, K))))
    np.testing.assert_array_equal(plain.coef_, centered.coef_)
    np.testing.assert_array_equal(plain.intercept_, centered.intercept_)


def test_an_older_model_is_kept_where_new_rows_say_nothing():
    old = fitted(mc.Ridge(1e-3))
    same = fitted(mc.Ridge(1e-3, old.coef_.T), data=(np.zeros_like(X), Y))
    np.testing.assert_allclose(same.coef_, old.coef_, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_fewer_rows_than_columns_the_optimum_is_that_of_all_columns(monkeypatch, dtype):
    wide, y, center = rows(3, n=40, d=300)
    data, penalty = (wide.astype(dtype), y), mc.Ridge(0.05, center)
    tolerance = 1e-5 if dtype == np.float32 else 1e-9
    plain = fitted(penalty, data=data, tolerance=tolerance)
    monkeypatch.setattr(problems, "NUMBERS", 1)
    seen = []

    def note(objective, *args, **more):
        seen.append(objective.d)
        return solve(objective, *args, **more)

    monkeypatch.setattr(batch, "solve", note)
    turned = fitted(penalty, data=data, tolerance=tolerance)
    assert seen == [40]
    np.testing.assert_allclose(turned.coef_, plain.coef_, atol=2e-2 if dtype == np.float32 else 1e-3)
    # What the rows cannot see of the center stays.
    Q = np.linalg.svd(wide, full_matrices=True)[2][40:]
    np.testing.assert_allclose(Q @ turned.coef_.T, Q @ center, atol=1e-3 if dtype == np.float32 else 1e-8)


def test_a_file_keeps_the_center(tmp_path):
    clf = fitted(mc.Ridge(0.01, CENTER))
    clf.save(tmp_path / "model")
    again = mc.load(tmp_path / "model")
    assert again.penalty == clf.penalty
    np.testing.assert_array_equal(again.fit(X, Y).coef_, clf.coef_)


def test_solvers_that_add_atoms_refuse_a_center():
    penalty = mc.TraceNorm(0.1) + mc.Ridge(0.01, CENTER)
    assert solvers_of(penalty) == ("auto", "fista")
    assert solvers_of(mc.Ridge(0.01, CENTER)) == ("auto", "fista", "ridge")
    for solver in ("factored", "rank_one", "stochastic", "published"):
        with pytest.raises(ValueError, match="needs a ridge without a center; got|needs a penalty with"):
            fitted(penalty, solver)


def test_a_center_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="a row for each of 6 columns of X and a column for each of 4 classes"):
        fitted(mc.Ridge(0.01, CENTER.T))


def test_a_class_without_weight_is_refused():
    with pytest.raises(ValueError, match="needs rows of every class whose weight is not zero; 1 have none"):
        mc.LinearClassifier(penalty=mc.Ridge(0.01, CENTER)).fit(X, Y, sample_weight=(Y != 2).astype(float))

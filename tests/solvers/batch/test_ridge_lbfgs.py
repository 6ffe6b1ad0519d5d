"""L-BFGS for smooth problems: a ridge, or nothing at all."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from contracts.solver import objective, rows, slopes, value
from hypothesis import given, settings
from hypothesis import strategies as st

import manyclass as mc
from manyclass.penalties.norms import TraceNorm
from manyclass.penalties.ridge import Ridge
from manyclass.solvers.batch import preconditioner, ridge_lbfgs
from manyclass.solvers.batch.null_model import fit_null_model
from manyclass.solvers.batch.solve import solve

STRENGTHS = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]


def _many(n=300, d=8, k=6, seed=0, shares=None):
    """Enough rows and classes for the covariance to pay, on columns of several scales."""
    rng = np.random.default_rng(seed)
    y = rng.choice(k, n, p=shares) if shares is not None else np.arange(n) % k
    y[:k] = np.arange(k)
    X = (rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((k, d))[y]) * np.logspace(0, -1, d) + 0.3
    return X, y


def _least(made):
    """The optimum by SciPy in float64, the obvious way."""
    d, k = made.d, made.k

    def function(x):
        W, b = x[: d * k].reshape(d, k), x[d * k :]
        H, h = slopes(made, W, b)
        return value(made, W, b), np.concatenate([H.ravel(), h])

    options = {"maxiter": 3000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    found = scipy.optimize.minimize(function, np.zeros(d * k + k), jac=True, method="L-BFGS-B", options=options)
    return float(found.fun)


@pytest.fixture(params=["one number", "covariance"])
def way(request, monkeypatch):
    """Preconditioner of either kind, whatever they cost."""
    cost = np.inf if request.param == "one number" else 0.0
    monkeypatch.setattr(preconditioner, "_cost", lambda objective: cost)
    return request.param


@pytest.mark.parametrize("strength", STRENGTHS)
def test_the_optimum_is_that_of_scipy_at_every_strength(way, strength):
    X, y = _many()
    made = objective(None, X=X, y=y, ridge=strength)
    found = solve(made, "ridge", 1e-8)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(_least(made), rel=2e-8)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_float32_comes_within_the_tolerance_and_says_so(way, strength):
    X, y = _many()
    made = objective(None, X=X.astype(np.float32), y=y, ridge=strength)
    found, least = solve(made, "ridge", 1e-4), _least(made)
    assert found.status == "optimal"
    assert least * (1 - 1e-6) <= found.objective <= least + found.gap + 1e-6 * least
    assert found.gap <= 1e-4 * found.objective


@pytest.mark.parametrize("strength", [1e-2, 1e-4])
def test_it_is_the_optimum_of_logistic_regression(strength):
    from sklearn.linear_model import LogisticRegression

    X, y = _many()
    peer = LogisticRegression(C=1 / (2 * strength * len(X)), tol=1e-10, max_iter=10_000).fit(X, y)
    ours = mc.LinearClassifier(penalty=Ridge(strength), tolerance=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_ - peer.coef_.mean(axis=0), atol=1e-3 * np.abs(peer.coef_).max())


@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
def test_rare_classes_and_weights_of_rows_do_not_lead_astray(way, loss):
    X, y = _many(shares=np.arange(6, 0, -1) / 21)
    weights = np.random.default_rng(1).random(len(y)) ** 3
    made = objective(None, loss, X=X, y=y, weights=weights, ridge=1e-4)
    found = solve(made, "ridge", 1e-7)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(_least(made), rel=2e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_conditions_of_optimality_hold(way, fit_intercept):
    X, y = _many()
    made = objective(None, X=X, y=y, ridge=1e-3, fit_intercept=fit_intercept)
    found = solve(made, "ridge", 1e-10)
    H, h = slopes(made, found.W, found.b)
    np.testing.assert_allclose(H, 0, atol=1e-6)
    np.testing.assert_allclose(h if fit_intercept else found.b, 0, atol=1e-6)


@pytest.mark.parametrize("kind", ["columns that repeat", "scales far apart", "one huge column", "far from zero"])
def test_columns_that_are_hard_on_a_covariance_are_no_obstacle(kind):
    X, y = _many()
    if kind == "columns that repeat":
        X = np.hstack([X, X[:, :6], np.ones((len(X), 2))])
    elif kind == "scales far apart":
        X = X * np.logspace(-2, 1, X.shape[1])
    elif kind == "one huge column":
        X[:, 3] *= 100
    else:
        X = X + 10
    made = objective(None, X=X, y=y, ridge=1e-3)
    found = solve(made, "ridge", 1e-6)
    assert found.status == "optimal"
    # That the gap is a bound is shown against another solver, which needs no curvature.
    assert found.objective <= _least(made) * (1 + 2e-6)


@given(
    n=st.integers(2, 60), d=st.integers(1, 12), k=st.integers(2, 6), seed=st.integers(0, 9),
    power=st.integers(-4, 0), dtype=st.sampled_from([np.float32, np.float64]), rotate=st.booleans(),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_any_shape_is_solved_in_either_way(n, d, k, seed, power, dtype, rotate):
    X, y, _ = rows(seed, n, d, k)
    y = np.unique(y, return_inverse=True)[1]
    if y.max() == 0:
        return
    made = objective(None, X=X.astype(dtype), y=y, ridge=10.0**power)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preconditioner, "_cost", lambda objective: 0.0 if rotate else np.inf)
        found = solve(made, "ridge", 1e-4)
    assert found.status == "optimal"
    least = _least(objective(None, X=X, y=y, ridge=10.0**power))
    assert least * (1 - 1e-5) <= found.objective <= least * (1 + 1e-5) + found.gap


def test_a_step_has_two_products_and_the_null_model_and_a_gap_one_each():
    X, y = _many()
    made = objective(None, X=X.astype(np.float32), y=y, ridge=1e-4)
    found = solve(made, "ridge", 1e-4)
    steps = found.iterations - 2  # the null model is noted twice
    assert sum("gap" in record for record in found.history) == 1
    # A sample of rows tells the scale, here 256 of 300.
    assert found.passes <= 2 * steps + 2 + 1


def test_the_covariance_saves_steps_where_columns_differ_in_scale():
    X, y = _many(n=2000, d=40, k=30)
    made = objective(None, X=(X * np.logspace(0, -1.5, 40)).astype(np.float32), y=y, ridge=1e-6)
    base, counts = fit_null_model(made), {}
    for cost in (0.0, np.inf):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(preconditioner, "_cost", lambda objective, cost=cost: cost)
            counts[cost] = solve(made, "ridge", 1e-4, base=base).iterations
    assert counts[0.0] < 0.75 * counts[np.inf]


def test_the_bits_do_not_depend_on_the_number_of_threads(way):
    X, y = _many(n=3000)
    made = objective(None, X=X.astype(np.float32), y=y, ridge=1e-4)
    found = []
    for count in (1, 2, 3):
        with mc.threads(count):
            found.append(solve(made, "ridge", 1e-4))
    assert len({(one.W.tobytes(), one.b.tobytes(), one.gap) for one in found}) == 1


@pytest.mark.parametrize("kind", ["sparse", "mapped", "float16", "quantized"])
def test_other_ways_to_keep_the_rows_have_the_same_optimum(kind, way, tmp_path):
    X, y = _many()
    X = np.where(np.abs(X) > 0.5, X, 0).astype(np.float16).astype(np.float32)
    if kind == "sparse":
        matrix = mc.as_matrix(scipy.sparse.csr_matrix(X))
    elif kind == "mapped":
        np.save(tmp_path / "X.npy", X)
        matrix = mc.as_matrix(str(tmp_path / "X.npy"))
    elif kind == "float16":
        matrix = mc.DenseMatrix(X.astype(np.float16))
    else:
        matrix = mc.ProductQuantizer(block=4, random_state=0).fit(X).encode(X)
        X = matrix.toarray()
    found = solve(objective(None, X=matrix, y=y, ridge=1e-3), "ridge", 1e-4)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(_least(objective(None, X=X.astype(float), y=y, ridge=1e-3)), rel=1e-4)


def test_scores_that_do_not_fit_into_the_budget_are_not_kept(way):
    X, y = _many()
    whole, pieces = (objective(None, X=X, y=y, ridge=1e-4, budget=budget) for budget in (1 << 30, 20_000))
    assert not pieces.keeps_scores()
    found = solve(pieces, "ridge", 1e-6)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(solve(whole, "ridge", 1e-6).objective, rel=2e-6)


def test_scores_are_computed_anew_from_time_to_time(monkeypatch):
    X, y = _many()
    made = objective(None, X=X.astype(np.float32), y=y, ridge=1e-5)
    monkeypatch.setattr(ridge_lbfgs, "_REFRESH", 2)
    often = solve(made, "ridge", 1e-4)
    monkeypatch.setattr(ridge_lbfgs, "_REFRESH", 1000)
    never = solve(made, "ridge", 1e-4)
    assert often.objective == pytest.approx(never.objective, rel=1e-4)
    assert value(made, never.W, never.b) == pytest.approx(never.objective, rel=1e-6)


def test_a_start_at_the_optimum_is_certified_at_once():
    X, y = _many()
    made = objective(None, X=X, y=y, ridge=1e-3)
    found = solve(made, "ridge", 1e-6)
    again = solve(made, "ridge", 1e-5, start=replace(found.point, b=found.b))
    assert again.status == "optimal"
    assert again.iterations <= 3


@pytest.mark.parametrize("penalty", [Ridge(0.0), TraceNorm(0.0) + Ridge(0.0)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_any_penalty_zero_is_no_optimum(penalty, dtype):
    # Classes of one size, whose best intercept is zero, and which overlap.
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 4
    found = solve(objective(X=X.astype(dtype), y=y).with_penalty(penalty), "auto", 1e-3)
    least = solve(objective(X=X, y=y).with_penalty(Ridge(1e-7)), "ridge", 1e-4)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(least.objective, rel=1e-3)


def test_without_any_penalty_classes_that_can_be_told_apart_are():
    X, y, _ = rows(0)
    found = solve(objective(X=X, y=y).with_penalty(Ridge(0.0)), "auto")
    assert found.objective < 1e-6
    assert ((X @ found.W + found.b).argmax(axis=1) == y).all()


def test_too_few_steps_leave_a_gap_that_was_computed_at_their_end():
    made = objective(None, ridge=0.1)
    found, optimum = solve(made, "ridge", 1e-9, max_iter=5), solve(made, "ridge", 1e-6)
    assert found.status == "iteration limit reached"
    assert found.objective - optimum.objective <= found.gap < 0.1 * found.objective

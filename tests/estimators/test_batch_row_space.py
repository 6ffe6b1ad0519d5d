"""Optima of fewer rows than columns are those that are found in all columns."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.losses.multiclass import as_score_loss
from manyclass.penalties.norms import GroupNorm, L1Norm, TraceNorm
from manyclass.penalties.ridge import Ridge
from manyclass.solvers import problem


def _data(dtype=np.float64, n=60, d=400, k=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = 0.15 * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[1], X[-1] = X[0], 0
    return X.astype(dtype), y


@pytest.fixture
def seen(monkeypatch):
    """The numbers of columns that solvers have seen; coordinates are taken however small X is."""
    columns = []
    monkeypatch.setattr(problem, "NUMBERS", 1)

    def note(self, most):
        found = original(self, most)
        columns.append(found.d)
        return found

    original = problem.Problem.in_row_space
    monkeypatch.setattr(problem.Problem, "in_row_space", note)
    return columns


PENALTIES = (Ridge(1e-3), TraceNorm(2e-3), TraceNorm(2e-3) + Ridge(1e-4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["softmax", "smoothed_hinge", "squared", "logistic"])
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_the_optimum_is_that_of_all_columns(seen, monkeypatch, penalty, loss, dtype):
    X, y = _data(dtype)
    settings = {"penalty": penalty, "loss": loss, "tolerance": 5e-4 if dtype == np.float32 else 1e-8, "max_iter": 5000}
    turned = mc.LinearClassifier(**settings).fit(X, y)
    monkeypatch.setattr(problem, "FACTOR", 10**9)
    plain = mc.LinearClassifier(**settings).fit(X, y)
    assert seen == [58, 400]
    assert turned.coef_.dtype == dtype
    np.testing.assert_allclose(turned.objective_, plain.objective_, rtol=2 * settings["tolerance"])
    near = 0.05 if dtype == np.float32 else 1e-3
    np.testing.assert_allclose(turned.coef_, plain.coef_, atol=near * np.abs(plain.coef_).max())
    # The objective in all columns, from what was lifted.
    S = X @ turned.coef_.T + turned.intercept_
    value = turned._penalty().value(turned.coef_.T)
    mean = as_score_loss(loss).value_and_gradient(S.astype(np.float64), y)[0].mean()
    np.testing.assert_allclose(mean + value, turned.objective_, rtol=1e-5)


@pytest.mark.parametrize("penalty", [L1Norm(1e-3), GroupNorm(1e-3), L1Norm(1e-3) + Ridge(1e-4)], ids=str)
def test_penalties_that_a_rotation_changes_see_all_columns(seen, penalty):
    X, y = _data()
    mc.LinearClassifier(penalty=penalty, tolerance=1e-2).fit(X, y)
    assert seen == []


def test_penalties_say_whether_a_rotation_changes_them():
    rng = np.random.default_rng(0)
    W, Q = rng.standard_normal((4, 3)), np.linalg.qr(rng.standard_normal((9, 4)))[0]
    for penalty in (*PENALTIES, L1Norm(0.5), GroupNorm(0.5), GroupNorm(0.5) + Ridge(1.0)):
        assert penalty.is_rotation_invariant == np.isclose(penalty.value(Q @ W), penalty.value(W))


@pytest.mark.parametrize("solver", ["auto", "factored", "fista", "rank_one", "stochastic"])
def test_every_solver_of_the_trace_norm_finds_the_optimum_in_coordinates(seen, solver):
    X, y = _data(np.float32)
    clf = mc.TraceNormClassifier(trace=2e-3, solver=solver, tolerance=1e-2, random_state=0).fit(X, y)
    best = mc.TraceNormClassifier(trace=2e-3, tolerance=1e-4).fit(X, y)
    assert seen == [58, 58]
    assert clf.factors_[0].shape == (400, clf.rank_)
    np.testing.assert_allclose(clf.factors_[0].T @ clf.factors_[0], np.eye(clf.rank_), atol=1e-4)
    assert clf.objective_ <= best.objective_ * 1.02


def test_a_warm_start_is_in_all_columns(seen):
    X, y = _data()
    clf = mc.TraceNormClassifier(trace=2e-3, warm_start=True).fit(X, y)
    steps = clf.n_iter_
    clf.fit(X, y)
    assert seen == [58]
    assert clf.n_iter_ < steps


@pytest.mark.parametrize("given", [False, True])
def test_a_path_is_that_of_all_columns(seen, monkeypatch, given):
    X, y = _data(n=90)
    validation = _data(n=40, seed=0) if given else None
    settings = {"traces": 3, "ridges": 2, "random_state": 0, "tolerance": 1e-6}
    turned = mc.TraceNormPath(**settings).fit(X, y, validation)
    monkeypatch.setattr(problem, "FACTOR", 10**9)
    plain = mc.TraceNormPath(**settings).fit(X, y, validation)
    assert seen == [88, 400]
    for name in ("trace", "ridge", "accuracy", "rank"):
        assert [row[name] for row in turned.table_] == [row[name] for row in plain.table_]
    assert turned.best_.factors_[0].shape[0] == 400
    np.testing.assert_allclose(turned.coef_, plain.coef_, atol=1e-3 * np.abs(plain.coef_).max())


def far_away(case, n=120, d=700, k=4):
    rng = np.random.default_rng(3)
    y = np.arange(n) % k
    X = 0.5 * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d))
    if case == "all columns":
        X += 1000
    elif case == "one column":
        X[:, 7] += 1e5
    else:
        X += 1e3 * rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))
    return X.astype(np.float32), y


@pytest.mark.parametrize("case", ["all columns", "one column", "three directions"])
def test_rows_that_differ_in_little_of_their_length_are_learned_in_all_columns(seen, monkeypatch, case):
    X, y = far_away(case)
    learned, new = slice(0, 80), slice(80, 120)
    turned = mc.LinearClassifier(penalty=Ridge(1e-2)).fit(X[learned], y[learned])
    monkeypatch.setattr(problem, "FACTOR", 10**9)
    plain = mc.LinearClassifier(penalty=Ridge(1e-2)).fit(X[learned], y[learned])
    assert seen == [700, 700]
    assert turned.score(X[new], y[new]) >= plain.score(X[new], y[new]) - 0.05
    assert plain.score(X[new], y[new]) > 0.8


def test_coordinates_that_would_take_much_more_memory_than_the_rows_are_not_taken(monkeypatch):
    X, y = _data(np.float32, n=40)
    whole = problem.Problem.whole(mc.DenseMatrix(X), y, 5)
    monkeypatch.setattr(problem, "NUMBERS", 1)
    monkeypatch.setattr(problem, "BYTES", 0)
    assert whole.in_row_space(1000).d < 40  # 32 * 40 * 40 bytes are fewer than the rows have
    codes = mc.ProductQuantizer(block=50, n_centroids=4, random_state=0).fit(X).encode(X)
    coded = problem.Problem.whole(codes, y, 5)
    assert coded.in_row_space(1000) is coded

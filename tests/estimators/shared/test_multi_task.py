"""MultiTaskTraceNorm: several binary tasks, known in part, that share characteristics."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import manyclass as mc


def made(n=80, t=10, d=12, rank=2, seed=0, known=1.0):
    """(X, Y of -1, 1 and 0 for unknown, Y without gaps)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.where(X @ rng.standard_normal((d, rank)) @ rng.standard_normal((rank, t)) > 0, 1, -1)
    return X, np.where(rng.random(Y.shape) < known, Y, 0), Y


def test_the_objective_is_the_trace_norm_and_the_hinges_of_all_tasks():
    X, Y, _ = made(known=0.7)
    model = mc.MultiTaskTraceNorm(C=0.2, tolerance=1e-5, max_iter=5000).fit(X, Y)
    s = np.linalg.svd(model.coef_, compute_uv=False)
    smooth = np.where(s <= 0.01, s**2 / 0.02 + 0.005, s).sum()
    losses = np.logaddexp(0, 20 * (1 - Y * (X @ model.coef_.T))) / 20
    assert model.objective_ == pytest.approx(smooth + 0.2 * losses[Y != 0].sum(), rel=1e-9)
    assert model.gap_ <= 1e-5 * model.objective_
    assert s[2] < 0.1 * s[1]


def test_without_sharing_every_task_is_a_support_vector_machine():
    X, Y, _ = made(t=3)
    model = mc.MultiTaskTraceNorm(C=0.5, penalty="frobenius", sharpness=2000.0, tolerance=1e-4).fit(X, Y)
    for task in range(3):
        svm = LinearSVC(loss="hinge", C=0.5, fit_intercept=False, tol=1e-6, max_iter=100_000).fit(X, Y[:, task])
        np.testing.assert_allclose(model.coef_[task], svm.coef_[0], atol=0.02)


def test_tasks_that_share_are_learned_from_less():
    X, Y, whole = made(n=60, t=40, d=30, known=0.5, seed=3)
    errors = {}
    for penalty, strengths in (("trace", (0.05, 0.1, 0.2)), ("frobenius", (0.1, 1.0, 10.0))):
        fits = [mc.MultiTaskTraceNorm(C=C, penalty=penalty).fit(X, Y) for C in strengths]
        errors[penalty] = min(np.mean(model.predict(X)[Y == 0] != whole[Y == 0]) for model in fits)
    assert errors["trace"] < 0.8 * errors["frobenius"]


def test_tasks_with_rows_of_their_own_are_tasks_with_gaps():
    X, Y, _ = made(n=30, t=2)
    lists = mc.MultiTaskTraceNorm(C=0.3).fit([X[:18], X[18:]], [Y[:18, 0], Y[18:, 1]])
    gaps = np.where(np.arange(30)[:, None] < 18, Y * [1, 0], Y * [0, 1])
    np.testing.assert_array_equal(lists.coef_, mc.MultiTaskTraceNorm(C=0.3).fit(X, gaps).coef_)
    assert lists.predict(X).shape == (30, 2)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_a_saved_model_gives_the_same_bits(kernel, tmp_path):
    X, Y, _ = made(n=30)
    X = X @ X.T if kernel == "precomputed" else X
    model = mc.MultiTaskTraceNorm(kernel, C=0.1).fit(X, Y)
    model.save(tmp_path / "model")
    found = mc.load(tmp_path / "model")
    for method in ("decision_function", "transform", "predict"):
        np.testing.assert_array_equal(getattr(found, method)(X), getattr(model, method)(X))


def test_answers_may_differ_between_tasks(tmp_path):
    X, Y, _ = made(n=30, t=2)
    answers = np.stack([np.where(Y[:, 0] > 0, "yes", "no"), np.where(Y[:, 1] > 0, "b", "a")], axis=1)
    model = mc.MultiTaskTraceNorm(C=1.0, missing_label=None).fit(X, answers)
    assert [pair.tolist() for pair in model.classes_] == [["no", "yes"], ["a", "b"]]
    assert np.mean(model.predict(X) == answers) > 0.9
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(mc.load(tmp_path / "model").predict(X), model.predict(X))


def test_the_score_counts_known_answers_alone():
    X, Y, whole = made(known=0.5)
    model = mc.MultiTaskTraceNorm(C=0.1).fit(X, Y)
    right = model.predict(X) == whole
    assert model.score(X, Y) == pytest.approx(right[Y != 0].mean())
    weights = np.random.default_rng(0).random(len(X))
    expected = (right * (Y != 0) * weights[:, None]).sum() / ((Y != 0) * weights[:, None]).sum()
    assert model.score(X, Y, sample_weight=weights) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"y must have shape \(80, 10\), as predictions have; got \(80, 3\)"):
        model.score(X, Y[:, :3])


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, Y, _ = made(n=30)
    model = mc.MultiTaskTraceNorm(C=0.1).fit(X, Y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="2 classes"):
        model.fit(X[:, :3], np.ones((30, 10)))
    assert vars(model) == before

"""Stochastic machines of fewer rows than columns are those that are learned from all columns."""

import numpy as np
import pytest
from scipy import sparse

import manyclass as mc
from manyclass.solvers import problem

OBJECTIVES = ("ovr", "multiclass", "ranking", "warp", "softmax")


def _data(dtype=np.float32, n=90, d=700, k=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = 0.15 * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d))
    X[1] = X[0]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[-1] = 0
    return X.astype(dtype), y


@pytest.fixture
def always(monkeypatch):
    """Coordinates are taken however small X is; gives a function that turns them off."""
    monkeypatch.setattr(problem, "NUMBERS", 1)
    return lambda: monkeypatch.setattr(problem, "FACTOR", 10**9)


def _both(always, X, y, settings, **fit):
    turned = mc.StochasticClassifier(random_state=0, **settings).fit(X, y, **fit)
    always()
    return turned, mc.StochasticClassifier(random_state=0, **settings).fit(X, y, **fit)


def _assert_same(turned, plain):
    assert turned.coef_.shape == plain.coef_.shape
    assert turned.coef_.dtype == np.float32
    assert turned.coef_.flags.c_contiguous
    size = np.abs(plain.coef_).max()
    np.testing.assert_allclose(turned.coef_, plain.coef_, atol=2e-4 * size)
    np.testing.assert_allclose(turned.intercept_, plain.intercept_, atol=1e-4)
    np.testing.assert_array_equal(turned.steps_, plain.steps_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_the_steps_of_every_objective_are_the_same(always, objective, dtype):
    X, y = _data(dtype)
    settings = {"objective": objective, "step": 0.5, "beta": 2.0, "max_epochs": 4, "early_stopping": False}
    _assert_same(*_both(always, X, y, settings))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "squared"])
@pytest.mark.parametrize("regularization", [0.0, 1e-2])
def test_the_steps_of_every_loss_are_the_same(always, loss, regularization):
    X, y = _data()
    settings = {"loss": loss, "regularization": regularization, "step": 0.1, "beta": None, "max_epochs": 4,
                "early_stopping": False, "step_decay": True, "t0": 50}  # fmt: skip
    _assert_same(*_both(always, X, y, settings))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_search_and_stopping_find_the_same(always, objective):
    X, y = _data(n=150)
    turned, plain = _both(always, X, y, {"objective": objective, "loss": "squared_hinge", "class_weight": "balanced"})
    # The unit of steps is the square of a row, which rounds.
    np.testing.assert_allclose(turned.step_, plain.step_, rtol=1e-6)
    assert (turned.beta_, turned.n_epochs_) == (plain.beta_, plain.n_epochs_)
    assert [row.get("accuracy") for row in turned.history_] == [row.get("accuracy") for row in plain.history_]
    _assert_same(turned, plain)


def test_sample_weights_and_a_validation_set_count_as_they_do_for_all_columns(always):
    X, y = _data(n=150)
    weights = np.random.default_rng(1).uniform(0, 2, 150) * (np.arange(150) % 9 > 0)
    others = _data(n=60, seed=0)
    turned, plain = _both(
        always, X, y, {"loss": "logistic", "max_epochs": 12}, sample_weight=weights, validation=others
    )
    assert [row["accuracy"] for row in turned.history_] == [row["accuracy"] for row in plain.history_]
    _assert_same(turned, plain)


@pytest.mark.parametrize("kind", ["sparse", "codes", "shards"])
def test_rows_of_every_kind_are_learned_from_their_coordinates(always, kind):
    X, y = _data()
    matrix = {
        "sparse": lambda: sparse.csr_array(np.where(np.abs(X) > 0.06, X, 0)),
        "codes": lambda: mc.ProductQuantizer(block=4, n_centroids=16, random_state=0).fit(X).encode(X),
        "shards": lambda: mc.ShardedMatrix([X[:40], X[40:].astype(np.float64)]),
    }[kind]()
    settings = {"loss": "squared_hinge", "step": 0.1, "beta": 2.0, "max_epochs": 4, "early_stopping": False}
    _assert_same(*_both(always, matrix, y, settings))


def test_the_bits_do_not_depend_on_threads(always):
    X, y = _data()
    one, three = (mc.StochasticClassifier(random_state=0, n_threads=m, max_epochs=5).fit(X, y) for m in (1, 3))
    np.testing.assert_array_equal(one.coef_, three.coef_)


def test_a_warm_start_and_more_batches_go_on_from_the_lifted_machines(always):
    X, y = _data()
    settings = {"step": 0.1, "beta": 2.0, "max_epochs": 3, "early_stopping": False, "warm_start": True}
    turned = mc.StochasticClassifier(random_state=0, **settings).fit(X, y)
    always()
    plain = mc.StochasticClassifier(random_state=0, **settings).fit(X, y)
    for clf in (turned, plain):
        clf.fit(X, y).partial_fit(X, y)
    _assert_same(turned, plain)


class _KilledError(Exception):
    pass


def _kill_after(epochs):
    def callback(record):
        if record["epoch"] == epochs:
            raise _KilledError

    return callback


def test_a_killed_fit_goes_on_to_the_same_bits(always, tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._SECONDS", 0.0)
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._TIMES", 0.0)
    X, y = _data()
    settings = {"random_state": 0, "max_epochs": 6, "early_stopping": False}
    with pytest.raises(_KilledError):
        mc.StochasticClassifier(checkpoint=tmp_path / "run", callbacks=[_kill_after(3)], **settings).fit(X, y)
    epochs = []
    resumed = mc.StochasticClassifier(
        checkpoint=tmp_path / "run", callbacks=[lambda record: epochs.append(record["epoch"])], **settings
    ).fit(X, y)
    assert epochs == [3, 4, 5, 6]
    np.testing.assert_array_equal(resumed.coef_, mc.StochasticClassifier(**settings).fit(X, y).coef_)


def test_a_checkpoint_of_all_columns_is_not_taken_for_one_of_coordinates(always, tmp_path):
    X, y = _data()
    settings = {"random_state": 0, "max_epochs": 6, "early_stopping": False, "checkpoint": tmp_path / "run"}
    with pytest.raises(_KilledError):
        mc.StochasticClassifier(callbacks=[_kill_after(3)], **settings).fit(X, y)
    always()
    with pytest.raises(ValueError, match="belongs to another fit, which differs in X"):
        mc.StochasticClassifier(**settings).fit(X, y)


def test_machines_that_scikit_learn_s_callbacks_see_have_all_columns(always):
    from manyclass.estimators.callbacks import FitTask

    X, y = _data()
    told = []

    class Context:
        def call_on_fit_task_begin(self, **what): ...

        def call_on_fit_task_end(self, reconstruction_attributes, **what):
            told.append(reconstruction_attributes()["coef_"].shape)

        def subcontext(self, *_, **__):
            return self

    class Told(mc.StochasticClassifier):
        def _init_callback_context(self, **what):
            return Context()

    FitTask(Told(), X, y, 1)
    Told(random_state=0, step=0.1, beta=2.0, max_epochs=2, early_stopping=False).fit(X, y)
    assert set(told) == {(5, 700)}

"""partial_fit: settings that change between its calls, and what it costs."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.solvers.sgd.descent import AveragedWeights
from manyclass.solvers.sgd.linear_weights import LinearWeights
from tests.estimators.problems import blobs

X, Y = blobs(spread=1.0)
KNOWN = {"step": 0.3, "beta": 2, "regularization": 0.01, "step_decay": True, "class_weight": {0: 1.0}}
CHANGES = [
    {"step": 0.05},
    {"beta": 4},
    {"beta": None},
    {"regularization": 0.5},
    {"step_decay": False},
    {"class_weight": {0: 9.0}},
    {"sampling": "balanced"},
]


def model(**settings):
    return mc.StochasticClassifier(**{"n_threads": 1, "random_state": 0, **settings})


def begun(**settings):
    return model(**settings).partial_fit(X, Y, classes=range(6))


@pytest.mark.parametrize("change", CHANGES)
def test_a_setting_that_changes_counts_from_the_next_batch_on(change):
    changed, same = begun(**KNOWN), begun(**KNOWN)
    np.testing.assert_array_equal(changed.coef_, same.coef_)
    assert not np.array_equal(changed.set_params(**change).partial_fit(X, Y).coef_, same.partial_fit(X, Y).coef_)


def test_the_step_and_beta_that_are_told_are_those_of_the_last_batch():
    running = begun(**KNOWN).set_params(step=0.05, beta=3).partial_fit(X, Y)
    assert (running.step_, running.beta_) == (0.05, 3)


def test_settings_that_are_put_back_make_the_batches_that_others_make():
    put_back = begun(**KNOWN).set_params(step=5.0, regularization=0.1)
    put_back.set_params(**KNOWN)
    np.testing.assert_array_equal(put_back.partial_fit(X, Y).coef_, begun(**KNOWN).partial_fit(X, Y).coef_)


def test_what_is_auto_stays_what_was_found_first():
    running = begun(step="auto", beta="auto")
    found = running.step_, running.beta_
    running.set_params(step=7.0, beta=1).partial_fit(X, Y)
    running.set_params(step="auto", beta="auto").partial_fit(X[:3], Y[:3])
    assert (running.step_, running.beta_) == found


def test_the_unit_of_x_is_that_of_the_first_batch():
    running = begun(**KNOWN)
    rate = running._running.plan.schedule.bias_rate
    with pytest.warns(UserWarning, match="scale the rows of both in the same way"):
        running.partial_fit(100 * X, Y)
    assert running._running.plan.schedule.bias_rate == rate


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objective": "softmax"}, "objective must stay 'ovr' for partial_fit, .* got 'softmax'; call fit, or use a"),
        ({"loss": "logistic"}, "loss must stay 'hinge' for partial_fit, .* got 'logistic'; call fit, or use a"),
    ],
)
def test_another_objective_or_loss_is_refused_and_fit_is_the_way_out(fitted, change, words):
    running = model(max_epochs=2).fit(X, Y) if fitted else begun(max_epochs=2)
    with pytest.raises(ValueError, match=words):
        running.set_params(**change).partial_fit(X, Y)
    assert running.fit(X, Y).partial_fit(X, Y).score(X, Y) > 0.5


def test_a_loss_that_the_objective_does_not_use_may_change():
    running = begun(objective="softmax").set_params(loss="logistic").partial_fit(X, Y)
    np.testing.assert_array_equal(running.coef_, begun(objective="softmax").partial_fit(X, Y).coef_)


@pytest.mark.parametrize("fitted", [False, True])
def test_a_batch_copies_the_machines_once_and_takes_no_mean(monkeypatch, fitted):
    running = model(max_epochs=2).fit(X, Y) if fitted else begun()
    copies = []
    copy = LinearWeights.copy
    monkeypatch.setattr(LinearWeights, "copy", lambda machines: copies.append(1) or copy(machines))
    monkeypatch.setattr(LinearWeights, "of", lambda *_: pytest.fail("a second copy"))
    monkeypatch.setattr(AveragedWeights, "average", lambda *_: pytest.fail("a mean"))
    running.partial_fit(X, Y)
    assert len(copies) == 1


@pytest.mark.parametrize("fitted", [False, True])
def test_a_batch_that_fails_on_the_way_leaves_all_as_it_was(fitted):
    settings = {"loss": "squared", "step": 0.1, "max_epochs": 2}
    running, twin = ((model(**settings).fit(X, Y) if fitted else begun(**settings)) for _ in range(2))
    with pytest.raises(FloatingPointError):
        running.set_params(step=1e30).partial_fit(X, Y)
    np.testing.assert_array_equal(running.coef_, twin.coef_)
    assert running.step_ == 0.1
    running.set_params(step=0.1)
    np.testing.assert_array_equal(running.partial_fit(X, Y).coef_, twin.partial_fit(X, Y).coef_)

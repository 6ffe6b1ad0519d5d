"""The objective that "auto" stands for, and columns that have units of their own."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.solvers.sgd import tuning


def line(n=600, k=6, seed=0):
    """Classes one after the other along a line: those in the middle cannot be told from all others at once."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return np.column_stack([y + 0.15 * rng.normal(size=n), rng.normal(size=n)]).astype(np.float32), y


def units(n=600, k=5, seed=0):
    """Classes that differ in small columns, beside a large one that tells nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = np.column_stack([3 * np.eye(k)[y] + rng.normal(size=(n, k)), 1e3 * rng.normal(size=n) + 1e4])
    return X.astype(np.float32), y


def fitted(X, y, **settings):
    return mc.StochasticClassifier(random_state=0, **settings).fit(X, y)


def test_classes_among_others_are_learned_by_softmax():
    (X, y), (X_test, y_test) = line(), line(seed=1)
    found = fitted(X, y)
    assert found.trained_ == ("softmax", "hinge")
    assert found.objective == "auto"
    assert found.score(X_test, y_test) > 0.95 > 0.7 > fitted(X, y, objective="ovr").score(X_test, y_test)
    np.testing.assert_allclose(found.predict_proba(X_test).sum(axis=1), 1, atol=1e-5)


def test_columns_of_any_unit_are_learned_from_without_a_warning():
    (X, y), (X_test, y_test) = units(), units(seed=1)
    found = fitted(X, y)  # warnings are errors
    with pytest.warns(UserWarning, match="divide the columns"):
        plain = fitted(X, y, objective="ovr")
    assert found.score(X_test, y_test) > plain.score(X_test, y_test) + 0.3
    assert found.coef_.shape == (5, 6)


@pytest.mark.parametrize(
    "given",
    [{"step": 1e-9}, {"beta": 2.0}, {"regularization": 1e-3}, {"loss": "logistic"}, {"sampling": "balanced"}],
    ids=str,
)
def test_settings_that_keep_columns_as_they_are_are_told_of_unlike_ones(given):
    with pytest.warns(UserWarning, match="divide the columns"):
        fitted(*units(), max_epochs=2, **given)


def test_more_classes_than_a_table_has_are_told_of_unlike_columns():
    X, y = units(600, 5)
    with pytest.warns(UserWarning, match="divide the columns"):
        fitted(X, np.arange(600) % 300, max_epochs=1)
    again = mc.StochasticClassifier(max_epochs=1, random_state=0)
    with pytest.warns(UserWarning, match="divide the columns"):
        again.fit(X, np.arange(600) % 300)
    again.fit(X, y)  # warnings are errors: the classes of now count


def test_batches_are_told_of_unlike_columns_which_they_keep():
    X, y = units()
    with pytest.warns(UserWarning, match="divide the columns"):
        mc.StochasticClassifier(random_state=0).partial_fit(X, y, classes=range(5))


def test_where_nothing_is_gained_it_is_one_vs_rest_to_the_bit():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 8
    X = (np.eye(8)[y] + 0.1 * rng.normal(size=(400, 8))).astype(np.float32)
    found, plain = fitted(X, y), fitted(X, y, objective="ovr")
    assert found.trained_ == plain.trained_ == ("ovr", "hinge")
    np.testing.assert_array_equal(found.coef_, plain.coef_)


@pytest.mark.parametrize("settings", [{"loss": "logistic"}, {"step": 0.1}, {"regularization": 1e-3}], ids=str)
def test_settings_that_belong_to_one_vs_rest_keep_it(settings):
    assert fitted(*line(300), **settings).trained_[0] == "ovr"


@pytest.fixture
def no_table(monkeypatch):
    """However few columns and classes there are, they are more than a table has; least squares are no guide."""
    monkeypatch.setattr(tuning, "TABLE", 1)
    monkeypatch.setattr(tuning, "_LEAST_WORK", 1)
    monkeypatch.setattr(tuning.LeastSquaresStart, "find_steps", lambda start: 0)


def test_many_classes_are_learned_together_where_that_is_better(no_table):
    (X, y), (X_test, y_test) = line(), line(seed=1)
    found = fitted(X, y)
    assert found.trained_ == ("multiclass", "hinge")
    assert found.n_iter_ == 0
    assert found.score(X_test, y_test) > 0.9 > 0.7 > fitted(X, y, objective="ovr").score(X_test, y_test)
    np.testing.assert_allclose(found.predict_proba(X_test).sum(axis=1), 1, atol=1e-5)


def test_the_step_of_classes_that_are_learned_together_follows_the_length_of_rows(no_table):
    X, y = line()
    found = fitted(X, y)
    assert fitted(8 * X, y).step_ == pytest.approx(found.step_ / 64)
    given = fitted(X, y, objective="multiclass", step=found.step_)
    np.testing.assert_array_equal(given.coef_, found.coef_)


def test_few_classes_of_more_columns_than_a_table_has_stay_apart(no_table, monkeypatch):
    X, y = line()
    monkeypatch.setattr(tuning, "TABLE", 6)
    assert fitted(np.tile(X, 4), y).trained_ == ("ovr", "hinge")


@pytest.mark.parametrize("settings", [{}, {"early_stopping": False, "max_epochs": 5}], ids=str)
def test_many_classes_stay_apart_where_least_squares_were_not_tried(no_table, monkeypatch, settings):
    if not settings:
        monkeypatch.setattr(tuning, "_LEAST_WORK", 1 << 60)
    assert fitted(*line(), **settings).trained_ == ("ovr", "hinge")


def test_many_classes_of_more_work_than_a_little_stay_apart(no_table, monkeypatch):
    monkeypatch.setattr(tuning, "_JOINT_WORK", 540 * 2 * 6 - 1)
    assert fitted(*line()).trained_ == ("ovr", "hinge")
    monkeypatch.setattr(tuning, "_JOINT_WORK", 540 * 2 * 6)
    assert fitted(*line()).trained_ == ("multiclass", "hinge")


@pytest.mark.parametrize("given", [{"step": 0.1}, {"beta": 2.0}, {"loss": "squared_hinge"}, {"sampling": "balanced"}])
def test_who_gives_a_setting_of_many_classes_gets_one_vs_rest(no_table, given):
    assert fitted(*line(300), **given).trained_[0] == "ovr"


def test_classes_learned_together_go_on_after_an_interruption_and_with_batches(no_table, tmp_path):
    X, y = line()
    whole = fitted(X, y)

    def interrupt(record):
        if record["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(X, y, checkpoint=tmp_path / "fit", callbacks=[interrupt])
    again = fitted(X, y, checkpoint=tmp_path / "fit")
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    assert again.partial_fit(X, y).trained_ == whole.trained_ == ("multiclass", "hinge")


@pytest.mark.parametrize("make", [line, units])
def test_a_fit_that_was_interrupted_goes_on_to_the_same_bits(make, tmp_path):
    X, y = make()
    whole = fitted(X, y)

    def interrupt(record):
        if record["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(X, y, checkpoint=tmp_path / "fit", callbacks=[interrupt])
    again = fitted(X, y, checkpoint=tmp_path / "fit")
    assert again.trained_ == whole.trained_
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    np.testing.assert_array_equal(again.intercept_, whole.intercept_)


def test_threads_change_no_bit_of_it():
    found = [fitted(*units(), n_threads=n_threads) for n_threads in (1, 3)]
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


def test_a_given_validation_set_is_seen_in_the_same_columns():
    (X, y), (X_test, y_test) = units(), units(seed=1)
    found = mc.StochasticClassifier(random_state=0).fit(X, y, validation=(X_test, y_test))
    assert found.score(X_test, y_test) > 0.8
    judged = max(record.get("accuracy", 0) for record in found.history_)
    assert judged == pytest.approx(found.score(X_test, y_test), abs=0.05)


def test_the_temperature_is_one_of_rows_as_they_came():
    (X, y), (X_test, y_test) = units(2000), units(2000, seed=1)
    found = fitted(X, y)
    assert found.trained_[0] == "ovr" or not hasattr(found, "temperature_")
    P = found.predict_proba(X_test)
    assert abs(P.max(axis=1).mean() - found.score(X_test, y_test)) < 0.05


def test_batches_and_new_classes_go_on_with_what_was_chosen():
    X, y = line()
    found = fitted(X, y)
    found.partial_fit(X, y)
    assert found.trained_[0] == "softmax"
    k = len(found.classes_)
    found.add_classes(X, y + 100)
    assert (found.trained_[0], len(found.classes_)) == ("softmax", 2 * k)


def test_a_first_batch_is_learned_one_vs_rest():
    X, y = line()
    found = mc.StochasticClassifier(random_state=0).partial_fit(X, y, classes=np.arange(6))
    assert found.trained_[0] == "ovr"


def test_a_step_is_told_in_the_unit_of_the_columns_as_they_came():
    X, y = units()
    steps = [fitted(X * scale, y).step_ for scale in (1, 8)]
    assert steps[0] == pytest.approx(64 * steps[1], rel=1e-3)
    assert steps[0] * np.median((X**2).sum(axis=1)) < 100


@pytest.mark.parametrize("given", [{"beta": 3.0}, {"beta": None}, {"loss": "squared_hinge"}, {"step": 0.05}])
def test_who_gives_a_setting_of_one_vs_rest_gets_one_vs_rest(given):
    assert fitted(*line(), **given).trained_ == ("ovr", given.get("loss", "hinge"))

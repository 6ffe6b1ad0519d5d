"""One-vs-rest and softmax that begin from least squares, where the search for a step would cost more."""

import numpy as np
import pytest
from scipy.special import logsumexp

import manyclass as mc
from manyclass.solvers import conjugate_gradient
from manyclass.solvers.sgd import tuning

N_TRAIN = 900


def _data(n=1200, d=100, k=12, seed=0, noise=4.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.normal(size=(k, d))[y] + noise * rng.normal(size=(n, d))
    return (X / np.sqrt(d)).astype(np.float32), y


X, Y = _data()
TRAIN, TEST = (X[:N_TRAIN], Y[:N_TRAIN]), (X[N_TRAIN:], Y[N_TRAIN:])


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """However small the problem is; gives a function that turns it off."""
    monkeypatch.setattr(tuning, "_LEAST_WORK", 1)
    return lambda: monkeypatch.setattr(tuning, "_LEAST_WORK", 1 << 60)


def _fit(rows=TRAIN, validation=None, **settings):
    return mc.StochasticClassifier(**{"random_state": 0, **settings}).fit(*rows, validation=validation)


def _phases(fitted):
    return [record["phase"] for record in fitted.history_]


def _assert_same_bits(one, two):
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)
    assert (one.step_, one.beta_, one.n_iter_, one.n_epochs_) == (two.step_, two.beta_, two.n_iter_, two.n_epochs_)


def test_a_start_that_is_not_surpassed_takes_one_epoch_and_is_as_good_as_the_search(always):
    started = _fit()
    assert started.n_iter_ > 0
    assert _phases(started) == ["train"] * 4 + ["refit"]  # it is judged after every second epoch of few rows
    assert started.n_epochs_ == 1
    always()
    searched = _fit()
    assert searched.n_iter_ == 0
    assert started.score(*TEST) > searched.score(*TEST) - 0.02


def test_softmax_begins_with_least_squares_too_and_is_as_good_as_the_search(always):
    started = _fit(objective="softmax")
    assert started.n_iter_ > 0
    assert started.n_epochs_ == 1
    always()
    searched = _fit(objective="softmax")
    assert searched.n_iter_ == 0
    assert started.score(*TEST) > searched.score(*TEST) - 0.02


def test_the_start_of_softmax_has_the_scale_that_fits_rows_held_out():
    started = _fit(objective="softmax", validation=TEST)
    assert (started.n_iter_ > 0, started.n_epochs_) == (True, 0)  # the start itself

    def loss(factor):
        S = factor * started.decision_function(TEST[0])
        return float(np.mean(logsumexp(S, axis=1) - S[np.arange(len(S)), TEST[1]]))

    assert loss(1.0) < min(loss(0.9), loss(1.1))


def test_a_start_that_is_surpassed_is_left_and_trained_as_long_as_it_gets_better(monkeypatch):
    # Machines of one step that are turned around: nearly everything is wrong at first.
    of = tuning.LeastSquaresStart._with_margins

    def wrong(start, W, b):
        machines = of(start, W, b)
        machines.W[...] = machines.W[::-1].copy()
        return machines

    monkeypatch.setattr(tuning.LeastSquaresStart, "_with_margins", wrong)
    monkeypatch.setattr(tuning.LeastSquaresStart, "_means_are_better", lambda *_: False)
    fitted = _fit(patience=3)
    assert fitted.n_iter_ > 0
    assert fitted.n_epochs_ == _phases(fitted).count("refit") > 1
    monkeypatch.undo()
    assert fitted.score(*TEST) > _fit().score(*TEST) - 0.05


@pytest.mark.parametrize(
    "settings",
    [{"step": 0.1}, {"objective": "multiclass"}, {"loss": "logistic"}, {"loss": "squared"},
     {"loss": "squared_hinge"}, {"early_stopping": False},
     {"regularization": 1e-4}, {"sampling": "balanced"}],
)  # fmt: skip
def test_other_settings_begin_from_zero_to_the_same_bits(always, settings):
    started = _fit(max_epochs=3, **settings)
    assert started.n_iter_ == 0
    always()
    _assert_same_bits(started, _fit(max_epochs=3, **settings))


def test_a_warm_start_begins_from_the_machines_that_are_there():
    clf = mc.StochasticClassifier(random_state=0, warm_start=True).fit(*TRAIN)
    assert clf.n_iter_ > 0
    assert clf.fit(*TRAIN).n_iter_ == 0


def test_where_the_error_falls_for_many_steps_it_begins_from_zero(always, monkeypatch):
    n_iter = _fit().n_iter_
    monkeypatch.setattr(conjugate_gradient, "_MOST_STEPS", n_iter + 1)
    assert _fit().n_iter_ == n_iter
    monkeypatch.setattr(conjugate_gradient, "_MOST_STEPS", n_iter)
    started = _fit(max_epochs=3)
    assert started.n_iter_ == 0
    always()
    _assert_same_bits(started, _fit(max_epochs=3))


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_rows_that_are_all_the_same_begin_from_zero(value):
    fitted = _fit((np.full((120, 8), value, np.float32), np.arange(120) % 3), max_epochs=2)
    assert fitted.n_iter_ == 0
    assert np.isfinite(fitted.coef_).all()


def test_a_beta_that_is_given_is_used():
    assert _fit(beta=3.0).beta_ == 3.0


@pytest.mark.parametrize(
    "settings",
    [{}, {"validation": TEST}, {"refit": False}, {"class_weight": "balanced"}, {"objective": "softmax"}],
)  # fmt: skip
def test_the_number_of_threads_changes_no_bit(settings):
    _assert_same_bits(_fit(n_threads=1, **settings), _fit(n_threads=2, **settings))


@pytest.mark.parametrize("settings", [{"refit": False}, {"validation": TEST}])
def test_without_a_refit_the_start_itself_is_kept_if_it_is_not_surpassed(settings):
    fitted = _fit(**settings)
    assert set(_phases(fitted)) == {"train"}
    assert (fitted.n_iter_ > 0, fitted.n_epochs_) == (True, 0)


def test_the_start_has_the_margins_that_the_hinge_wants():
    margins, own = _fit(validation=TEST).decision_function(TRAIN[0]), TRAIN[1][:, None] == np.arange(12)
    np.testing.assert_allclose([margins[own].mean(), margins[~own].mean()], [1, -1], atol=1e-4)


def test_weights_count_as_rows_that_occur_again():
    weights = 1 + (np.arange(N_TRAIN) % 3 == 0)
    weighted = mc.StochasticClassifier(random_state=0, refit=False).fit(*TRAIN, validation=TEST, sample_weight=weights)
    again = np.repeat(np.arange(N_TRAIN), weights)
    repeated = mc.StochasticClassifier(random_state=0, refit=False).fit(X[again], Y[again], validation=TEST)
    assert weighted.n_iter_ == repeated.n_iter_ > 0
    assert weighted.n_epochs_ == repeated.n_epochs_ == 0
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3 * np.abs(repeated.coef_).max())


@pytest.mark.parametrize("kind", ["quantized", "mapped", "shards", "float64"])
def test_rows_of_every_kind_have_a_start(tmp_path, kind):
    if kind == "quantized":
        rows = mc.ScalarQuantizer().fit(TRAIN[0]).encode(TRAIN[0])
    elif kind == "mapped":
        np.save(tmp_path / "X.npy", TRAIN[0])
        rows = mc.as_matrix(np.load(tmp_path / "X.npy", mmap_mode="r"))
    elif kind == "shards":
        rows = mc.ShardedMatrix([TRAIN[0][:500], TRAIN[0][500:]])
    else:
        rows = TRAIN[0].astype(np.float64)
    fitted = _fit((rows, TRAIN[1]))
    assert fitted.n_iter_ > 0
    assert fitted.score(*TEST) > 0.9 * _fit().score(*TEST)


class _KilledError(Exception):
    pass


@pytest.mark.parametrize("objective", ["auto", "softmax"])
@pytest.mark.parametrize("epochs", [1, 2, 3, 5])
def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path, monkeypatch, epochs, objective):
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._SECONDS", 0.0)
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._TIMES", 0.0)
    seen = []

    def kill(record):
        seen.append(record)
        if len(seen) == epochs:
            raise _KilledError

    with pytest.raises(_KilledError):
        _fit(checkpoint=tmp_path / "run", callbacks=[kill], objective=objective)
    monkeypatch.setattr(tuning.LeastSquaresStart, "find_steps", None)
    resumed = _fit(checkpoint=tmp_path / "run", objective=objective)
    monkeypatch.undo()
    monkeypatch.setattr(tuning, "_LEAST_WORK", 1)
    _assert_same_bits(resumed, _fit(objective=objective))


def test_a_fit_that_began_from_least_squares_goes_on_so_where_others_would_not_begin(tmp_path, monkeypatch):
    """As that of another version may have, which had other limits."""
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._SECONDS", 0.0)
    monkeypatch.setattr("manyclass.solvers.sgd.checkpoint._TIMES", 0.0)

    def kill(record):
        raise _KilledError

    whole = _fit()
    with pytest.raises(_KilledError):
        _fit(checkpoint=tmp_path / "run", callbacks=[kill])
    monkeypatch.setattr(tuning, "_MOST_NUMBERS", 0)
    _assert_same_bits(_fit(checkpoint=tmp_path / "run"), whole)


def test_classes_that_are_added_are_trained_for_longer_than_the_one_epoch_of_a_start():
    old = TRAIN[1] < 9
    clf = mc.StochasticClassifier(random_state=0).fit(TRAIN[0][old], TRAIN[1][old])
    assert (clf.n_iter_ > 0, clf.n_epochs_) == (True, 1)
    clf.add_classes(*TRAIN)
    assert clf.score(*TEST) > _fit().score(*TEST) - 0.05


def test_a_saved_model_knows_its_start(tmp_path):
    clf = _fit()
    clf.save(tmp_path / "model")
    assert mc.load(tmp_path / "model").n_iter_ == clf.n_iter_


@pytest.mark.parametrize("uneven", ["weights", "lengths", "a few rows"])
def test_where_few_rows_make_the_squares_it_begins_from_zero(uneven):
    rng = np.random.default_rng(0)
    (X, y), weights = TRAIN, None
    if uneven == "weights":
        weights = rng.lognormal(0, 2, len(y))
    elif uneven == "lengths":
        X = X * rng.lognormal(0, 1.5, (len(y), 1)).astype(np.float32)
    else:
        X = X * np.where(np.arange(len(y)) % 100 == 0, 100, 1).astype(np.float32)[:, None]
    fitted = mc.StochasticClassifier(random_state=0, max_epochs=2).fit(X, y, sample_weight=weights)
    assert fitted.n_iter_ == 0
    assert mc.StochasticClassifier(random_state=0, max_epochs=2).fit(*TRAIN).n_iter_ > 0


def test_few_rows_of_many_columns_begin_from_least_squares_however_few_they_are(always):
    X, y = _data(n=1290, d=400, k=30, noise=3.0)
    rows, tests = (X[:90], y[:90]), (X[90:], y[90:])
    always()  # but for the work
    few = _fit(rows)
    assert few.n_iter_ > 0
    assert _fit((rows[0][:, :100], rows[1]), objective="ovr").n_iter_ == 0
    assert few.score(*tests) > _fit(rows, step=few.step_).score(*tests) > 0.2

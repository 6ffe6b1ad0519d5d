"""StochasticClassifier: its phases, its ways to go on, and problems of odd shapes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from solvers import twins

import manyclass as mc
from manyclass.solvers.problem import Problem
from tests.estimators.problems import blobs

OBJECTIVES = ["ovr", "multiclass", "ranking", "warp", "softmax"]
X, Y = blobs()


def model(**settings):
    return mc.StochasticClassifier(**{"max_epochs": 6, "n_threads": 1, "random_state": 0, **settings})


def phases(fitted):
    return [record["phase"] for record in fitted.history_]


# Threads.


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("beta", [None, 1.5])
def test_the_number_of_threads_changes_no_bit(objective, beta):
    rows, y = blobs(k=300, per_class=2, d=17)
    settings = {"objective": objective, "beta": beta, "step": 0.3, "max_epochs": 2}
    one, *others = (model(**settings, n_threads=n).fit(rows, y) for n in (1, 2, 3))
    for other in others:
        np.testing.assert_array_equal(other.coef_, one.coef_)
        np.testing.assert_array_equal(other.intercept_, one.intercept_)


def test_fit_leaves_the_number_of_threads_as_it_was():
    with mc.threads(2):
        model(n_threads=1).fit(X, Y)
        assert mc.get_threads() == 2


# Validation, early stopping, refit.


def test_early_stopping_judges_training_and_then_refits_on_everything():
    fitted = model().fit(X, Y)
    train = [record for record in fitted.history_ if record["phase"] == "train"]
    refit = [record for record in fitted.history_ if record["phase"] == "refit"]
    assert all("accuracy" in record for record in train)
    assert {record["examples"] for record in train} == {len(X) - 6}
    assert {record["examples"] for record in refit} == {len(X)}
    best = max((record["accuracy"], record["epoch"]) for record in train)[1]
    assert len(refit) == fitted.n_epochs_ == best


def test_without_refit_the_machines_of_training_are_kept():
    fitted = model(refit=False).fit(X, Y)
    assert set(phases(fitted)) == {"train"}
    assert fitted.score(X, Y) > 0.9


def test_without_early_stopping_all_epochs_see_all_rows():
    fitted = model(early_stopping=False).fit(X, Y)
    assert phases(fitted) == ["train"] * 6
    assert {record["examples"] for record in fitted.history_} == {len(X)}
    assert not any("accuracy" in record for record in fitted.history_)


def test_patience_ends_training():
    fitted = model(max_epochs=50, patience=2, refit=False).fit(X, Y)
    assert len(fitted.history_) < 50


def test_epochs_of_ranking_are_counted_and_judged_in_rounds_of_the_root_of_k():
    rows, y = blobs(k=25, per_class=4)
    fitted = model(objective="ranking", max_epochs=3, step=0.1, refit=False).fit(rows, y)
    assert len(fitted.history_) == 3 * 5
    assert [record["epoch"] for record in fitted.history_ if "accuracy" in record] == [5, 10, 15]


def test_a_refit_of_ranking_takes_as_many_epochs_as_training_found_best():
    rows, y = blobs(k=25, per_class=8)
    fitted = model(objective="ranking", max_epochs=3, step=0.1).fit(rows, y)
    train = [record for record in fitted.history_ if record["phase"] == "train"]
    best = max((record["accuracy"], record["epoch"]) for record in train if "accuracy" in record)[1]
    assert phases(fitted).count("refit") == fitted.n_epochs_ == best > 3


def test_with_a_validation_set_nothing_is_held_out():
    fitted = model().fit(X, Y, validation=blobs(per_class=3))
    assert set(phases(fitted)) == {"train"}
    assert {record["examples"] for record in fitted.history_} == {len(X)}


def test_a_validation_set_may_lack_classes():
    few = Y < 2
    fitted = model().fit(X, Y, validation=(X[few], Y[few]))
    assert fitted.history_[-1]["accuracy"] > 0.9


def test_without_early_stopping_a_validation_set_is_watched_and_decides_nothing():
    settings = {"early_stopping": False, "max_epochs": 9, "patience": 1, "tolerance": 1.0}
    wrong = (X, (Y + 1) % 6)  # on it, the first machines are the best
    watched, plain = model(**settings).fit(X, Y, validation=wrong), model(**settings).fit(X, Y)
    assert all("accuracy" in record and "judging_seconds" in record for record in watched.history_)
    assert not any("accuracy" in record for record in plain.history_)
    assert len(watched.history_) == watched.n_epochs_ == 9
    np.testing.assert_array_equal(watched.coef_, plain.coef_)


def test_a_validation_set_that_is_watched_is_judged_at_the_end_too():
    rows, y = blobs(k=25, per_class=4)
    fitted = model(beta=1, step=0.1, early_stopping=False).fit(rows, y, validation=(rows, y))
    assert [record["epoch"] for record in fitted.history_ if "accuracy" in record] == [4, 6]
    assert fitted.history_[-1]["accuracy"] == fitted.score(rows, y)


@pytest.mark.parametrize(
    ("validation", "words"),
    [
        (X, r"validation must be \(X, y\); got ndarray$"),
        ((X, Y, Y), r"validation must be \(X, y\); got tuple of 3$"),
        ((X, Y + 1), r"validation must be .*: labels must be among the 6 classes; got 6 at row \d+$"),
        ((X, Y.astype(str)), "validation must be .*: labels must be of the kind of the classes"),
        ((X + np.nan, Y), "validation must be .*: X must hold finite numbers; row 0"),
        ((X[:0], Y[:0]), "validation must be .*: .*0 sample"),
        ((X[:, :3], Y), "validation must be .*: X has 3 features"),
        ((X, Y[:3]), "validation must be .*: y must have one label per row of X"),
        ((X, None), "validation must be .*: .*y is None"),
    ],
)
def test_errors_of_a_validation_set_say_so(validation, words):
    with pytest.raises(ValueError, match=words):
        model().fit(X, Y, validation=validation)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_without_averaging_the_machines_are_those_of_the_last_step(objective):
    """Batches are never averaged, and the rows of each come in the order of an epoch."""
    settings = {"objective": objective, "step": 0.3, "beta": 2, "early_stopping": False, "max_epochs": 1}
    last, mean = (model(**settings, averaging=averaging).fit(X, Y) for averaging in (False, True))
    batch = model(**settings)
    for _ in last.history_:
        batch.partial_fit(X, Y, classes=range(6))
    np.testing.assert_allclose(last.coef_, batch.coef_, rtol=1e-6)
    assert np.abs(mean.coef_ - batch.coef_).max() > 0.01 * np.abs(batch.coef_).max()


def test_t0_is_where_the_decay_begins():
    settings = {"step": 0.3, "early_stopping": False, "step_decay": True}
    late, early = (model(**settings, t0=t0).fit(X, Y) for t0 in (1e9, 5.0))
    plain = model(step=0.3, early_stopping=False).fit(X, Y)
    np.testing.assert_allclose(late.coef_, plain.coef_, rtol=1e-4, atol=1e-6)
    assert np.linalg.norm(early.coef_) < 0.8 * np.linalg.norm(plain.coef_)


# Warm start.


def test_a_warm_start_goes_on_from_the_machines_before():
    cold = model(early_stopping=False, max_epochs=1).fit(X, Y)
    warm = model(early_stopping=False, max_epochs=1, warm_start=True).fit(X, Y)
    np.testing.assert_array_equal(warm.coef_, cold.coef_)
    warm.fit(X, Y)
    assert warm.history_[0]["loss"] < cold.history_[0]["loss"]


@pytest.mark.parametrize(
    ("rows", "y", "words"),
    [
        (X, Y + 1, "the 6 classes of the last fit; got another one, 6"),
        (X[Y < 5], Y[Y < 5], "the 6 classes of the last fit; got none of the class 5"),
        (X[:, :5], Y, "the 8 columns of the last fit; got 5"),
        (X, np.array(list("abcdef"))[Y], "the 6 classes of the last fit; got another one, 'a'"),
    ],
    ids=["other labels", "fewer classes", "fewer columns", "strings"],
)
def test_a_warm_start_with_other_classes_or_columns_is_refused(rows, y, words):
    warm = model(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=f"warm_start needs {words}$"):
        warm.fit(rows, y)


# PartialFitState.

TWINS = {
    "ovr": lambda *a: twins.one_vs_rest(*a, "hinge", 2),
    "multiclass": lambda *a: twins.joint(*a, "max"),
    "ranking": lambda *a: twins.joint(*a, "random"),
    "warp": lambda *a: twins.joint(*a, "sampled"),
    "softmax": lambda *a: twins.softmax(*a, 32),
}


@pytest.mark.parametrize("decay", [False, True])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_batches_are_the_sequential_algorithm_over_their_rows(objective, decay):
    running = model(objective=objective, step=0.3, beta=2, regularization=0.01, step_decay=decay)
    twin = twins.Twin(6, 8)
    for call, at in enumerate((slice(0, 20), slice(20, 21), slice(21, 72))):
        running.partial_fit(X[at], Y[at], classes=range(6))
        batch = Problem.whole(mc.as_matrix(X[at]), Y[at], 6)
        TWINS[objective](twin, batch, running._running.plan.schedule, call)
    np.testing.assert_allclose(running.coef_, twin.W, atol=1e-4 * np.abs(twin.W).max())
    np.testing.assert_allclose(running.intercept_, twin.b, atol=1e-4 * np.abs(twin.W).max())
    assert running.n_epochs_ == len(running.history_) == 3


def test_the_first_batch_needs_all_classes():
    with pytest.raises(ValueError, match="classes must be passed on the first call to partial_fit"):
        model().partial_fit(X, Y)


def test_later_batches_cannot_change_the_classes():
    running = model().partial_fit(X, Y, classes=range(6)).partial_fit(X, Y, classes=range(6))
    with pytest.raises(ValueError, match="classes must be the same as in fit or in the first call to partial_fit"):
        running.partial_fit(X, Y, classes=range(7))


def test_a_batch_never_writes_into_the_machines_that_were_there():
    running = model().partial_fit(X, Y, classes=range(6))
    coef, kept = running.coef_, running.coef_.copy()
    running.partial_fit(X, Y)
    np.testing.assert_array_equal(coef, kept)
    assert not np.array_equal(running.coef_, kept)


def test_a_single_row_is_a_batch():
    running = model()
    for row, label in zip(X, Y, strict=True):
        running.partial_fit(row[None], [label], classes=range(6))
    assert running.score(X, Y) > 0.5


def test_batches_after_fit_go_on_from_it_and_a_new_fit_forgets_them():
    fitted, other = model().fit(X, Y), model().fit(X, Y)
    fitted.partial_fit(X, Y).fit(X, Y)
    np.testing.assert_array_equal(fitted.coef_, other.coef_)
    np.testing.assert_array_equal(fitted.partial_fit(X, Y).coef_, other.partial_fit(X, Y).coef_)


def test_the_record_of_a_batch_is_appended_and_that_of_fit_left_alone():
    running = model().fit(X, Y)
    of_fit = running.history_
    n = len(of_fit)
    history = running.partial_fit(X, Y).history_
    assert running.partial_fit(X, Y).history_ is history
    assert (len(of_fit), len(history)) == (n, n + 2)


def test_a_decaying_step_goes_on_to_decay_in_batches_after_fit(tmp_path):
    settings = {"step": 0.3, "beta": 2, "regularization": 0.1, "step_decay": True, "early_stopping": False}
    fitted, anew = model(**settings).fit(X, Y), model(**settings).fit(X, Y)
    seen, coef = fitted.steps_.copy(), fitted.coef_
    fitted.save(tmp_path / "model")
    anew.steps_ = np.zeros_like(seen)
    assert (seen >= 6 * 12).all()  # all positives in every epoch
    assert (fitted.partial_fit(X, Y).steps_ > seen).all()
    assert np.linalg.norm(fitted.coef_ - coef) < 0.5 * np.linalg.norm(anew.partial_fit(X, Y).coef_ - coef)
    np.testing.assert_array_equal(mc.load(tmp_path / "model").partial_fit(X, Y).coef_, fitted.coef_)


# Odd shapes.


@given(
    n=st.integers(2, 30), d=st.integers(1, 9), k=st.integers(2, 12), seed=st.integers(0, 3),
    objective=st.sampled_from(OBJECTIVES),
)  # fmt: skip
def test_any_small_problem_has_finite_machines(n, d, k, seed, objective):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(n, d)).astype(np.float32), np.concatenate([[0, 1], rng.integers(0, k, n - 2)])
    fitted = model(objective=objective, max_epochs=3).fit(rows, y)
    assert fitted.coef_.shape == (len(np.unique(y)), d)
    assert np.isfinite(fitted.coef_).all()
    assert set(fitted.predict(rows)) <= set(y)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_example_of_each_class_is_enough_to_know_it_again(objective):
    rows, y = np.eye(9, dtype=np.float32), np.arange(9)
    fitted = model(objective=objective, max_epochs=40).fit(rows, y)
    np.testing.assert_array_equal(fitted.predict(rows), y)
    assert set(phases(fitted)) == {"train"}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_classes_with_one_example_among_larger_ones_are_learned(objective):
    rows, y = blobs(k=4, per_class=15, d=12)
    rows, y = np.concatenate([rows, 2 * np.eye(12, dtype=np.float32)[:2]]), np.concatenate([y, [4, 5]])
    fitted = model(objective=objective, max_epochs=30).fit(rows, y)
    np.testing.assert_array_equal(fitted.predict(rows[-2:]), [4, 5])


@pytest.mark.parametrize("kind", [np.int64, str, object])
def test_many_classes_of_few_examples_are_no_cause_for_a_warning(kind):
    y = np.arange(60).astype(kind) if kind is not object else np.arange(60).astype(str).astype(object)
    assert model(step=1.0, max_epochs=2).fit(np.eye(60, dtype=np.float32), y).coef_.shape == (60, 60)


def test_a_batch_may_have_fewer_rows_than_there_are_classes():
    running = model().partial_fit(X[:5], Y[:5], classes=range(100))
    assert running.coef_.shape == (100, 8)
    assert np.isfinite(running.coef_).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_one_column_tells_two_classes_apart(objective):
    rows = np.linspace(-1, 1, 40, dtype=np.float32)[:, None]
    fitted = model(objective=objective, max_epochs=30).fit(rows, rows[:, 0] > 0)
    assert fitted.score(rows, rows[:, 0] > 0) > 0.9


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("value", [0, 1, 1e4])
def test_constant_features_teach_nothing_and_break_nothing(objective, value):
    rows = np.full((40, 3), value, np.float32)
    y = np.repeat([0, 1], [30, 10])
    fitted = model(objective=objective).fit(rows, y)
    assert np.isfinite(fitted.coef_).all()
    assert len(set(fitted.predict(rows))) == 1


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rows_of_zeros_among_others_do_no_harm(objective):
    rows = X.copy()
    rows[::10] = 0
    fitted = model(objective=objective).fit(rows, Y)
    assert fitted.score(np.delete(rows, np.s_[::10], axis=0), np.delete(Y, np.s_[::10])) > 0.85


def test_rows_that_occur_many_times_are_rows_like_others():
    fitted = model().fit(np.repeat(X[:12], 10, axis=0), np.repeat(Y[:12], 10))
    assert fitted.score(X[:12], Y[:12]) == 1


def test_the_same_seed_gives_the_same_bits_and_another_gives_others():
    assert np.array_equal(model().fit(X, Y).coef_, model().fit(X, Y).coef_)
    assert not np.array_equal(model().fit(X, Y).coef_, model(random_state=1).fit(X, Y).coef_)

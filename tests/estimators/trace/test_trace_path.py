"""TraceNormPath: the grid, what it finds, how it ends, and its drawings."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import manyclass as mc
from manyclass.estimators.trace import trace_path
from manyclass.solvers.batch.solve import solve
from tests.estimators.problems import blobs

X, Y = blobs(k=6, d=10, spread=0.8)
SMALL = {"traces": 3, "ridges": 2, "random_state": 0}


@pytest.fixture(scope="module")
def path():
    return mc.TraceNormPath(**SMALL).fit(X, Y)


def test_every_pair_has_a_row_and_the_best_accuracy_wins(path):
    assert len(path.table_) == 6
    best = max(path.table_, key=lambda row: row["accuracy"])
    assert (path.best_.trace, path.best_.ridge) == (best["trace"], best["ridge"])
    assert path.score(X, Y) > 0.8


def test_warm_starts_reach_the_objectives_of_cold_fits():
    X64 = X.astype(np.float64)  # float32 cannot prove the last pair
    path = mc.TraceNormPath(**SMALL).fit(X64, Y, validation=(X64, Y))
    for row in path.table_:
        cold = mc.TraceNormClassifier(row["trace"], row["ridge"]).fit(X64, Y)
        assert row["objective"] == pytest.approx(cold.objective_, rel=2e-4)
        assert row["accuracy"] == pytest.approx(cold.score(X64, Y), abs=0.03)


def test_the_best_is_refitted_on_everything(path):
    alone = mc.TraceNormClassifier(path.best_.trace, path.best_.ridge).fit(X, Y)
    assert path.best_.objective_ == pytest.approx(alone.objective_, rel=2e-4)


def test_given_strengths_are_taken_as_they_are():
    path = mc.TraceNormPath(traces=[0.01, 0.1], ridges=[0.0], random_state=0).fit(X, Y)
    assert [(row["trace"], row["ridge"]) for row in path.table_] == [(0.1, 0.0), (0.01, 0.0)]


def test_the_first_trace_is_half_of_the_one_that_leaves_nothing():
    trace = 2 * mc.TraceNormPath(traces=1, ridges=[0.0]).fit(X, Y, validation=(X, Y)).best_.trace
    assert mc.TraceNormClassifier(1.01 * trace).fit(X, Y).rank_ == 0
    assert mc.TraceNormClassifier(0.9 * trace).fit(X, Y).rank_ > 0


def test_predictions_are_those_of_the_best(path):
    for name in ("predict", "decision_function", "predict_proba", "transform", "predict_top"):
        np.testing.assert_array_equal(getattr(path, name)(X), getattr(path.best_, name)(X))


def test_a_file_holds_the_best(path, tmp_path):
    path.save(tmp_path / "m")
    assert mc.load(tmp_path / "m").predict(X).tolist() == path.predict(X).tolist()


def test_callbacks_see_every_pair_and_may_end_it():
    seen = []
    path = mc.TraceNormPath(**SMALL, callbacks=[lambda row: seen.append(row) or len(seen) == 4]).fit(X, Y)
    assert [(row["point"], row["points"]) for row in seen] == [(i, 6) for i in range(1, 5)]
    assert (path.status_, len(path.table_)) == ("stopped by a callback", 4)


def test_time_that_is_up_leaves_the_best_so_far():
    with pytest.warns(ConvergenceWarning, match=r"time limit reached after 1 of 6 pairs; .* not refitted"):
        path = mc.TraceNormPath(**SMALL, max_seconds=1e-9).fit(X, Y)
    assert path.predict(X).shape == Y.shape


def test_an_interrupt_leaves_the_best_so_far():
    def interrupt(row):
        if row["point"] == 3:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted after 3 of 6 pairs"):
        assert len(mc.TraceNormPath(**SMALL, callbacks=[interrupt]).fit(X, Y).table_) == 3


@pytest.mark.parametrize(("at", "words"), [(0, "interrupted before the refit"), (2, "interrupted during the refit")])
def test_an_interrupt_of_the_refit_leaves_the_path(monkeypatch, at, words):
    calls = []

    def interrupt(record):
        if record["iteration"] == at:
            raise KeyboardInterrupt

    def refit_interrupted(objective, **settings):
        calls.append(objective)
        if len(calls) == 7 and not at:
            raise KeyboardInterrupt
        return solve(objective, **settings, callback=interrupt if len(calls) == 7 else None)

    monkeypatch.setattr(trace_path, "solve", refit_interrupted)
    with pytest.warns(ConvergenceWarning, match=f"{words} after 6 of 6 pairs; .*; fit again"):
        path = mc.TraceNormPath(**SMALL).fit(X, Y)
    assert (path.status_, len(path.table_)) == ("interrupted", 6)
    assert path.score(X, Y) > 0.8


def test_the_refit_is_within_the_time_of_the_whole(monkeypatch):
    given = []
    monkeypatch.setattr(trace_path, "solve", lambda made, **how: given.append(how["max_seconds"]) or solve(made, **how))
    mc.TraceNormPath(**SMALL, max_seconds=1000.0).fit(X, Y)
    assert len(given) == 7
    assert given == sorted(given, reverse=True)


@pytest.mark.parametrize(
    "validation", [X, (X, Y, Y), (X[:, :2], Y), (X, Y + 1)], ids=["rows", "three", "columns", "labels"]
)
def test_a_validation_set_that_is_none_is_told_by_its_name(validation):
    with pytest.raises(ValueError, match=r"^validation must be \(X, y\)"):
        mc.TraceNormPath(**SMALL).fit(X, Y, validation=validation)


def test_constant_features_leave_nothing_to_choose():
    path = mc.TraceNormPath(**SMALL).fit(np.ones_like(X), Y)
    assert {round(row["accuracy"], 9) for row in path.table_} == {round(1 / 6, 9)}
    assert np.isfinite(path.decision_function(np.ones_like(X))).all()


@pytest.mark.parametrize("name", ["plot", "plot_spectrum", "plot_classes"])
def test_drawings_go_into_files_and_axes(path, tmp_path, name):
    figure = getattr(path, name)(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text().lstrip().startswith("<?xml")
    charts = [chart for chart in figure.axes if chart.get_xlabel()]
    assert getattr(path, name)(charts) is figure


def test_a_wrong_number_of_axes_is_refused(path):
    chart = path.plot_spectrum().axes[0]
    with pytest.raises(ValueError, match="a plot needs a path or 3 axes; got 1"):
        path.plot(chart)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"traces": 0}, "traces must be a whole number, at least 1; got 0"),
        ({"ridges": []}, "ridges must hold at least one strength"),
        ({"traces": [-1.0]}, "each of traces must be a finite number, at least 0"),
        ({"validation_fraction": 1.5}, "validation_fraction must be a number between 0 and 1; got 1.5"),
        ({"refit": "no"}, "refit must be True or False; got 'no'"),
    ],
)
def test_a_setting_that_is_none_is_one_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        mc.TraceNormPath(**{**SMALL, **settings}).fit(X, Y)

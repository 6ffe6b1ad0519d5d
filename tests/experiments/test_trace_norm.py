"""The parts of the experiments on the trace norm: draws, spectra, machines, shares of a loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import manyclass as mc
from experiments import trace_classes, trace_codes, trace_map, trace_size, trace_trials, tuned
from experiments.results import Results
from experiments.spectra import class_means, energy, fallen, spectrum, truncated
from experiments.squared_hinge import SquaredHinges
from experiments.trace_codes import Accuracies
from experiments.trace_sources import Source, in_coordinates


@pytest.fixture
def source():
    """Thirty classes in a space of more dimensions than rows to train on, whose means span three."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(30), 12)
    means = 3 * rng.normal(size=(30, 3)) @ np.linalg.qr(rng.normal(size=(200, 3)))[0].T
    X = (means[y] + 0.2 * rng.normal(size=(len(y), 200))).astype(np.float32)
    return Source(lambda: (X, y), (5, 10), (4, 3, 5))


def test_more_classes_are_the_same_and_others(source):
    few, many = source.places(5, 0), source.places(10, 0)
    y = source.load()[1]
    assert set(y[few.train]) < set(y[many.train])
    for a, b in zip(few[:3], many[:3], strict=True):
        assert_array_equal(a, b[np.isin(y[b], y[few.train])])
    assert len(np.unique(np.concatenate(many[:3]))) == 10 * 12
    assert_array_equal(np.unique(many.labels[many.test]), np.arange(10))
    assert set(source.places(5, 1).train) != set(few.train)


def test_coordinates_have_the_same_products(source):
    (X, _), _, (X_test, _) = source.draw(5, 0)
    places, rows = source.places(5, 0), source.load()[0]
    assert X.shape == (20, 20)
    assert_allclose(X_test @ X.T, rows[places.test] @ rows[places.train].T, atol=1e-3)
    wide = in_coordinates(rows[:300], rows[300:])
    assert_array_equal(wide[0], rows[:300])


@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_hinges_have_the_gradient_and_the_conjugate_of_their_values(weight):
    rng = np.random.default_rng(0)
    S, y = 2 * rng.normal(size=(6, 5)), rng.integers(0, 5, 6)
    loss = SquaredHinges(weight)
    values, R = loss.value_and_gradient(S, y)
    move = 1e-6 * rng.normal(size=S.shape)
    ahead, behind = (loss.value_and_gradient(S + sign * move, y)[0] for sign in (1, -1))
    assert_allclose((ahead - behind) / 2, (R * move).sum(axis=1), rtol=1e-5)
    assert_allclose(loss.conjugate(R, y), (R * S).sum(axis=1) - values)
    assert np.isinf(loss.conjugate(-R, y)).all()


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_one_vs_rest_is_what_liblinear_finds(weight):
    """Its bias is penalized, the less the longer the constant is that it multiplies."""
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = rng.normal(size=(4, 6))[y] + rng.normal(size=(120, 6))
    ours = mc.LinearClassifier(SquaredHinges(weight), mc.Ridge(1 / (2 * 0.5 * 120)), tolerance=1e-8).fit(X, y)
    positives = dict.fromkeys(range(4), weight)
    theirs = LinearSVC(C=0.5, class_weight=positives, dual=False, intercept_scaling=1e3, tol=1e-10, max_iter=10_000)
    assert_allclose(ours.coef_, theirs.fit(X, y).coef_, atol=1e-3)


def test_every_method_has_as_many_settings(source):
    train, _, _ = source.draw(5, 0)
    counts = {way: len(list(make(train))) for way, make in tuned.WAYS.items()}
    assert set(counts.values()) == {tuned.STRENGTHS * len(tuned.RIDGES)} == {tuned.SETTINGS}


def test_the_best_on_rows_held_out_is_taken(monkeypatch):
    class Constant:
        def __init__(self, label):
            self.label = label

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), self.label)

    monkeypatch.setitem(tuned.WAYS, "constant", lambda train: map(Constant, (0, 1, 2, 1)))
    rows = np.zeros((5, 1)), np.array([0, 1, 1, 1, 2])
    assert tuned.best("constant", rows, rows).label == 1


def test_a_spectrum_is_known_by_its_first_part():
    W = np.diag([4.0, 2.0, 2.0, 1.0]) @ np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    s = spectrum(W)
    assert_allclose(s, [4, 2, 2, 1])
    assert energy(s, 0.25) == pytest.approx(16 / 25)
    assert fallen(s, 0.5) == pytest.approx(0.5)
    assert_allclose(spectrum(truncated(W, 0.5)), [4, 2, 0, 0], atol=1e-12)
    assert_allclose(truncated(W, 1.0), W)


def test_means_of_classes_are_centered(source):
    X, y = source.load()
    M = class_means(X, y)
    assert_allclose(M.sum(axis=0), 0, atol=1e-4)
    assert energy(spectrum(M), 0.1) > 0.9


def test_a_trial_of_low_rank_is_seen_as_such(source):
    found = trace_trials.trial(*source.draw(10, 0))
    assert energy(found.means, 0.3) > 0.9
    for fitted in found.fitted.values():
        assert fitted.top[0] > 0.5
        assert (np.diff(fitted.top) >= 0).all()
    trace = found.fitted["trace norm"]
    assert trace.rank < 10
    assert trace.halved == pytest.approx(trace.top[0], abs=0.1)
    assert found.gain("one-vs-rest") == pytest.approx(100 * (trace.top[0] - found.fitted["one-vs-rest"].top[0]))


def _trial(one_vs_rest, trace, s):
    def fitted(top):
        return trace_trials.Fitted([top] * len(trace_trials.TOPS), np.array(s), 2, top - 0.2)

    ways = dict(zip(trace_trials.METHODS, (one_vs_rest, one_vs_rest, trace), strict=True))
    return trace_trials.Trial({way: fitted(top) for way, top in ways.items()}, np.array(s))


def test_growth_is_judged_by_pairs_of_draws():
    """Draws differ far more than the gain within one grows."""
    page = Results("trace_classes", "")
    found = {
        k: [_trial(a, a + gain, [1, 0.1, 0.1, 0.1]) for a in (0.2, 0.4, 0.6)] for k, gain in {5: 0.01, 9: 0.03}.items()
    }
    trace_classes._figure_2(page, {"some": found})
    trace_classes._figure_1(page, {"some": found[9]})
    assert ["*Reproduced*" in part for part in page.parts] == [True, True, True, True, False]
    flat = {k: [_trial(a, a - 0.01, [1, 0.9, 0.9, 0.9]) for a in (0.2, 0.4, 0.6)] for k in (5, 9)}
    again = Results("trace_classes", "")
    trace_classes._figure_2(again, {"some": flat})
    trace_classes._figure_1(again, {"some": flat[9]})
    assert ["*Not" in part for part in again.parts] == [True, True, True, True, False]


def test_data_on_which_a_claim_fails_are_named():
    """One source that holds does not speak for another that does not."""
    found = {
        name: {k: [_trial(a, a + gain, s) for a in (0.2, 0.4, 0.6)] for k in (5, 9)}
        for name, gain, s in (("some, rows", 0.01, [1, 0.1, 0.1, 0.1]), ("others", -0.01, [1, 0.9, 0.9, 0.9]))
    }
    page = Results("trace_classes", "")
    trace_classes._figure_1(page, {name: each[9] for name, each in found.items()})
    trace_classes._figure_2(page, found)
    assert ["(some). *Reproduced*" in part for part in page.parts] == [
        True,
        False,
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert ["others). *Not reproduced*" in part for part in page.parts].count(True) == 3
    assert "16, some). *Reproduced*" in page.parts[-2]


@pytest.mark.parametrize(("half", "verdict"), [(0.68, "*Reproduced*"), (0.62, "*Not reproduced*")])
def test_what_returns_is_judged_as_a_part_of_what_is_lost(half, verdict):
    page = Results("trace_codes", "")
    some = [Accuracies(0.8 + x, 0.6 + x, half + x) for x in (0.0, 0.05, 0.1)]
    trace_codes._verdicts(page, {"some": {"trace norm": some}})
    assert "*Reproduced*" in page.parts[0]
    assert verdict in page.parts[1]
    assert f"trace norm {(half - 0.6) / 0.2:.2f};" in page.parts[1]
    assert "not told from zero" not in page.parts[1]


def test_codes_cost_accuracy_where_classes_differ_by_little(source, monkeypatch):
    monkeypatch.setattr(trace_codes, "COUNT", 5)
    found = trace_codes.accuracies(source, 0)
    assert set(found) == set(trace_codes.METHODS)
    assert all(0.5 < one.full <= 1 for one in found.values())


def test_the_map_says_where_it_is_ahead(monkeypatch):
    monkeypatch.setattr(trace_map, "CLASSES", (5, 20))
    monkeypatch.setattr(trace_map, "EXAMPLES", (2,))
    monkeypatch.setattr(trace_map, "RANKS", (3,))
    monkeypatch.setattr(trace_map, "D", 40)
    text = "\n".join(trace_map.run(None, seeds=2).parts)
    assert "of 2 places" in text
    (X, y), judge, test = trace_map._drawn(3, 2, 20, 0)
    assert [len(X), len(judge[1]), len(test[1])] == [40, 100, 400]
    assert_array_equal(np.bincount(y), 2)


@pytest.mark.filterwarnings("ignore:TraceNormClassifier is right on")  # where it is broken off at once
def test_both_solvers_walk_the_same_path(monkeypatch):
    monkeypatch.setattr(trace_size, "HELD", 60)
    monkeypatch.setattr(trace_size, "RANK", 4)
    monkeypatch.setattr(trace_size, "COUNT", 3)
    rows = trace_size.coded(300, 64, 6)
    assert rows.train[0].shape == (300, 64)
    traces = trace_size.strengths(rows)
    walks = [trace_size.walk(rows, solver, traces) for solver in trace_size.SOLVERS]
    published, ours = (walk.stops for walk in walks)
    assert [one.trace for one in published] == [one.trace for one in ours] == traces
    assert all(a.objective >= b.objective * (1 - 1e-3) for a, b in zip(published, ours, strict=True))
    assert all(one.gap <= 1e-3 * one.objective for one in ours)
    assert trace_size._ended(walks[0]) == 3
    stopped = trace_size.walk(rows, "auto", traces, limit=0.0)
    assert len(stopped.stops) == 1
    assert trace_size._ended(stopped) == 0


def test_products_are_timed_on_codes_and_on_what_they_stand_for(monkeypatch):
    monkeypatch.setattr(trace_size, "REPEATS", 2)
    X = mc.ProductQuantizer(4, random_state=0).fit(np.eye(32)).encode(np.eye(32))
    spent = trace_size.products(X)
    assert [[len(seconds) for seconds in pair] for pair in spent.values()] == [[2, 2], [2, 2]]

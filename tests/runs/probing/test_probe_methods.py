"""The methods of a probe: each learns, says what it chose, and never looks at what it is judged by."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.dense import DenseMatrix
from manyclass.runs.probing.probe_data import ProbeTask
from manyclass.runs.probing.probe_methods import METHODS, TOP, choose_probe_methods, estimate_seconds

NAMES = [one.name for one in METHODS]


def task(k=6, n=240, d=12, spread=0.5, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    centers = np.random.default_rng(99).normal(size=(k, d)) + 1
    X, X_test = ((scale * (centers[y] + spread * rng.normal(size=(n, d)))).astype(np.float32) for _ in range(2))
    held_out = np.arange(n) % 5 == 0
    parts = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    return ProbeTask(DenseMatrix(X), y.astype(np.int32), k, DenseMatrix(X_test), *parts), y


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_a_method_learns_classes_that_are_apart(method):
    given, y = task()
    answer = method.answer(given)
    assert answer.top.shape == (240, TOP)
    assert np.mean(answer.top[:, 0] == y) > 0.9
    assert np.mean((answer.top == y[:, None]).any(axis=1)) > 0.99
    assert answer.fit_seconds >= 0
    assert answer.predict_seconds > 0
    assert answer.nbytes > 0


@pytest.mark.parametrize("method", METHODS, ids=NAMES)
def test_the_same_seed_gives_the_same_answers_for_any_number_of_threads(method):
    given, _ = task(n=120)
    answers = []
    for threads in (1, 2):
        with mc.threads(threads):
            answers.append(method.answer(given))
    np.testing.assert_array_equal(answers[0].top, answers[1].top)
    assert answers[0].settings == answers[1].settings


@pytest.mark.parametrize("name", ["means", "knn20", "knn", "closed", "linear"])
def test_two_classes_and_classes_of_one_row_can_be_learned(name):
    method = next(one for one in METHODS if one.name == name)
    X = DenseMatrix(np.array([[1.0, 0.1], [0.0, 1.0]], np.float32))
    given = ProbeTask(X, np.array([0, 1], np.int32), 2, X, np.arange(2), np.arange(0))
    assert method.answer(given).top[:, 0].tolist() == [0, 1]


def test_the_metric_is_chosen_by_rows_held_out():
    # One direction, two lengths: angles tell nothing.
    y = np.arange(200) % 2
    noise = 0.2 * np.random.default_rng(0).normal(size=(200, 2))
    X = (np.where(y, 3.0, 1.0)[:, None] + noise).astype(np.float32)
    given = ProbeTask(DenseMatrix(X), y.astype(np.int32), 2, DenseMatrix(X), np.arange(100), np.arange(100, 200))
    for name in ("means", "knn"):
        answer = next(one for one in METHODS if one.name == name).answer(given)
        assert answer.settings["metric"] == "euclidean"
        assert np.mean(answer.top[:, 0] == y) > 0.9


def test_methods_are_chosen_by_name_and_kept_in_their_order():
    assert [one.name for one in choose_probe_methods(["linear", "means"])] == ["means", "linear"]
    assert [one.name for one in choose_probe_methods("all")] == NAMES
    assert [one.name for one in choose_probe_methods(None)] == NAMES[:-2]


@pytest.mark.parametrize(("words", "said"), [("mean", "did you mean means"), ("", "got none"), ("closed,x", "got x")])
def test_other_names_are_refused(words, said):
    with pytest.raises(ValueError, match=f"must be some of means, knn20, .*{said}"):
        choose_probe_methods(words)


def test_more_rows_are_expected_to_take_longer():
    small, large = (estimate_seconds(METHODS, task(n=n)[0]) for n in (120, 12_000))
    assert 0 < small < large

"""A class from a few pictures: what is compared, and how it is judged."""

import numpy as np

from experiments import add_a_class
from experiments.add_a_class import DEFAULTS, EXACT, PLAIN, Task, judged, nearest_mean
from experiments.sources import Split
from experiments.verdicts import Interval


def made(k=14, each=12, d=10):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(k), each))
    X = (rng.normal(size=(k, d))[y] + 0.3 * rng.normal(size=(len(y), d))).astype(np.float32)
    half = len(y) // 2
    return Split(X[:half], y[:half], X[half:], y[half:])


def test_few_rows_are_of_new_classes_and_old_rows_of_none_of_them():
    task = Task(made(), np.array([3, 5]))
    X, y = task.few(2)
    assert (sorted(y.tolist()), len(X)) == ([3, 3, 5, 5], 4)
    assert not np.isin(task.before[1], [3, 5]).any()
    assert len(task.together(2)[1]) == len(task.before[1]) + 4


def test_new_and_old_classes_are_judged_apart():
    task = Task(made(), np.array([3, 5]))
    assert task.judge(lambda rows: task.split.y_test) == (1.0, 1.0)
    assert task.judge(lambda rows: np.where(np.isin(task.split.y_test, [3, 5]), -1, task.split.y_test)) == (0.0, 1.0)


def test_the_plain_thing_is_the_largest_cosine():
    predict = nearest_mean(np.array([[1.0, 0.0], [3.0, 0.2], [0.0, 5.0]], np.float32), np.array([0, 0, 1]))
    assert predict(np.array([[0.9, 0.1], [0.1, 0.2]], np.float32)).tolist() == [0, 1]


def test_every_way_is_measured(monkeypatch):
    monkeypatch.setattr(add_a_class, "NEW", 2)
    monkeypatch.setattr(add_a_class, "COUNTS", (2,))
    found = add_a_class.measure(lambda seed: made(), range(2))
    for way in (*DEFAULTS, EXACT, PLAIN):
        assert len(found.new[way, 2]) == len(found.old[way, 2]) == 2
    assert found.both(PLAIN, 2).shape == (2,)


def test_verdicts_come_from_intervals():
    clear, open_, wrong = Interval(1, 0.5, 1.5), Interval(0, -1, 1), Interval(-2, -3, -1)
    assert judged({"A": clear}) == "it holds for all"
    assert judged({"A": clear, "B": open_, "C": wrong}) == "it holds for 1 of 3, and fails for C and is not told for B"
    assert judged({"B": open_}, 2.0) == "it holds for all"

"""Callbacks that keep the records of a fit, and are told when it ends."""

import json

import numpy as np
import pytest

import manyclass as mc

rng = np.random.default_rng(0)
Y = np.repeat(np.arange(4), 10)
X = rng.normal(size=(4, 3))[Y] + 0.3 * rng.normal(size=(40, 3))


def fit(*callbacks):
    return mc.StochasticClassifier(random_state=0, max_epochs=4, step=0.1, beta=None, callbacks=callbacks).fit(X, Y)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_json_lines_are_the_history(tmp_path):
    path = tmp_path / "history.jsonl"
    clf = fit(mc.JsonLines(path))
    assert lines_of(path) == clf.history_


def test_json_lines_are_added_to_those_there(tmp_path):
    path = tmp_path / "history.jsonl"
    keep = mc.JsonLines(path)
    first, second = fit(keep), fit(keep)
    assert lines_of(path) == first.history_ + second.history_


def test_a_line_is_there_before_the_next_epoch_begins(tmp_path):
    path, seen = tmp_path / "history.jsonl", []
    fit(mc.JsonLines(path), lambda record: seen.append(len(lines_of(path))))
    assert seen == list(range(1, len(seen) + 1))


class Closing:
    def __init__(self, fails):
        self.closed, self.fails = 0, fails

    def __call__(self, record):
        if self.fails:
            raise KeyboardInterrupt

    def close(self):
        self.closed += 1


def test_a_callback_with_close_is_told_of_the_end():
    callback = Closing(fails=False)
    fit(callback)
    assert callback.closed == 1


def test_a_callback_with_close_is_told_of_an_interrupt():
    callback = Closing(fails=True)
    with pytest.raises(KeyboardInterrupt):
        fit(callback)
    assert callback.closed == 1

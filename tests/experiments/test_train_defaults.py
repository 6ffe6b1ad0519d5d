"""What peers are tuned on, and a row of the table."""

import numpy as np
import pytest

from experiments import photographs, train_defaults
from experiments.sources import Split


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYCLASS_CACHE", str(tmp_path))
    photographs.room.cache_clear()
    yield tmp_path
    photographs.room.cache_clear()


def test_peers_of_large_sets_are_tuned_on_all_rows_of_some_classes():
    y = np.arange(66_000) % 1000
    some = train_defaults._of_some_classes(y)
    classes, counts = np.unique(y[some], return_counts=True)
    assert len(classes) == train_defaults.MOST_TO_TUNE // 66
    assert (counts == 66).all()


def test_the_row_of_a_set_that_all_can_learn():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = (np.eye(3)[y] + 0.1 * rng.normal(size=(90, 3))).astype(np.float32)
    row = train_defaults._measured_row(("a", "b"), lambda seed: Split(X[:60], y[:60], X[60:], y[60:]))
    assert row[:8] == ["a", "b", "60", "3", "3", "100.0", "100.0", "100.0"]

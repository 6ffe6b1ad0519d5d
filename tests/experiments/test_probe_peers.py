"""What the probe is compared with, and by which rows."""

from functools import partial

import numpy as np
import pytest

from experiments import probe_peers
from experiments.sources import Split


@pytest.mark.parametrize("peak", [-6.0, -3.4, 0.1, 5.9])
def test_a_search_by_halves_ends_next_to_the_peak(peak):
    asked = []
    found = probe_peers.halving_search(lambda x: asked.append(x) or -abs(x - peak), probe_peers.POWERS, 0.5)
    assert abs(found - peak) <= 0.25
    assert len(asked) == len(set(asked)) <= len(probe_peers.POWERS) + 4


def test_all_learn_from_the_same_rows_and_what_is_easy_is_right(tmp_path):
    y = np.arange(90) % 3
    X = (np.eye(3)[y] + 0.1 * np.random.default_rng(0).normal(size=(90, 3))).astype(np.float32)
    about, found = probe_peers._measure(partial(probe_peers._written, Split(X[:60], y[:60], X[60:], y[60:])))
    assert about == "60 rows of 3 columns and 3 classes, 30 to judge by"
    assert {name for pair in probe_peers.PAIRS for name in pair} <= set(found)
    for right, seconds, chosen in found.values():
        assert sum(right) == len(right) == 30
        assert seconds >= 0
        assert chosen
    assert probe_peers._difference(found, *probe_peers.PAIRS[0]).mean == 0
    assert [row[1] for row in probe_peers._rows(found)] == ["100.0"] * len(found)

"""Commands tell, once and in a sentence, of numbers from which little is learned."""

import numpy as np
import pytest
from cli.runs import QUICK, rows

TRAIN = ("train", "x.npz", "-o", "run", "--test-fraction", 0.2, *QUICK)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A function that writes x.npz with the rows times a factor, plus an offset."""
    monkeypatch.chdir(tmp_path)

    def write(factor=1.0, offset=0.0):
        X, y = rows()
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        np.savez("x.npz", X=(factor * unit + offset).astype(np.float32), y=y)

    return write


@pytest.mark.parametrize("how", [(), ("--quiet",), ("--json",)])
def test_rows_far_from_zero(run, data, how):
    data(offset=1e4)
    outcome = run(*TRAIN, *how)
    assert outcome.code == 0
    assert outcome.err.count("subtract the mean of X from its rows") == 1
    assert "UserWarning" not in outcome.err


@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_rows_on_another_scale_than_the_model(run, data, command):
    data()
    assert "lengths" not in run(*TRAIN).err
    assert "lengths" not in run(command, "run", "x.npz").err
    data(factor=30)
    outcome = run(command, "run", "x.npz")
    assert outcome.code == 0
    assert outcome.err.count("rows of X have lengths of about 30, and StochasticClassifier was fitted on rows of") == 1
    assert "UserWarning" not in outcome.err

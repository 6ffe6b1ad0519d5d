"""Rows of some classes around centers of their own, and logs."""

from types import SimpleNamespace

import numpy as np
import pytest

from manyclass.runs.labeling.label_log import LabelLog

NAMES = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])


@pytest.fixture
def rows():
    """A function that draws rows: X (n, d), their classes y, their names and ids."""

    def draw(k=4, each=40, d=24, spread=0.35, seed=0):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.repeat(np.arange(k), each))
        X = (rng.normal(size=(k, d))[y] + spread * np.sqrt(d) * rng.normal(size=(len(y), d)) / 2).astype(np.float32)
        return SimpleNamespace(X=X, y=y, labels=NAMES[y].tolist(), ids=[f"{i}.jpg" for i in range(len(y))])

    return draw


@pytest.fixture
def log(tmp_path):
    with LabelLog(tmp_path / "labels.jsonl") as log:
        yield log

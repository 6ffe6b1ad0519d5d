"""Outliers: distances are those of sorted cosines, and what is planted is found."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.audit import outlying
from manyclass.audit.out_of_sample import standard_rows


def twin(Z, y, nearest):
    """1 less the cosine to the nearest rows of the class, by sorting all of them."""
    out = np.zeros(len(Z))
    for i, row in enumerate(Z):
        others = np.sort([row @ Z[j] for j in range(len(Z)) if j != i and y[j] == y[i]])[::-1]
        if len(others):
            out[i] = max(0, 1 - others[min(nearest, len(others)) - 1])
    return out


@pytest.mark.parametrize("nearest", [1, 5])
def test_distances_are_those_of_sorted_cosines(nearest):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), rng.integers(0, 7, 60)
    y[0] = 9  # alone
    found = mc.audit.outliers(X, y, nearest=nearest)
    standard = standard_rows(mc.as_matrix(X)).astype(np.float64)
    assert found.distance == pytest.approx(twin(standard, y, nearest), abs=1e-5)
    assert found.distance[0] == 0
    nearer = [(found.distance < one).sum() for one in found.distance]
    assert found.percentile == pytest.approx(100 * np.array(nearer) / 59)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for one_class in (None, np.full(60, "a")):
        alone = mc.audit.outliers(X, one_class, nearest=nearest).distance
        assert alone == pytest.approx(twin(unit, np.zeros(60), nearest), abs=1e-5)


def test_rows_of_other_classes_are_found():
    rng = np.random.default_rng(0)
    y = np.arange(1200) % 24
    X = rng.normal(size=(24, 32))[y] + 0.4 * rng.normal(size=(1200, 32))
    strange = np.flatnonzero(y >= 22)[:20]
    kept = np.concatenate([np.flatnonzero(y < 22), strange])
    y[strange] = np.arange(20)
    found = mc.audit.outliers(X[kept], y[kept])
    last = np.arange(len(kept) - 20, len(kept))
    assert set(found.ranked()[:20]) == set(last)
    assert found.percentile[last].min() > 98


def test_a_large_class_is_compared_with_some_of_its_rows(monkeypatch):
    X = np.random.default_rng(0).normal(size=(300, 5))
    whole = mc.audit.outliers(X).distance
    monkeypatch.setattr(outlying, "_MOST", 150)
    some = mc.audit.outliers(X).distance
    assert (some >= whole - 1e-6).all()
    assert (some > whole + 1e-6).mean() > 0.5


def test_copies_have_no_distance():
    assert mc.audit.outliers(np.repeat(np.eye(3), 8, axis=0)).distance == pytest.approx(0, abs=1e-6)


def test_wrong_rows_are_one_sentence():
    with pytest.raises(ValueError, match="X must have at least one row"):
        mc.audit.outliers(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="nearest must be a whole number"):
        mc.audit.outliers(np.eye(3), nearest=0)
    with pytest.raises(ValueError, match="one label per row"):
        mc.audit.outliers(np.eye(3), [1, 2])


def test_without_labels_a_row_that_is_plainly_apart_is_found():
    rng = np.random.default_rng(0)
    few = np.vstack([[1, 0, 0] + 0.01 * rng.normal(size=(10, 3)), [[0, 9, 0]]])
    assert mc.audit.outliers(few).ranked()[0] == 10
    many = np.abs(rng.normal(size=(500, 40)))
    many[7] = -many[7]
    assert mc.audit.outliers(many).ranked()[0] == 7

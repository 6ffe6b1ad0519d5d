"""Which rows are negatives, and which are left."""

from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass.datasets.dataset import Dataset
from manyclass.runs.galleries.negatives import choose_negatives, deal_out, draw_rows, other_rows


def dataset(n=40, n_classes=8, split=None):
    X = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    return Dataset(mc.DenseMatrix(X), y=np.arange(n) % n_classes, split=split, path=Path("x.npy"))


def test_half_of_the_data_are_negatives_and_the_others_are_left():
    whole = dataset()
    negatives = choose_negatives(whole, None, None, gram=False, seed=0)
    left = other_rows(whole, negatives.own)
    assert len(negatives) == len(left) == 20
    assert sorted([*negatives.own, *left.rows]) == list(range(40))
    assert negatives.about == "20 of the 40 rows of x.npy itself, drawn at random; `negatives` names others"


def test_the_training_rows_are_negatives_where_there_are_others():
    whole = dataset(split=np.where(np.arange(40) < 30, "train", "test"))
    negatives = choose_negatives(whole, None, None, gram=False, seed=0)
    assert negatives.own.tolist() == list(range(30))
    assert negatives.record()["part"] == "train"


def test_a_world_is_taken_whole_or_as_a_sample(tmp_path):
    np.save(tmp_path / "w.npy", np.zeros((9, 2), np.float32))
    whole = choose_negatives(dataset(), tmp_path / "w.npy", None, gram=True, seed=0)
    some = choose_negatives(dataset(), tmp_path / "w.npy", 4, gram=False, seed=0)
    assert (len(whole), len(some), len(whole.own)) == (9, 4, 0)
    assert some.about.startswith("4 of 9 rows of")


def test_a_world_of_another_width_is_refused(tmp_path):
    np.save(tmp_path / "w.npy", np.zeros((9, 3), np.float32))
    with pytest.raises(ValueError, match=r"w.npy must have 2 columns, as x.npy has; got 3"):
        choose_negatives(dataset(), tmp_path / "w.npy", None, gram=False, seed=0)


def test_one_row_has_no_negatives():
    with pytest.raises(ValueError, match="at least 2 rows to take negatives from; got 1; give `negatives`"):
        choose_negatives(dataset(1), None, None, gram=False, seed=0)


def test_labels_of_the_rows_left_are_words():
    assert other_rows(dataset(), np.arange(36)).y.tolist() == ["4", "5", "6", "7"]


def test_two_halves_have_no_class_in_common():
    first, second = deal_out(other_rows(dataset(), np.zeros(0, np.intp)), seed=0)
    assert len(first) + len(second) == 40
    assert not set(first.y) & set(second.y)


def test_some_rows_are_those_of_whole_classes():
    rows = other_rows(dataset(), np.zeros(0, np.intp))
    some = draw_rows(rows, 12, seed=0)
    assert np.unique(some.y, return_counts=True)[1].tolist() == [5, 5, 5]
    assert draw_rows(rows, 40, seed=0) is rows


def test_some_rows_without_labels_are_any():
    rows = Dataset(mc.DenseMatrix(np.zeros((30, 2), np.float32)))
    assert len(draw_rows(rows, 12, seed=0)) == 12


def test_rows_without_a_label_are_not_asked_about():
    rows = Dataset(mc.DenseMatrix(np.eye(5, dtype=np.float32)), y=np.array(["a", "", "b", "a", ""]))
    found = other_rows(rows, np.array([0]))
    assert found.y.tolist() == ["b", "a"]

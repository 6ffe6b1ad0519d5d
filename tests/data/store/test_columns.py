"""Labels, names and splits of the rows."""

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.data.store.columns import collect_columns, concatenate_columns, encode_names
from manyclass.data.store.store import Names


def of(n=3, y=None, names=None, classes=None, split=None):
    return collect_columns(n, y, names, classes, split)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda words: np.array(words, object)])
def test_labels_that_are_words_become_positions_in_the_sorted_words(kind):
    columns = of(y=kind(["dog", "ant", "dog"]))
    assert columns.arrays["y"].tolist() == [1, 0, 1]
    assert columns.classes == ["ant", "dog"]


class Filtered:
    """A column as pandas leaves it after a filter: its entries have names, and 0 is not among them."""

    ndim = 1

    def __init__(self, values):
        self._values = dict(zip(range(5, 50, 7), values, strict=False))

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values.values())

    def __getitem__(self, name):
        return self._values[name]

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self), dtype)


def test_a_column_need_not_have_an_entry_called_0():
    columns = of(y=Filtered(["dog", "ant", "dog"]), names=Filtered("abc"), split=Filtered(["train"] * 3))
    assert columns.arrays["y"].tolist() == [1, 0, 1]
    assert of(y=Filtered([7, 8, 9])).arrays["y"].tolist() == [7, 8, 9]


def test_words_keep_the_order_of_the_classes_that_are_given():
    columns = of(y=["dog", "ant", "dog"], classes=["dog", "bee", "ant"])
    assert columns.arrays["y"].tolist() == [0, 2, 0]
    assert columns.classes == ["dog", "bee", "ant"]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64])
def test_labels_that_are_integers_become_int64(dtype):
    y = of(y=np.array([0, 5, 100], dtype)).arrays["y"]
    np.testing.assert_array_equal(y, np.array([0, 5, 100], np.int64), strict=True)


def test_integers_without_classes_may_be_anything():
    assert of(y=[-5, 0, 2**62]).arrays["y"].tolist() == [-5, 0, 2**62]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": [0, 1, 2], "classes": ["a", "b"]}, r"labels must be integers in \[0, 2\); got 2 at row 2"),
        ({"y": [0, -1, 0], "classes": ["a", "b"]}, r"labels must be integers in \[0, 2\); got -1 at row 1"),
        ({"y": np.array([1, 2**63, 0], np.uint64)}, r"got 9223372036854775808 at row 1"),
        ({"y": [0.0, 1.0, 2.0]}, "labels must be integers, or strings; got dtype float64"),
        ({"y": [True, False, True]}, "got dtype bool"),
        ({"y": ["a", "b", 3]}, "labels must be strings throughout; got 3 at row 2"),
        ({"y": ["a", "b", "c"], "classes": ["a", "b"]}, "labels must be among the 2 classes; got 'c' at row 2"),
        ({"y": [0, 1]}, r"y must have one entry per row of X \(3\); got 2"),
        ({"y": np.zeros((3, 1), int)}, "y must be a sequence"),
        ({"y": 5}, "y must be a sequence with one entry per row; got int"),
        ({"y": [0, 1, 1], "classes": ["a", "a"]}, "classes must be distinct; got 'a' twice"),
        ({"y": [0, 1, 1], "classes": ["a", 1]}, "classes must be strings throughout; got 1 at row 1"),
        ({"classes": ["a"]}, "classes need labels"),
        ({"names": ["a", "b", 3]}, "names must be strings or paths; got 3 at row 2"),
        ({"names": ["a", "b", "\ud800"]}, "names must be strings or paths"),
        ({"names": "abc"}, "names must be a sequence with one entry per row; got str"),
        ({"split": ["a", "b", None]}, "split must be strings throughout; got None at row 2"),
        ({"split": ["a"]}, "split must have one entry per row"),
    ],
)
def test_what_is_no_column_is_refused_with_the_place(given, message):
    with pytest.raises(ValueError, match=message):
        of(**given)


def test_there_may_be_256_parts_and_no_more():
    assert of(256, split=[f"{i:03}" for i in range(256)]).arrays["split"].tolist() == list(range(256))
    with pytest.raises(ValueError, match="split must name at most 256 parts; got 257"):
        of(257, split=[str(i) for i in range(257)])


def names_of(names):
    return Names(*encode_names(names))


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_any_strings_come_back(names):
    assert list(names_of(names)) == names


@given(st.lists(st.binary()))
def test_file_names_of_any_bytes_come_back(names):
    decoded = [os.fsdecode(name) for name in names]
    assert [os.fsencode(name) for name in names_of(decoded)] == names


def test_paths_are_names():
    assert names_of([Path("a/b.jpg")])[0] == "a/b.jpg"


@pytest.mark.parametrize("index", [0, -1, 2, slice(1, None), slice(None, None, -1), slice(5, 9)])
def test_names_are_indexed_as_a_list_is(index):
    names = ["a", "", "çé"]
    assert names_of(names)[index] == names[index]


@pytest.mark.parametrize("index", [3, -4])
def test_names_end_where_a_list_ends(index):
    with pytest.raises(IndexError):
        names_of(["a", "", "ç"])[index]


def joined(*parts):
    """The columns of parts, each given as the arguments of `of`, one below the other."""
    return concatenate_columns([of(**part) for part in parts])


def same(a, b):
    assert (a.classes, a.splits, a.arrays.keys()) == (b.classes, b.splits, b.arrays.keys())
    for role in a.arrays:
        assert a.arrays[role].dtype == b.arrays[role].dtype
        assert a.arrays[role].tolist() == b.arrays[role].tolist()


@given(
    words=st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["train", "test", "val"]), st.text())),
    cuts=st.lists(st.integers(0, 30), max_size=4),
)
def test_columns_of_parts_are_those_of_all_rows(words, cuts):
    ends = sorted({min(cut, len(words)) for cut in cuts} | {0, len(words)})
    pieces = [words[a:b] for a, b in pairwise(ends)] or [words]

    def given(rows):
        y, split, names = ([row[i] for row in rows] for i in range(3))
        names = [name.encode("utf-8", "replace").decode() for name in names]
        return {"n": len(rows), "y": y, "split": split, "names": names}

    same(joined(*map(given, pieces)), of(**given(words)))


def test_classes_that_were_given_keep_their_order_in_parts():
    classes = ["zebra", "dog", "ant"]
    parts = [{"n": 1, "y": [2]}, {"n": 0, "y": []}, {"n": 2, "y": [0, 2]}]
    same(joined(*({**part, "classes": classes} for part in parts)), of(3, y=[2, 0, 2], classes=classes))


def test_integers_of_parts_stay_as_they_are():
    same(joined({"n": 2, "y": [5, -1]}, {"n": 0, "y": []}, {"n": 1, "y": [7]}), of(3, y=[5, -1, 7]))

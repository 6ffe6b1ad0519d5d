"""Rows of a table in the order of names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.datasets.label_files import reorder_by_name


def table(names):
    return {"names": np.array(names, np.str_), "y": np.array([name.upper() for name in names], np.str_)}


words = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8, unique=True)


@given(words, st.data())
def test_every_name_gets_its_own_row(names, data):
    rows = data.draw(st.permutations(names))
    asked = data.draw(st.lists(st.sampled_from(names)))
    ordered = reorder_by_name(asked, table(rows), "t.csv")
    assert ordered["names"].tolist() == asked
    assert ordered["y"].tolist() == [name.upper() for name in asked]


def test_names_that_repeat_are_fine_in_the_same_order():
    rows = table(["a", "a", "b"]) | {"y": np.array([1, 2, 3])}
    assert reorder_by_name(["a", "a", "b"], rows, "t.csv")["y"].tolist() == [1, 2, 3]


def test_names_that_repeat_in_another_order_are_refused():
    with pytest.raises(ValueError, match=r"^t\.csv must have every name once, so .* by it; got 'a' twice$"):
        reorder_by_name(["b", "a", "a"], table(["a", "a", "b"]), "t.csv")


@pytest.mark.parametrize("rows", [["a"], ["a", "c"], ["c", "a", "d"]])
def test_the_first_name_that_is_missing_is_told(rows):
    with pytest.raises(
        ValueError, match=r"^t\.csv must have a label for 'b', which is row 1; got none; leave its names"
    ):
        reorder_by_name(["a", "b"], table(rows), "t.csv")

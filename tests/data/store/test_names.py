import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.data.store.columns import Names, encode_names


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

"""Fronts of folders."""

import sys
from importlib import import_module

import pytest

from manyclass._core.lazy import HOMES, find_public, lazy_exports


@pytest.mark.parametrize("name", sorted(HOMES))
def test_every_public_name_has_the_home_that_the_table_says(name):
    thing = find_public(name)
    assert (thing.__name__, thing.__module__) == (name, f"manyclass.{HOMES[name]}")


def test_a_front_finds_its_names_and_no_others():
    find, names, exported = lazy_exports("manyclass.data", {"SparseMatrix": "sparse", "DenseMatrix": "dense"})
    assert find("DenseMatrix") is sys.modules["manyclass.data.dense"].DenseMatrix
    assert names() == exported == ["DenseMatrix", "SparseMatrix"]
    with pytest.raises(AttributeError, match=r"^module 'manyclass.data' has no attribute 'Quantum'$"):
        find("Quantum")


@pytest.mark.parametrize("folder", ["data", "data.store", "retrieval"])
def test_what_a_front_exports_is_there(folder):
    front = import_module(f"manyclass.{folder}")
    for name in front.__all__:
        assert getattr(front, name).__name__ == name

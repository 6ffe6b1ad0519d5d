"""The catalog against an obvious twin, a dict in the order of adding; ids that are none; filters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.retrieval.catalog import Catalog, as_array, as_ids, distinct_ids, select_rows


def filled(*ids, **metadata):
    catalog = Catalog()
    catalog.add(list(ids), metadata or None)
    return catalog


@given(steps=st.lists(st.tuples(st.sampled_from(["add", "remove", "select"]), st.integers(0, 5)), max_size=30))
def test_any_sequence_of_changes_leaves_what_a_dict_holds(steps):
    catalog, twin = Catalog(), {}
    for what, key in steps:
        if what == "add" and key not in twin:
            catalog.add([key], [{"n": key}])
            twin[key] = {"n": key}
        elif what == "remove" and key in twin:
            catalog.remove([key])
            del twin[key]
        elif what == "select":
            catalog = catalog.select(catalog.live().tolist())
            assert catalog.n_places == len(twin)
        assert len(catalog) == len(twin)
        assert catalog.ids_at(catalog.live()).tolist() == list(twin)
        assert {key: catalog.record(key) for key in twin} == twin
        assert [key in catalog for key in range(6)] == [key in twin for key in range(6)]
        assert (np.diff(catalog.numbers) > 0).all()


def test_numbers_and_free_ids_are_never_given_twice():
    catalog = filled(4, 7)
    catalog.remove([7])
    catalog = catalog.select(catalog.live().tolist())
    assert catalog.free_ids(2) == [8, 9]
    assert catalog.next_number == 2
    catalog.add([0], None)
    assert list(catalog.numbers) == [0, 2]


def test_strings_have_no_next():
    with pytest.raises(ValueError, match="ids must be given, because those in this gallery are strings"):
        filled("a").free_ids(1)


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (3, [3]),
        ("abc", ["abc"]),
        (np.int8(3), [3]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array(5), [5]),
        (range(2), [0, 1]),
        ([np.str_("x"), "y"], ["x", "y"]),
        ([], []),
        ([2**63 - 1, -(2**63)], [2**63 - 1, -(2**63)]),
    ],
    ids=str,
)
def test_one_id_or_some_become_a_list(ids, found):
    assert as_ids(ids) == found
    assert {type(key) for key in as_ids(ids)} <= {int, str}


@pytest.mark.parametrize("ids", [None, b"ab", 3.5, [2**63], [True], [None], ["a\0"], ["\udc80"]], ids=repr)
def test_what_is_no_id_is_refused(ids):
    with pytest.raises(ValueError, match="ids must be"):
        as_ids(ids)


@pytest.mark.parametrize(
    ("ids", "words"), [(["a", "b", "a"], "distinct; got 'a' twice"), ([1, "a"], "all be integers")]
)
def test_ids_are_of_one_kind_and_none_is_there_twice(ids, words):
    with pytest.raises(ValueError, match=words):
        distinct_ids(ids)


@pytest.mark.parametrize("strings", [True, False])
def test_no_ids_are_an_array_all_the_same(strings):
    assert as_array([], (2, 0), strings).shape == (2, 0)


def test_an_emptied_catalog_takes_another_kind_of_id():
    catalog = filled("a")
    catalog.remove(["a"])
    catalog.check_new([5], 1)
    catalog.add([5], None)
    assert catalog.ids_at(catalog.live()).tolist() == [5]


def test_without_gaps_all_rows_are_none_and_with_one_they_are_listed():
    catalog = filled(10, 20, 30)
    assert select_rows(catalog, None) is None
    catalog.remove([20])
    assert select_rows(catalog, None).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ({"n": 1}, [0, 3]),
        ({"n": [1, 3]}, [0, 2, 3]),
        ({"n": 1, "s": "x"}, [0]),
        ({}, [0, 2, 3]),
        ([True, False, True], [0, 3]),
        ([30, 10, 20, 99], [0, 2]),
        (lambda image: image["n"] > 2, [2]),
        ([], []),
    ],
    ids=["value", "values", "two names", "no names", "mask", "ids", "function", "no ids"],
)
def test_filters_give_ascending_positions_without_the_gaps(where, kept):
    catalog = filled(10, 20, 30, 40, n=[1, 1, 3, 1], s=["x", "x", "x", "y"])
    catalog.remove([20])
    assert select_rows(catalog, where).tolist() == kept

"""Metadata as columns: any form that users have, and nothing that JSON cannot hold."""

import numpy as np
import pytest

from manyclass.retrieval.metadata import MetadataColumns, as_metadata


@pytest.mark.parametrize(
    "given",
    [
        {"year": [2018, 2019], "place": ["Nice", None]},
        {"year": np.array([2018, 2019]), "place": ("Nice", None)},
        {"year": [np.int64(2018), np.int64(2019)], "place": ["Nice", None]},
        [{"year": 2018, "place": "Nice"}, {"year": 2019}],
        ({"year": year, "place": place} for year, place in [(2018, "Nice"), (2019, None)]),
    ],
    ids=["lists", "arrays", "NumPy's numbers", "dicts", "generator"],
)
def test_columns_and_records_say_the_same(given):
    columns = as_metadata(2, given)
    assert columns == {"year": [2018, 2019], "place": ["Nice", None]}
    assert type(columns["year"][0]) is int


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"year": [1]}, r"one value per image \(2\); 'year' has 1"),
        ({"year": "ab"}, "a list of values per name; 'year' has 'ab'"),
        ({3: [1, 2]}, "names that are strings; got 3"),
        ([{"year": 1}], r"one value per image \(2\); 'year' has 1"),
        ([{}], r"one dict per image \(2\); got 1"),
        ([{"year": 1}, 5], "a dict of columns or a list of dicts; got 5"),
        ({"year": [1, float("inf")]}, "representable in JSON; 'year' is not"),
        ({"year": [1, {1, 2}]}, "representable in JSON; 'year' is not"),
    ],
)
def test_what_is_no_metadata_of_two_images_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        as_metadata(2, given)


def test_nothing_is_known_where_nothing_is_given():
    assert as_metadata(2, None) == as_metadata(2, [{}, {}]) == as_metadata(0, []) == {}


def test_a_mistake_leaves_the_columns_as_they_were():
    columns = MetadataColumns()
    columns.append(1, {"year": [1]})
    with pytest.raises(ValueError, match="JSON"):
        columns.append(1, {"year": [2], "bad": [object()]})
    assert columns.values == {"year": [1]}


def test_images_keep_their_values_when_others_are_left_out():
    columns = MetadataColumns()
    columns.append(3, {"year": [1, 2, 3]})
    columns.append(1, None)
    chosen = columns.select([3, 1])
    assert [chosen.record(i) for i in range(2)] == [{"year": None}, {"year": 2}]
    chosen.append(1, {"place": ["Nice"]})
    assert chosen.values == {"year": [None, 2, None], "place": [None, None, "Nice"]}
    assert columns.values == {"year": [1, 2, 3, None]}

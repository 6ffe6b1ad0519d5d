"""Truth by a record, in every form in which one number and many, one query and many are told."""

import numpy as np
import pytest

from manyclass.evaluation.ground_truth_records import truth_from_record

IMAGES = ["a", "b", "c", "d"]


def truth(gnd, first=0, **queries):
    return truth_from_record({"imlist": IMAGES, "gnd": gnd, **(queries or {"qidx": [first]})}, first)


def rows(query):
    return query.easy.tolist(), query.hard.tolist(), query.junk.tolist()


@pytest.mark.parametrize(
    "ok",
    [[2, 3], (2, 3), np.array([[2, 3]]), np.array([2.0, 3.0]), np.array([[2], [3]], np.uint16)],
    ids=["list", "tuple", "row", "floats", "column"],
)
@pytest.mark.parametrize("first", [0, 1])
def test_rows_are_counted_from_the_first(ok, first):
    (query,) = truth([{"ok": ok}], first).queries
    assert rows(query) == ([2 - first, 3 - first], [], [])
    assert (query.name, query.row, query.box) == ("a", 0, None)


@pytest.mark.parametrize("gnd", [[{"ok": 2}], {"ok": 2}, ({"ok": 2},), np.array([{"ok": 2}])], ids=str)
def test_one_query_and_one_number_need_no_list(gnd):
    assert rows(truth(gnd, qidx=1).queries[0]) == ([2], [], [])


def test_easy_and_hard_are_told_apart_where_the_record_does():
    entry = {"easy": [1], "hard": [2, 3], "junk": [], "ok": [0], "bbx": np.array([[1, 2, 3.5, 4]])}
    (query,) = truth([entry]).queries
    assert rows(query) == ([1], [2, 3], [])
    assert query.box == (1.0, 2.0, 3.5, 4.0)


def test_a_query_by_its_name_is_in_the_database_or_is_not():
    found = truth([{"ok": [1]}, {"ok": [2]}], qimlist=[" c.jpg ", "elsewhere"]).queries
    assert [(query.name, query.row) for query in found] == [("c.jpg", 2), ("elsewhere", None)]


@pytest.mark.parametrize(
    ("gnd", "queries", "words"),
    [
        ([{"ok": [1]}], {"qidx": [0, 1]}, r"gnd must have an entry for every query \(2\); got 1"),
        ([{"ok": [1]}], {"qidx": [4]}, r"qidx must name rows of the database, in \[0, 4\); got 4"),
        ([{"ok": [1]}], {"qidx": [-1]}, "qidx must hold whole numbers from 0 on"),
        ([{"ok": [1]}], {"qimlist": [3]}, "qimlist must list names of images; got int"),
        ([{"ok": [1]}], {"qimlist": ["x" * 4097]}, "at most 4096 characters; got one of 4097"),
        ([{"ok": [1]}], {"other": 1}, "the file must have 'qimlist'; got imlist, gnd, other"),
        ([{"ok": [0.5]}], {}, "gnd of query 'a' must be a list of whole numbers; got list"),
        ([{"ok": np.array([0.5])}], {}, r"gnd of query 'a' must hold whole numbers from 0 on; got \[0.5\]"),
        ([{"ok": "1"}], {}, "gnd of query 'a' must be a list of whole numbers; got str"),
        ([{"easy": [1]}], {}, "gnd of query 'a' must have 'hard'; got easy"),
        ([[1]], {}, "gnd of query 'a' must be a mapping with 'ok'; got list"),
        ([{"ok": [], "bbx": [1, 2, 3]}], {}, "gnd of query 'a' must have four numbers as bbx; got list"),
        (3, {}, "gnd, imlist and qimlist must be lists; got int"),
    ],
)
def test_a_record_that_is_no_truth_says_where(gnd, queries, words):
    with pytest.raises(ValueError, match=words):
        truth(gnd, **queries)

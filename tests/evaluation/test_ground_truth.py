"""Truth: rows that are right, and the same in another order."""

import numpy as np
import pytest

from manyclass.evaluation import Query, Truth
from manyclass.evaluation.ground_truth import positions_of_names, stem


def rows(*values):
    return np.array(values, int)


TRUTH = Truth(
    ("a.jpg", "b.jpg", "c.jpg", "d.jpg"),
    (Query("a", rows(1), junk=rows(3), row=0), Query("b", rows(0), rows(2), box=(1, 2, 3, 4))),
)


def sets(truth):
    return [[[truth.names[i] for i in kind] for kind in (q.easy, q.hard, q.junk)] for q in truth.queries]


def test_positives_are_easy_and_hard():
    assert Query("q", rows(5, 1), rows(3)).positives.tolist() == [1, 3, 5]


def test_rows_are_kept_once_and_in_order():
    assert Query("q", rows(5, 1, 5)).easy.tolist() == [1, 5]


def test_labels_tell_what_is_right():
    truth = Truth.from_labels(["x", "y", "z"], ["y", "x", "y"])
    assert [query.positives.tolist() for query in truth.queries] == [[1], [0, 2], []]
    assert [query.row for query in truth.queries] == [None] * 3


def test_a_query_of_the_database_is_not_its_own_positive():
    truth = Truth.from_labels([0, 1], [0, 1, 0, 1], rows=[0, 3])
    assert [query.positives.tolist() for query in truth.queries] == [[2], [1]]
    assert [query.row for query in truth.queries] == [0, 3]


def test_boxes_are_nan_for_whole_images():
    np.testing.assert_array_equal(TRUTH.boxes, [[np.nan] * 4, [1, 2, 3, 4]])


def test_some_queries_can_be_taken():
    assert [query.name for query in TRUTH.take([1, 0, 1]).queries] == ["b", "a", "b"]
    assert TRUTH.take([]).queries == ()


def test_another_order_with_distractors_means_the_same_images():
    moved = TRUTH.reordered(["x", "d", "jpg/c.png", "b", "y", "a"])
    assert sets(moved) == [[["b"], [], ["d"]], [["a"], ["jpg/c.png"], []]]
    assert [query.row for query in moved.queries] == [5, None]
    assert moved.queries[1].box == (1, 2, 3, 4)


def test_junk_may_be_missing_in_another_database():
    assert sets(TRUTH.reordered(["a", "b", "c"]))[0] == [["b"], [], []]


@pytest.mark.parametrize("missing", ["a", "b", "c"])
def test_positives_and_queries_may_not_be_missing(missing):
    with pytest.raises(ValueError, match=f"names must hold every image that counts; '{missing}' is missing"):
        TRUTH.reordered([name for name in "abcd" if name != missing])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Query("q", rows(1, 2), rows(2)), "must share no row; query 'q' has 2 more than once"),
        (lambda: Query("q", rows(1), junk=rows(1)), "must share no row; query 'q' has 1 more than once"),
        (lambda: Query("q", rows(-1)), "easy of query 'q' must be a vector of rows"),
        (lambda: Query("q", np.array([0.5])), "easy of query 'q' must be a vector of rows"),
        (lambda: Query("q", rows(1), row=-1), "row of query 'q' must be a whole number, at least 0; got -1"),
        (lambda: Truth(("a",), (Query("q", rows(1)),)), r"rows of the database, in \[0, 1\); query 'q' has 1"),
        (lambda: Truth(("a",), (Query("q", rows(), row=4),)), r"rows of the database, in \[0, 1\); query 'q' has 4"),
        (lambda: Truth.from_labels([1], [1, 2], rows=[0, 1]), r"rows must have one entry per query \(1\); got 2"),
        (lambda: Truth.from_labels(["1"], [1, 2]), "queries must hold labels of the same kind as database"),
        (
            lambda: TRUTH.reordered(["a", "x/a.jpg"]),
            "names must be distinct without folders and file extensions; got 'a'",
        ),
    ],
)
def test_what_cannot_be_right_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("100000.jpg", "100000"),
        ("a/b\\c.JPEG", "c"),
        (" b.png\n", "b"),
        ("version.2", "version.2"),
        (".jpg", ".jpg"),
        ("a.jpg.png", "a.jpg"),
    ],
)
def test_names_lose_folders_and_endings_of_images(name, short):
    assert stem(name) == short


def test_places_of_names():
    assert positions_of_names(["x/b.jpg", "a"]) == {"b": 0, "a": 1}

"""What each picture is, by people or by what it came with."""

import pytest

from manyclass.runs.labeling.label_state import LabelBook

IDS = ["a", "b", "c", "d"]


def names(book):
    return [None if number < 0 else book.names[number] for number in book.now().y]


def test_what_people_say_goes_before_what_a_picture_came_with(log):
    book = LabelBook(IDS, log, ["cat", "cat", None, None])
    assert names(book) == ["cat", "cat", None, None]
    log.append(["b", "c"], "dog")
    assert names(book) == ["cat", "dog", "dog", None]
    assert book.now().said.tolist() == [False, True, True, False]
    assert book.now().waiting().tolist() == [3]
    assert book.now().unconfirmed().tolist() == [0]
    log.undo()
    assert names(book) == ["cat", "cat", None, None]


def test_what_is_set_aside_is_nothing_and_does_not_wait(log):
    book = LabelBook(IDS, log, ["cat", None, None, None])
    log.append(["a", "b"], None, action="set_aside")
    assert names(book) == [None] * 4
    assert book.now().waiting().tolist() == [2, 3]


def test_what_is_kept_is_confirmed_and_keeps_its_class(log):
    book = LabelBook(IDS, log, ["cat", "dog", None, None])
    log.append(["a"], None, action="keep")
    assert names(book) == ["cat", "dog", None, None]
    assert book.now().unconfirmed().tolist() == [1]


def test_ids_that_are_not_known_are_left_alone(log):
    book = LabelBook(IDS, log)
    log.append(["elsewhere", "a"], "cat")
    log.append(["nowhere"], None, action="set_aside")
    log.append(["neither"], None, action="keep")
    assert names(book) == ["cat", None, None, None]


def test_the_state_is_the_same_until_something_changes(log):
    book = LabelBook(IDS, log)
    before = book.now()
    assert book.now() is before
    log.append(["a"], None, action="set_aside")
    assert book.now() is not before
    assert book.now().differs(before.labels, before.set_aside)


def test_ids_must_be_different_and_labels_as_many(log):
    with pytest.raises(ValueError, match="ids must be different; got 1 of 2 twice"):
        LabelBook(["a", "a"], log)
    with pytest.raises(ValueError, match="given"):
        LabelBook(["a", "b"], log, ["cat"])

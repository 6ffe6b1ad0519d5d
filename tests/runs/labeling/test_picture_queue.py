"""Pictures to ask for by one model."""

import threading

import numpy as np
import pytest

from manyclass.data.dense import DenseMatrix
from manyclass.runs.labeling.label_state import LabelBook
from manyclass.runs.labeling.learned_model import learn
from manyclass.runs.labeling.learning_curve import chance_order
from manyclass.runs.labeling.picture_queue import PictureQueue
from manyclass.runs.labeling.picture_space import PictureSpace

NONE = np.empty(0, np.intp)


@pytest.fixture
def data(rows):
    return rows()


@pytest.fixture
def make(data, log):
    """A function that makes a queue without a model, or with one that learned from labels that pictures came with."""

    def make(given=None):
        book = LabelBook(data.ids, log, given)
        space, now = PictureSpace(DenseMatrix(data.X), 1000, 0), book.now()
        chance = np.array(chance_order(data.ids, 0))
        rows = np.flatnonzero(now.y >= 0)
        if not len(rows):
            return PictureQueue(data.ids, chance, space, now, None, NONE, NONE, NONE), book
        model = learn(space, rows, now.y[rows], book.names, now.waiting())
        counts = np.bincount(now.y[rows])
        return PictureQueue(data.ids, chance, space, now, model, rows, now.y[rows], counts), book

    return make


def test_every_fifth_is_by_chance_in_an_order_that_does_not_depend_on_the_model(make, data):
    queue, book = make()
    found = queue.mixed(book.now(), (), 50)
    assert len({one.id for one in found}) == 50
    assert [one.position for one in found if one.reason == "random"] == chance_order(data.ids, 0)[:10]
    assert [i for i, one in enumerate(found) if one.reason == "random"] == list(range(4, 50, 5))


def test_one_by_one_gives_the_same_share_by_chance_as_many_at_once(make, log, data):
    queue, book = make()
    reasons = []
    for _ in range(40):
        (one,) = queue.mixed(book.now(), (), 1)
        reasons.append(one.reason)
        log.append([one.id], "ant")
    assert reasons.count("random") == 8


def test_pictures_that_others_look_at_or_that_are_labeled_or_set_aside_do_not_come(make, log, data):
    queue, book = make()
    first = [one.id for one in queue.mixed(book.now(), (), 3)]
    log.append(first[:1], "ant")
    log.append(first[1:2], None, action="set_aside")
    for by in ("typical", "uncertain", "rare"):
        found = queue.take(by, book.now(), first[2:], 500)
        assert len(found) == len(data.ids) - 3
        assert not {one.id for one in found} & set(first)
    assert not {one.id for one in queue.mixed(book.now(), first[2:], 500)} & set(first)


def test_all_come_in_the_end_and_then_none(make, log, data):
    queue, book = make()
    assert len(queue.mixed(book.now(), (), 1000)) == len(data.ids)
    log.append(data.ids, "ant")
    assert queue.mixed(book.now(), (), 5) == []
    assert queue.take("typical", book.now(), (), 5) == []


def test_labels_that_are_likely_wrong_come_first_and_are_asked_for_where_all_have_labels(make, data, log):
    given = list(data.labels)
    given[7] = "dog" if given[7] != "dog" else "ant"
    queue, book = make(given)
    first = queue.take("wrong", book.now(), (), 1)[0]
    assert (first.position, first.reason) == (7, "wrong")
    assert first.words == f"its label is {given[7]}, but it looks like {data.labels[7]}"
    assert queue.mixed(book.now(), (), 1)[0].position == 7
    log.append([data.ids[7]], None, action="keep")
    assert 7 not in [one.position for one in queue.take("wrong", book.now(), (), 100)]


def test_without_given_labels_none_is_wrong(make):
    queue, book = make()
    assert queue.take("wrong", book.now(), (), 5) == []


def test_threads_that_ask_at_once_get_the_same_pictures(make):
    queue, book = make()
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(queue.take("typical", book.now(), (), 60))) for _ in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)

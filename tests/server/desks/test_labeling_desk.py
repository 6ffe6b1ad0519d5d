"""The labeling desk: what is said is on disk, what is learned is learned behind, and nobody waits."""

import errno
import os
import threading
from dataclasses import dataclass

import pytest

from manyclass.runs.labeling import LabelLog
from manyclass.server.app import ApiError
from manyclass.server.desks import labeling_desk
from manyclass.server.desks.labeling_desk import LabelingDesk
from tests.server.small_collection import Heard


class FakeModel:
    classes_ = ("ant", "elk")


@dataclass
class FakeCollection:
    home: object
    ids: tuple = tuple(f"{i}.jpg" for i in range(100))
    model: object = None
    X: object = None

    @property
    def given(self):
        return ["bee" if i < 10 else None for i in range(len(self.ids))]

    def number(self, id):
        return self.ids.index(id)

    def picture(self, number):
        return {"id": self.ids[number], "label": None, "set_aside": False}


class FakeSession:
    """Learns when it is let."""

    def __init__(self, X, ids, log, given=None, classes=(), model=None):
        self.log, self.classes, self.trained_on = log, classes, 0
        self.trainings, self.begun, self.gate = [], threading.Semaphore(0), threading.Semaphore(0)
        self.error = None

    def needs_training(self):
        return False

    def train(self):
        now = len(self.log.labels)
        self.begun.release()
        assert self.gate.acquire(timeout=20)
        if self.error:
            raise self.error
        self.trainings.append(now)
        self.trained_on = now

    def curve(self):
        return []

    def last_gain(self):
        return ""


@pytest.fixture(autouse=True)
def fake_session(monkeypatch):
    monkeypatch.setattr("manyclass.runs.labeling.LabelingSession", FakeSession, raising=False)


@pytest.fixture
def collection(tmp_path):
    return FakeCollection(tmp_path / "home")


@pytest.fixture
def make(collection):
    """make(...): a desk that is closed at the end."""
    desks = []

    def make(*args, **settings):
        desks.append(LabelingDesk(collection, *args, **settings))
        return desks[-1]

    yield make
    for desk in desks:
        if desk._session is not None:
            desk._session.gate.release(100)
        desk.close()


def test_nothing_is_written_before_something_is_said(make, collection):
    desk = make()
    assert (desk.state()["labeled"], desk.classes("bee")) == (0, [{"name": "bee", "given": 10, "labeled": 0}])
    assert not collection.home.exists()
    desk.say(["1.jpg"], "cat")
    assert [path.name for path in collection.home.iterdir()] == ["labels.jsonl"]


def test_what_was_said_is_there_when_the_server_starts_again(make):
    first = make()
    first.say(["1.jpg", "2.jpg"], "cat", who="Ada", proposed="dog")
    first.say(["3.jpg"], "dog", who="Ada")
    assert first.undo("Ada").ids == ("3.jpg",)
    first.close()
    again = make()
    assert again.said().labels == {"1.jpg": "cat", "2.jpg": "cat"}
    assert again.log.events()[0].proposed == "dog"
    assert again.log.is_undone(2)


def test_labels_of_people_come_before_those_of_the_data_and_what_is_set_aside_has_none(make):
    desk = make()
    desk.say(["0.jpg", "50.jpg"], "cat")
    desk.say(["1.jpg"], None, action="set_aside")
    now = desk.labels_now()
    assert (now[0], now[1], now[2], now[50], now[51]) == ("cat", None, "bee", "cat", None)
    assert desk.picture(1)["set_aside"]
    assert desk.picture(0)["label"] == "cat"


def test_an_unknown_picture_is_named_and_nothing_is_taken(make, collection):
    desk = make()
    with pytest.raises(ApiError, match="not") as error:
        desk.say(["1.jpg", "nowhere.jpg"], "cat")
    assert error.value.status == 404
    assert not collection.home.exists()


def test_each_takes_back_the_last_of_their_own(make):
    desk = make()
    desk.say(["1.jpg"], "cat", who="Ada")
    desk.say(["2.jpg"], "dog", who="Bob")
    assert desk.undo("Ada").number == 1
    assert desk.undo("Ada") is None
    assert desk.said().labels == {"2.jpg": "dog"}


def test_many_people_at_once_lose_nothing(make, collection):
    desk = make()

    def say(person):
        for i in range(10):
            desk.say([f"{10 * person + i}.jpg"], f"class {i}", who=str(person))

    people = [threading.Thread(target=say, args=(person,)) for person in range(10)]
    for one in people:
        one.start()
    for one in people:
        one.join()
    assert len(desk.said().labels) == 100
    numbers = [event.number for event in desk.log.events()]
    assert numbers == list(range(1, 101))
    desk.close()
    with LabelLog(collection.home / "labels.jsonl") as log:
        assert len(log.labels) == 100


def test_new_classes_are_found_as_soon_as_they_are_used(make, collection):
    collection.model = FakeModel()
    desk = make()
    assert [one["name"] for one in desk.classes("")] == ["ant", "bee", "elk"]
    desk.say(["1.jpg"], "zebra")
    assert desk.classes("")[0] == {"name": "zebra", "given": 0, "labeled": 1}
    assert desk.classes("zerba")[0]["name"] == "zebra"
    assert desk.session.classes == ["ant", "bee", "elk"]


def test_learning_waits_for_a_moment_and_then_learns_all_that_was_said(make):
    heard = Heard()
    desk = make(heard, enough=1000, moment=0.05)
    session = desk.session
    for i in range(5):
        desk.say([f"{i}.jpg"], "cat")
    session.gate.release(5)  # on a slow machine a moment passes between two labels
    heard.wait(lambda state: state["trained_on"] == 5 and not state["training"])
    assert session.trainings[-1] == 5


def test_enough_labels_are_learned_without_waiting_and_what_is_said_meanwhile_is_learned_next(make):
    heard = Heard()
    desk = make(heard, enough=3, moment=1000)
    session = desk.session
    for i in range(3):
        desk.say([f"{i}.jpg"], "cat")
    assert session.begun.acquire(timeout=20)  # it learns now, and nobody waits for it
    assert desk.state()["training"]
    for i in range(3, 20):
        desk.say([f"{i}.jpg"], "dog")
    assert len(desk.said().labels) == 20
    session.gate.release(2)
    heard.wait(lambda state: state["trained_on"] == 20)
    assert session.trainings == [3, 20]


def test_nothing_is_learned_until_somebody_asks_for_it(make):
    desk = make(enough=1, moment=0)
    desk.say(["1.jpg"], "cat")
    assert desk._thread is None
    assert desk.state()["trained_on"] == 0


def test_nobody_who_looks_at_pictures_waits_for_what_learns_to_be_made(make, monkeypatch):
    begun, gate = threading.Event(), threading.Event()

    class SlowSession(FakeSession):
        def __init__(self, *args, **settings):
            begun.set()
            assert gate.wait(20)
            super().__init__(*args, **settings)

    monkeypatch.setattr("manyclass.runs.labeling.LabelingSession", SlowSession)
    desk = make()
    making = threading.Thread(target=lambda: desk.session)
    making.start()
    assert begun.wait(20)
    desk.say(["1.jpg"], "cat")
    assert (desk.picture(1)["label"], desk.state()["labeled"]) == ("cat", 1)
    gate.set()
    making.join(20)
    assert isinstance(desk.session, SlowSession)


def test_learning_that_fails_is_told_and_labels_are_taken_all_the_same(make):
    heard = Heard()
    desk = make(heard, enough=1, moment=0)
    session = desk.session
    session.error = ValueError("there is nothing to learn from")
    desk.say(["1.jpg"], "cat")
    session.gate.release()
    heard.wait(lambda state: state["problem"] == "learning from the labels failed: there is nothing to learn from")
    session.error = None
    desk.say(["2.jpg"], "dog")
    session.gate.release()
    heard.wait(lambda state: state["trained_on"] == 2 and not state["problem"] and not state["training"])


def test_a_desk_that_is_closed_learns_no_more(make):
    desk = make(enough=1, moment=0)
    session = desk.session
    desk.say(["1.jpg"], "cat")
    assert session.begun.acquire(timeout=20)
    desk.close()
    session.gate.release()
    desk._thread.join(20)
    assert not desk._thread.is_alive()


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (
            errno.ENOSPC,
            507,
            r"labels.jsonl cannot be written \(no space left on device\): nothing was labeled; make room",
        ),
        (errno.EDQUOT, 507, "nothing was labeled; make room on the disk"),
        (errno.EIO, 503, "nothing was labeled; look at the disk"),
    ],
)
def test_a_disk_that_takes_no_more_is_told_and_nothing_is_lost(make, monkeypatch, number, status, words):
    desk = make()
    desk.say(["1.jpg"], "cat")

    def refuse(*args):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", refuse)
        with pytest.raises(ApiError, match=words) as error:
            desk.say(["2.jpg"], "dog")
        with pytest.raises(ApiError, match="nothing was taken back"):
            desk.undo()
    assert error.value.status == status
    assert desk.said().labels == {"1.jpg": "cat"}
    desk.say(["3.jpg"], "dog")  # there is room again
    desk.close()
    assert make().said().labels == {"1.jpg": "cat", "3.jpg": "dog"}


def test_a_home_that_cannot_be_written_is_told_in_one_sentence(make, collection):
    collection.home.write_text("a file in the way")
    with pytest.raises(ApiError, match=r"cannot be written \(file exists\): nothing was labeled") as error:
        make().say(["1.jpg"], "cat")
    assert error.value.status == 503


def test_a_log_that_another_server_writes_is_told_and_tried_again(make, collection):
    first = make()
    first.say(["1.jpg"], "cat")
    second = make()
    with pytest.raises(ApiError, match="being written by another process") as error:
        second.say(["2.jpg"], "cat")
    assert error.value.status == 503
    first.close()
    second.say(["2.jpg"], "cat")
    assert len(second.said().labels) == 2


def test_a_torn_line_is_cut_off_and_said(make, collection):
    desk = make()
    desk.say(["1.jpg"], "cat")
    desk.close()
    with open(collection.home / "labels.jsonl", "ab") as file:
        file.write(b'{"number":2,"time":"2026-01-')
    again = make()
    assert again.said().labels == {"1.jpg": "cat"}
    assert "cut off" in again.state()["problem"]
    again.say(["2.jpg"], "dog")
    again.close()
    third = make()
    assert (third.said().labels, third.state()["problem"]) == ({"1.jpg": "cat", "2.jpg": "dog"}, "")


def test_damage_before_the_end_is_told_and_nothing_is_changed(make, collection):
    desk = make()
    desk.say(["1.jpg"], "cat")
    desk.say(["2.jpg"], "dog")
    desk.close()
    path = collection.home / "labels.jsonl"
    path.write_bytes(damaged := path.read_bytes().replace(b"cat", b"cot"))
    again = make()
    with pytest.raises(ApiError, match="line 1 does not match its checksum"):
        again.say(["3.jpg"], "cat")
    assert "line 1 does not match its checksum" in again.state()["problem"]
    assert again.picture(1)["label"] is None  # pictures are found all the same
    assert path.read_bytes() == damaged


def test_settings_of_learning_are_such_that_a_page_is_served():
    assert 5 <= labeling_desk.ENOUGH <= 100
    assert 0.2 <= labeling_desk.MOMENT <= 5

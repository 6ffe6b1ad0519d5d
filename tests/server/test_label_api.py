"""Labels over HTTP: giving, taking back, classes, and which picture is next."""

import errno
import json
import os
from typing import get_args

import pytest

from manyclass.runs.labeling import CHOICES, REASONS, read_label_events
from manyclass.server import label_api
from manyclass.server.desks.labeling_desk import MOST_ASKERS
from tests.server.small_collection import CLASSES, asking, names, open_small, write_gallery

IDS = names()


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    return write_gallery(tmp_path_factory.mktemp("small"))


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def asker(gallery, home):
    with asking(open_small(gallery, home)) as asker:
        yield asker


@pytest.fixture(scope="module")
def reader(gallery, tmp_path_factory):
    """One asker for all that leaves nothing behind."""
    with asking(open_small(gallery, tmp_path_factory.mktemp("reader") / "home")) as asker:
        yield asker


def test_a_label_is_on_disk_when_it_is_answered(asker, home):
    said = asker.post("/api/labels", ids=IDS[:2], label=" dog ", who="Ada", proposed="cat", source="label")
    assert said.status_code == 200
    assert said.json() == {"event": 1, "ids": IDS[:2], "label": "dog", "labeled": 2}
    (event,) = read_label_events(home / "labels.jsonl")
    assert (event.ids, event.label, event.who, event.proposed, event.source) == (
        tuple(IDS[:2]), "dog", "Ada", "cat", "label",
    )  # fmt: skip


def test_labels_are_taken_away_and_pictures_set_aside(asker):
    asker.post("/api/labels", ids=IDS[:3], label="dog")
    assert asker.post("/api/labels", ids=IDS[:1], label=None).json()["labeled"] == 2
    aside = asker.post("/api/labels", ids=IDS[1:2], action="set_aside")
    assert (aside.status_code, aside.json()["labeled"]) == (200, 1)
    assert asker.state.desk.said().set_aside == {IDS[1]}


def test_undo_takes_back_the_last_word_of_a_person(asker):
    asker.post("/api/labels", ids=IDS[:1], label="dog", who="Ada")
    asker.post("/api/labels", ids=IDS[1:2], label="dog", who="Bob")
    first = asker.post("/api/labels/undo", who="Ada").json()
    assert (first["undone"]["number"], first["undone"]["undone"], first["labeled"]) == (1, True, 1)
    assert asker.post("/api/labels/undo", who="Ada").json() == {"undone": None, "labeled": 1}


def test_undo_of_one_event_takes_it_back_once(asker):
    for label in ("dog", "elk"):
        asker.post("/api/labels", ids=IDS[:1], label=label)
    assert asker.post("/api/labels/undo", event=1).json()["undone"]["number"] == 1
    assert asker.post("/api/labels/undo", event=1).json()["undone"] is None
    assert asker.state.desk.said().labels == {IDS[0]: "elk"}


@pytest.mark.parametrize("event", [True, "1", 0, 1.5])
def test_an_event_is_a_number(reader, event):
    assert reader.post("/api/labels/undo", event=event).status_code == 422


def test_all_that_was_said_is_told_the_newest_first(asker):
    for i in range(5):
        asker.post("/api/labels", ids=IDS[i : i + 1], label=f"class {i}")
    asker.post("/api/labels/undo")
    page = asker.get("/api/labels", start=1, count=2).json()
    assert page["total"] == 6
    assert [(event["number"], event["undone"]) for event in page["events"]] == [(5, True), (4, False)]
    assert asker.get("/api/labels", count=1).json()["events"][0]["undoes"] == 5


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"ids": ["nowhere.jpg"], "label": "cat"}, 404, "ids must be those of pictures of small.gallery; got 'nowhere"),
        ({"ids": [], "label": "cat"}, 422, "ids"),
        ({"ids": ["x"] * 10_001, "label": "cat"}, 422, "10000"),
        ({"ids": [IDS[0]], "label": "  "}, 400, "label must not be empty"),
        ({"ids": [IDS[0]], "label": "two\nlines"}, 400, "label must be one line of text"),
        ({"ids": [IDS[0]], "label": "x" * 501}, 422, "500"),
        ({"ids": [IDS[0]], "label": 7}, 422, "label"),
        ({"ids": IDS[0], "label": "cat"}, 422, "ids"),
        ({"ids": [IDS[0]], "label": "cat", "action": "set_aside"}, 400, "must be None for pictures that are set aside"),
        ({"ids": [IDS[0]], "label": "cat", "action": "undo"}, 422, "action"),
        ({"ids": [IDS[0]], "label": "cat", "source": "elsewhere"}, 422, "source"),
        ({"ids": [IDS[0]], "label": "cat", "time": "now"}, 422, "time"),
        ({"ids": [IDS[0]], "label": "cat", "who": "a\tb"}, 400, "who must be one line of text"),
        ({"label": "cat"}, 422, "`ids` must be given"),
        ([], 422, "body"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_one_sentence_and_nothing_is_written(reader, body, status, words):
    answer = reader("POST", "/api/labels", json=body)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert words in answer.json()["error"]
    assert not reader.state.collection.home.exists()


def test_half_of_a_letter_is_refused(reader):
    body = json.dumps({"ids": [IDS[0]], "label": "\ud800"})
    answer = reader("POST", "/api/labels", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert not reader.state.collection.home.exists()


def test_a_full_disk_is_507_and_labels_are_taken_again_when_there_is_room(asker, home, monkeypatch):
    asker.post("/api/labels", ids=IDS[:1], label="dog")
    descriptor, write = asker.state.desk.log._descriptor, os.write

    def full(file, data):
        if file == descriptor:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data)

    with monkeypatch.context() as broken:
        broken.setattr(os, "write", full)
        answer = asker.post("/api/labels", ids=IDS[1:2], label="dog")
        undo = asker.post("/api/labels/undo")
    assert (answer.status_code, undo.status_code) == (507, 507)
    assert "make room on the disk and say it again" in answer.json()["error"]
    assert asker.post("/api/labels", ids=IDS[2:3], label="dog").json()["labeled"] == 2
    assert [event.ids for event in read_label_events(home / "labels.jsonl")] == [(IDS[0],), (IDS[2],)]


def test_a_home_in_whose_way_something_is_is_503(gallery, home):
    home.write_text("")
    with asking(open_small(gallery, home)) as asker:
        answer = asker.post("/api/labels", ids=IDS[:1], label="dog")
        assert (answer.status_code, "labels.jsonl cannot be written" in answer.json()["error"]) == (503, True)
        assert asker.get("/api/status").status_code == 200


def test_many_people_at_once_are_all_heard(asker):
    requests = [
        ("POST", "/api/labels", {"json": {"ids": [one], "label": f"class {i % 7}", "who": f"person {i % 10}"}})
        for i, one in enumerate(IDS)
    ]
    answers = asker.together(requests)
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["event"] for answer in answers) == list(range(1, len(IDS) + 1))
    assert asker.get("/api/labeling").json()["labeled"] == len(IDS)


def test_classes_are_found_by_letters_with_how_many_there_are(asker):
    asker.post("/api/labels", ids=IDS[:3], label="bumblebee")
    found = asker.get("/api/classes", text="bee").json()
    assert found["total"] == 2
    assert found["classes"] == [
        {"name": "bee", "given": 30, "labeled": 0},
        {"name": "bumblebee", "given": 0, "labeled": 3},
    ]
    assert [one["name"] for one in asker.get("/api/classes").json()["classes"]] == ["bumblebee", *CLASSES]
    assert asker.get("/api/classes", count=1).json()["total"] == 4
    assert len(asker.get("/api/classes", count=1).json()["classes"]) == 1


def test_everything_waits_for_the_pictures(gallery, home):
    with asking(lambda state: None) as asker:
        for address in ("/api/labels", "/api/labeling", "/api/labeling/next", "/api/classes"):
            answer = asker.get(address)
            assert (answer.status_code, "being prepared" in answer.json()["error"]) == (503, True)
        assert asker.post("/api/labels", ids=IDS[:1], label="x").status_code == 503
        asker.state.set_ready(open_small(gallery, home))
        assert asker.get("/api/labeling").json()["labeled"] == 0


def test_ways_to_choose_are_those_of_the_engine():
    assert get_args(label_api.ChoiceName) == tuple(CHOICES)


def test_the_next_pictures_come_with_reason_and_proposals(asker):
    asker.post("/api/labels", ids=IDS[:1], label="dog")
    choices = asker.get("/api/labeling/next", count=4, exclude=IDS[:2]).json()["choices"]
    assert len(choices) == 4
    assert not {IDS[0], IDS[1]} & {choice["picture"]["id"] for choice in choices}
    for choice in choices:
        assert choice["words"]
        assert choice["reason"] in REASONS
        assert len(choice["proposals"]) <= 5


def test_proposals_follow_what_is_learned(asker):
    desk = asker.state.desk
    desk.session.train()
    best = asker.get("/api/labeling/proposals", id=IDS[35]).json()["proposals"]
    assert best[0]["label"] == "bee"
    assert best[0]["probability"] >= best[1]["probability"]
    assert asker.get("/api/labeling/proposals", id="nowhere").status_code == 404


@pytest.mark.parametrize("query", ["by=best", "count=0", "count=101", "exclude="])
def test_a_wrong_way_to_choose_is_refused(reader, query):
    answer = reader("GET", f"/api/labeling/next?{query}")
    assert (answer.status_code, answer.json().keys()) == (422, {"error"})


def test_pictures_that_are_not_there_cannot_be_left_out(asker):
    assert asker.get("/api/labeling/next", exclude="nowhere").status_code == 404


def test_labeling_is_learned_behind_and_told_as_an_event(asker, monkeypatch):
    from tests.server.small_collection import Heard

    heard = Heard()
    monkeypatch.setattr(asker.state.events, "publish", heard)
    asker.state.desk._publish = heard
    asker.get("/api/labeling/next")
    asker.post("/api/labels", ids=IDS[:5], label="dog")
    asker.post("/api/labels", ids=IDS[60:65], label="cat")
    heard.wait(lambda state: state["trained_on"] >= 10 and not state["training"])
    told = asker.get("/api/labeling").json()
    assert (told["labeled"], told["classes"], told["problem"]) == (10, 2, "")


def test_not_all_threads_wait_for_what_learns(asker):
    desk = asker.state.desk
    for _ in range(MOST_ASKERS):
        assert desk.askers.acquire(blocking=False)
    answers = [asker.get("/api/labeling/next"), asker.get("/api/labeling/proposals", id=IDS[0])]
    assert [(one.status_code, one.headers["Retry-After"]) for one in answers] == [(503, "1"), (503, "1")]
    assert asker.post("/api/labels", ids=IDS[:1], label="dog").status_code == 200
    desk.askers.release()
    for _ in range(2):  # each gives its place back
        assert asker.get("/api/labeling/next").status_code == 200

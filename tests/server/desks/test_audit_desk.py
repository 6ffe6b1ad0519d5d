"""Which of some copies is kept, and what is shown of an audit."""

import threading
from dataclasses import dataclass

import pytest

from manyclass.server.app import ApiError
from manyclass.server.desks.audit_desk import AUDIT_FILE, AuditDesk
from manyclass.server.desks.labeling_desk import LabelingDesk
from manyclass.server.jobs import Events, Jobs
from tests.server.small_collection import COPY, ORIGINAL, WRONG, names, open_small, write_gallery

IDS = names()


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    return write_gallery(tmp_path_factory.mktemp("small"))


@pytest.fixture
def collection(gallery, tmp_path):
    collection = open_small(gallery, tmp_path / "home")
    yield collection
    collection.close()


@pytest.fixture
def desk(collection):
    desk = LabelingDesk(collection)
    yield desk
    desk.close()


@pytest.fixture
def audits(desk):
    return AuditDesk(desk, Jobs(Events()))


def done(audits, checks=("labels", "duplicates", "outliers"), threshold=0.999):
    job = audits.start(checks, threshold)
    assert job.finished.wait(60)
    assert job.error is None
    return audits


@dataclass
class FileFacts:
    width: int | None
    height: int | None
    bytes: int | None
    modified: str | None


FACTS = {ORIGINAL: FileFacts(100, 100, 900, "2020-01-01T00:00:00+00:00"), COPY: FileFacts(200, 100, 500, "2024-01-01")}


@pytest.mark.parametrize(
    ("rule", "folder", "keeper"),
    [
        ("largest", "", COPY),
        ("oldest", "", ORIGINAL),
        ("first", "", ORIGINAL),
        ("first", f"folder{COPY % 3}", COPY),
        ("first", f"folder{ORIGINAL % 3}", ORIGINAL),
        ("first", "elsewhere", ORIGINAL),
        ("first", f"folder{COPY % 3}"[:-1], ORIGINAL),  # a part of a name is no folder
    ],
)
def test_the_rule_says_which_one_to_keep(audits, monkeypatch, rule, folder, keeper):
    done(audits, ["duplicates"])
    monkeypatch.setattr(audits.collection.pictures, "stat", FACTS.get)
    (group,) = audits.duplicates(rule, folder, 0, 10)["groups"]
    assert group["keeper"] == IDS[keeper]
    assert [one["width"] for one in group["pictures"]] == [100, 200]


@pytest.mark.parametrize("rule", ["largest", "oldest", "first"])
def test_without_files_the_first_is_kept(audits, rule):
    done(audits, ["duplicates"])
    assert audits.duplicates(rule, "", 0, 10)["groups"][0]["keeper"] == IDS[ORIGINAL]


def test_files_are_looked_at_for_the_groups_that_are_shown_alone(audits, monkeypatch):
    done(audits, ["duplicates"], 0.97)
    seen = []
    monkeypatch.setattr(audits.collection.pictures, "stat", lambda n: seen.append(n) or FileFacts(1, 1, 1, "2020"))
    shown = audits.duplicates("largest", "", 1, 2)["groups"]
    assert sorted(seen) == sorted(one["number"] for group in shown for one in group["pictures"])


def test_suspects_stand_beside_the_nearest_of_both_classes(audits):
    first = done(audits).suspects("", 0, 1)["suspects"][0]
    assert (first["picture"]["number"], first["given"], first["proposed"]) == (WRONG, "cat", "ant")
    gallery, given = audits.collection.gallery, audits.collection.given
    for key, name in (("near_given", "cat"), ("near_proposed", "ant")):
        mask = [label == name for label in given]
        expected = gallery.search_ids([IDS[WRONG]], k=2, where=[one for one, hit in zip(IDS, mask, strict=True) if hit])
        assert [one["id"] for one in first[key]] == expected.ids[0].tolist()
        assert IDS[WRONG] not in [one["id"] for one in first[key]]


def test_the_nearest_of_a_class_follow_what_people_say(audits, desk):
    first = done(audits).suspects("", 0, 1)["suspects"][0]
    nearest = first["near_proposed"][0]["id"]
    desk.say([nearest], None, action="set_aside")
    again = audits.suspects("", 0, 1)["suspects"][0]
    assert nearest not in [one["id"] for one in again["near_proposed"]]


def test_a_class_without_others_has_no_nearest(audits, desk):
    desk.say([IDS[WRONG]], "unicorn")
    desk.say([IDS[WRONG + 1]], "centaur")
    done(audits)
    shown = {one["picture"]["number"]: one for one in audits.suspects("", 0, 100)["suspects"]}
    assert all(len(one["near_given"]) == 0 for one in shown.values() if one["given"] in ("unicorn", "centaur"))


def test_classes_with_most_suspects_come_first_and_one_can_be_chosen(audits, desk):
    desk.say(IDS[10:13], "bee")
    found = done(audits).suspects("", 0, 100)
    counts = [one["suspects"] for one in found["classes"]]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == found["total"]
    bees = audits.suspects("bee", 0, 100)
    assert {one["given"] for one in bees["suspects"]} == {"bee"}
    assert bees["total"] == next(one["suspects"] for one in found["classes"] if one["name"] == "bee")
    assert [one["picture"]["number"] for one in audits.suspects("bee", 1, 1)["suspects"]] == [
        bees["suspects"][1]["picture"]["number"]
    ]


def test_decisions_are_told_and_can_be_taken_back(audits, desk):
    done(audits)

    def decision():
        return audits.suspects("", 0, 1)["suspects"][0]["decision"]

    assert decision() is None
    for action, label, expected in (("keep", None, "keep"), ("label", "ant", "fix"), ("set_aside", None, "set_aside")):
        desk.say([IDS[WRONG]], label, action=action, source="audit")
        assert decision() == expected
    desk.undo()
    assert decision() == "fix"


def test_what_was_kept_is_not_suspected_by_the_next_audit(audits, desk):
    done(audits)
    desk.say([IDS[WRONG]], None, action="keep", source="audit")
    done(audits)
    assert WRONG not in [one.number for one in audits.audit().suspects]


def test_labels_of_people_are_judged(audits, desk):
    desk.say([IDS[20]], "bee")
    first = done(audits).suspects("bee", 0, 1)["suspects"][0]
    assert (first["picture"]["id"], first["given"], first["proposed"]) == (IDS[20], "bee", "ant")


def test_an_earlier_audit_is_there_after_a_restart_with_a_note_of_what_changed(audits, desk):
    done(audits)
    desk.say([IDS[WRONG]], "ant", source="audit")
    again = AuditDesk(desk, Jobs(Events()))
    assert (again.status()["state"], again.status()["counts"]) == ("done", audits.status()["counts"])
    assert again.status()["notes"] == []
    desk.say([IDS[0], IDS[1]], "bee")
    desk.say([IDS[0]], "bee")
    assert again.status()["notes"] == ["labels have changed since this audit, 2 times; audit again to take that in"]
    assert AuditDesk(desk, Jobs(Events())).status()["notes"] == again.status()["notes"]


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"content":{"version":9},"sha256":"0"}\n'])
def test_a_file_that_is_damaged_is_a_note(audits, desk, damage):
    done(audits)
    path = desk.collection.home / AUDIT_FILE
    path.write_bytes(damage)
    again = AuditDesk(desk, Jobs(Events()))
    assert again.status()["state"] == "none"
    assert "audit again" in again.status()["notes"][0]


def test_an_audit_that_cannot_be_written_is_shown_all_the_same(audits, desk):
    desk.collection.home.write_text("in the way")
    done(audits)
    assert audits.status()["state"] == "done"
    assert "could not be written" in audits.status()["notes"][0]


def test_one_audit_runs_at_a_time(audits, monkeypatch):
    gate = threading.Event()
    monkeypatch.setattr("manyclass.server.desks.audit_desk.is_affordable", lambda X: gate.wait(20))
    job = audits.start(["labels"], 0.9)
    assert audits.start(["labels"], 0.9) is job
    assert audits.status()["state"] == "running"
    with pytest.raises(ApiError, match="an audit of other things is under way") as error:
        audits.start(["outliers"], 0.9)
    assert error.value.status == 409
    gate.set()
    assert job.finished.wait(60)


def test_an_audit_that_fails_is_told_and_the_last_one_stays(audits, monkeypatch):
    done(audits)
    monkeypatch.setattr("manyclass.server.desks.audit_desk.audit_collection", lambda *args, **settings: 1 / 0)
    job = audits.start(["labels"], 0.9)
    assert job.finished.wait(60)
    status = audits.status()
    assert (status["state"], "ZeroDivisionError" in status["job"]["error"]) == ("failed", True)
    assert status["counts"]["labels"] == len(audits.audit().suspects)


def test_embeddings_are_looked_at_where_features_do_not_fit(audits, monkeypatch):
    monkeypatch.setattr("manyclass.server.desks.audit_desk.is_affordable", lambda X: False)
    done(audits)
    assert audits.status()["notes"] == [
        "there is too little memory for the features, so that embeddings were looked at"
    ]
    assert audits.audit().suspects[0].number == WRONG

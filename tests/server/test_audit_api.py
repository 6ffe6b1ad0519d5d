"""The audit over HTTP: begun, watched, shown and answered."""

import pytest

from manyclass.audit import label_errors
from tests.server.small_collection import (
    COPY,
    ORIGINAL,
    WRONG,
    asking,
    names,
    open_small,
    rows,
    wait_for_job,
    write_gallery,
)

IDS = names()


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    return write_gallery(tmp_path_factory.mktemp("small"))


@pytest.fixture
def asker(gallery, tmp_path):
    with asking(open_small(gallery, tmp_path / "home")) as asker:
        yield asker


@pytest.fixture(scope="module")
def audited(gallery, tmp_path_factory):
    """An asker after one audit; tests take back what they decide."""
    with asking(open_small(gallery, tmp_path_factory.mktemp("audited") / "home")) as asker:
        yield audit(asker)


def audit(asker):
    started = asker.post("/api/audit", checks=["labels", "duplicates", "outliers"], threshold=0.999)
    assert started.status_code == 200
    assert wait_for_job(asker, started.json()).error is None
    return asker


def test_an_audit_is_begun_watched_and_done(asker):
    assert asker.get("/api/audit").json()["state"] == "none"
    started = asker.post("/api/audit")
    assert started.json()["job"]["kind"] == "audit"
    wait_for_job(asker, started.json())
    told = asker.get("/api/audit").json()
    assert told["state"] == "done"
    assert told["job"]["state"] == "done"
    assert told["checks"] == ["labels", "duplicates", "outliers"]
    assert told["counts"].keys() == {"labels", "duplicates", "outliers"}
    assert [job["kind"] for job in asker.get("/api/status").json()["jobs"]] == ["audit"]


def test_suspects_are_those_of_the_library(audited):
    X, y = rows()
    expected = label_errors(X, y).ranked(0.05)
    page = audited.get("/api/audit/labels", count=200).json()
    assert [one["picture"]["number"] for one in page["suspects"]] == expected.tolist()
    first = page["suspects"][0]
    assert (first["picture"]["id"], first["given"], first["proposed"]) == (IDS[WRONG], "cat", "ant")
    assert [len(first["near_given"]), len(first["near_proposed"])] == [2, 2]
    assert audited.get("/api/audit/labels", **{"class": "cat"}).json()["suspects"][0] == first
    assert audited.get("/api/audit/labels", **{"class": "nothing"}).json()["suspects"] == []


def test_duplicates_come_in_groups(audited):
    page = audited.get("/api/audit/duplicates", rule="first").json()
    assert page["total"] == 1
    (group,) = page["groups"]
    assert [one["number"] for one in group["pictures"]] == [ORIGINAL, COPY]
    assert (group["keeper"], group["pictures"][0]["width"]) == (IDS[ORIGINAL], None)
    assert group["similarity"] > 0.999


def test_outliers_come_with_distance_and_percentile(audited):
    page = audited.get("/api/audit/outliers").json()
    distances = [one["distance"] for one in page["outliers"]]
    assert distances == sorted(distances, reverse=True)
    assert page["total"] == len(distances)


@pytest.mark.parametrize(("decision", "label"), [("keep", None), ("set_aside", None), ("fix", "ant")])
def test_decisions_are_events_of_the_log(audited, decision, label):
    said = audited.post(
        "/api/audit/decisions", ids=[IDS[WRONG]], decision=decision, label=label, who="Ada", proposed="ant"
    )
    assert (said.status_code, said.json()["ids"], said.json()["label"]) == (200, [IDS[WRONG]], label)
    event = audited.get("/api/labels").json()["events"][0]
    assert (event["source"], event["who"], event["proposed"]) == ("audit", "Ada", "ant")
    assert audited.get("/api/audit/labels").json()["suspects"][0]["decision"] == decision
    audited.post("/api/labels/undo", who="Ada")
    assert audited.get("/api/audit/labels").json()["suspects"][0]["decision"] is None


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"ids": ["nowhere"], "decision": "keep"}, 404, "ids must be those of pictures"),
        ({"ids": [IDS[0]], "decision": "fix"}, 400, "`label` must be given to fix pictures"),
        ({"ids": [IDS[0]], "decision": "keep", "label": "cat"}, 400, "`label` is for fix alone"),
        ({"ids": [IDS[0]], "decision": "forget"}, 422, "decision"),
        ({"ids": [], "decision": "keep"}, 422, "ids"),
    ],
)
def test_what_cannot_be_decided_is_refused(asker, body, status, words):
    answer = asker.post("/api/audit/decisions", **body)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True)


@pytest.mark.parametrize("address", ["labels", "duplicates", "outliers"])
def test_before_the_first_audit_there_is_nothing_to_show(asker, address):
    answer = asker.get(f"/api/audit/{address}")
    assert (answer.status_code, answer.json()) == (409, {"error": "there was no audit yet; start one first"})


@pytest.mark.parametrize(
    "body",
    [{"checks": []}, {"checks": ["classes"]}, {"threshold": 0}, {"threshold": 1.5}, {"threshold": "high"}, {"x": 1}],
)
def test_a_wrong_audit_is_refused(asker, body):
    answer = asker.post("/api/audit", **body)
    assert (answer.status_code, answer.json().keys()) == (422, {"error"})


@pytest.mark.parametrize("query", ["rule=newest", "start=-1", "count=201"])
def test_a_wrong_page_is_refused(asker, query):
    assert asker("GET", f"/api/audit/duplicates?{query}").status_code == 422


def test_an_audit_outlives_the_server(asker, gallery, tmp_path):
    before = audit(asker).get("/api/audit/labels").json()
    asker.state.close()
    with asking(open_small(gallery, tmp_path / "home")) as again:
        assert again.get("/api/audit").json()["state"] == "done"
        assert again.get("/api/audit/labels").json() == before


def test_everything_waits_for_the_pictures():
    with asking(lambda state: None) as asker:
        assert {asker.get(f"/api/audit{rest}").status_code for rest in ("", "/labels", "/duplicates", "/outliers")} == {
            503
        }
        assert asker.post("/api/audit").status_code == 503

"""What all routes share: readiness, errors in one sentence, status."""

import logging

import pytest

import manyclass as mc
from manyclass.server.app import ApiError, ServerSettings, create_app, validation_sentence
from tests.server.drawn_collection import asking, make_collection


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with asking(make_collection(tmp_path_factory.mktemp("app"))) as client:
        yield client


def nothing_yet(state):
    nothing_yet.state = state


def test_before_the_pictures_are_ready_everything_else_waits(tmp_path):
    with asking(nothing_yet) as client:
        assert client.get("/healthz").json() == {"state": "preparing"}
        assert client.get("/api/status").json()["state"] == "preparing"
        assert client.get("/").status_code == 200
        for address in ("/readyz", "/api/collection", "/api/pictures", "/api/pictures/0/thumbnail", "/api/labeling"):
            answer = client.get(address)
            assert answer.status_code == 503, address
            assert "still being prepared" in answer.json()["error"]
            assert answer.headers["retry-after"] == "2"
        nothing_yet.state.set_ready(make_collection(tmp_path))
        assert client.get("/readyz").json() == {"state": "ready"}
        assert client.get("/api/pictures").status_code == 200


def test_what_will_never_be_ready_says_why():
    with asking(nothing_yet) as client:
        nothing_yet.state.fail("photos must hold pictures; it holds none")
        status = client.get("/api/status").json()
        assert (status["state"], status["error"]) == ("failed", "photos must hold pictures; it holds none")
        assert client.get("/api/pictures").json()["error"] == "photos must hold pictures; it holds none"


def test_who_waits_for_the_collection_is_called_before_requests_are_answered(tmp_path):
    seen = []
    with asking(nothing_yet):
        state = nothing_yet.state
        state.when_ready(lambda collection: seen.append(state.collection))
        state.set_ready(make_collection(tmp_path))
        state.when_ready(lambda collection: seen.append(collection is state.collection))
    assert seen == [None, True]


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (ValueError("k must be at least 1; got 0"), 400, "k must be at least 1; got 0"),
        (ApiError(418, "no coffee", {"Retry-After": "9"}), 418, "no coffee"),
        (mc.StorageError("x.store cannot be read"), 503, "x.store cannot be read"),
        (MemoryError(), 503, "not enough memory"),
        (ZeroDivisionError("secret of the house"), 500, "ZeroDivisionError"),
    ],
)
def test_every_error_is_one_sentence_of_json(client, error, status, words, caplog):
    path = f"/api/raise{status}{type(error).__name__}"

    @client.app.get(path)
    def broken():
        raise error

    with caplog.at_level(logging.CRITICAL, "manyclass.server"):
        answer = client.get(path)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
    assert words in answer.json()["error"]
    assert "Traceback" not in answer.text
    assert "secret" not in answer.text


def test_a_defect_is_logged_with_its_place(client, caplog):
    @client.app.get("/api/defect")
    def broken():
        raise ZeroDivisionError("secret of the house")

    logging.getLogger("manyclass.server").propagate = True
    client.get("/api/defect")
    assert "secret of the house" in caplog.text


@pytest.mark.parametrize(
    ("method", "address", "status", "words"),
    [
        ("GET", "/nothing", 404, "nothing at this address"),
        ("GET", "/api/nothing", 404, "nothing at this address"),
        ("DELETE", "/api/search", 405, "does not take that method"),
        ("GET", "/api/pictures?count=many", 422, "`count` must be a valid integer"),
        ("GET", "/api/pictures?order=odd", 422, "`order` must be 'typical', 'gallery' or 'shuffled'; got 'odd'"),
    ],
)
def test_wrong_addresses_are_told_in_a_sentence(client, method, address, status, words):
    answer = client.request(method, address)
    assert answer.status_code == status
    assert words in answer.json()["error"]


def test_a_body_that_is_no_json_is_told(client):
    answer = client.post("/api/search", content=b'{"positives": [', headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("the body must be JSON; ")


def test_sentences_of_validation_are_short():
    long = [{"loc": ("body", "ids", 3), "msg": "Input should be a valid string", "input": ["x" * 10_000]}]
    assert len(validation_sentence(long)) < 200
    assert validation_sentence(long).startswith("`ids.3` must be a valid string; got ['xxx")


def test_the_description_names_every_route_and_loads_nothing_from_elsewhere(client):
    described = client.get("/api/openapi.json").json()
    assert {"/api/search", "/api/pictures", "/api/labels", "/api/audit", "/api/status"} <= set(described["paths"])
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404
    assert "http" not in client.get("/api/docs").text.replace("over HTTP", "")


def test_the_server_ends_what_was_begun():
    closed = []
    app = create_app(nothing_yet, ServerSettings())
    nothing_yet.state.on_close(lambda: closed.append(1))
    app.state.server.close()
    app.state.server.close()
    assert closed == [1]

"""Who may ask, how much may be sent, and what every answer carries."""

import json
import logging

import pytest

from manyclass.server.access import REQUESTS, is_loopback
from manyclass.server.app import ServerSettings
from tests.server.drawn_collection import asking, make_collection

TOKEN = "a-long-token_of-letters"


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return make_collection(tmp_path_factory.mktemp("access"))


@pytest.fixture(scope="module")
def client(collection):
    with asking(collection) as client:
        yield client


@pytest.fixture
def guarded(tmp_path):
    settings = ServerSettings(host="0.0.0.0", port=8000, token=TOKEN)
    with asking(make_collection(tmp_path), settings, "http://studio.lan:8000") as client:
        yield client


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:9", "127.0.0.53", "[::1]", "[::1]:8000"])
def test_this_machine_may_ask(client, host):
    assert client.get("/api/status", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "[::2]:80",
        "0.0.0.0",
    ],
)
def test_names_that_were_made_to_lead_here_are_refused(client, host):
    refused = client.get("/api/status", headers={"Host": host})
    assert refused.status_code == 403
    assert "Host must be" in refused.json()["error"]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1", "https://localhost.evil.example"]
)
def test_pages_of_others_may_not_ask(client, origin):
    for method, address in (("GET", "/api/status"), ("POST", "/api/search"), ("DELETE", "/api/queries/x")):
        refused = client.request(method, address, headers={"Origin": origin})
        assert refused.status_code == 403
        assert "Origin must be" in refused.json()["error"]


def test_the_own_page_may(client):
    for origin in ("http://localhost", "https://localhost"):
        assert client.get("/api/status", headers={"Origin": origin}).status_code == 200


def test_a_browser_that_says_another_site_asks_is_believed(client):
    assert client.get("/api/status", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200  # a link to the page


@pytest.mark.parametrize("address", ["/", "/api/status", "/nothing", "/static/main.js", "/api/pictures/0/thumbnail"])
def test_every_answer_has_its_headers(client, address):
    headers = client.get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers
    assert "cache-control" in headers


def test_refusals_have_them_too(client):
    assert "content-security-policy" in client.get("/", headers={"Host": "evil.example"}).headers


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_bodies_that_a_form_can_send_are_refused(client, kind):
    for address in ("/api/search", "/api/labels", "/api/queries/crop", "/api/audit"):
        refused = client.post(address, content=b"{}", headers={"Content-Type": kind})
        assert refused.status_code == 415
        assert "application/json" in refused.json()["error"]


def test_json_of_more_than_a_megabyte_is_refused_with_and_without_its_length(client):
    body = b'{"positives": [' + b" " * 1_000_000 + b"]}"
    headers = {"Content-Type": "application/json"}
    for content in (body, (body[at : at + 60_000] for at in range(0, len(body), 60_000))):
        refused = client.post("/api/search", content=content, headers=headers)
        assert refused.status_code == 413
        assert refused.json()["error"] == "the body must have at most 1,000,000 bytes"


def test_uploads_have_a_limit_of_their_own(tmp_path):
    with asking(make_collection(tmp_path), ServerSettings(max_upload_bytes=5000)) as client:
        for content in (b"x" * 5001, (b"x" * 1000 for _ in range(6))):
            refused = client.post("/api/queries", content=content, headers={"Content-Type": "image/png"})
            assert refused.status_code == 413
            assert "5,000 bytes" in refused.json()["error"]
        assert client.post("/api/queries", content=b"x" * 5000).status_code == 422


def test_without_the_token_nothing_is_told(guarded):
    for address in (
        "/",
        "/api/status",
        "/static/main.js",
        "/api/pictures/0/thumbnail",
        "/healthz",
        "/api/openapi.json",
    ):
        refused = guarded.get(address)
        assert refused.status_code == 401
        assert "a token is needed" in refused.json()["error"]


def test_the_printed_address_leaves_a_cookie_that_scripts_cannot_read(guarded):
    first = guarded.get("/", params={"token": TOKEN}, follow_redirects=False)
    assert (first.status_code, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert guarded.get("/api/status").status_code == 200


def test_programs_send_it_as_a_bearer(guarded):
    assert guarded.get("/api/status", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


@pytest.mark.parametrize("given", ["", "x", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ü" * 30])
def test_a_wrong_token_opens_nothing(guarded, given):
    sent = given.encode("utf-8")
    assert guarded.get("/", params={"token": given}).status_code == 401
    assert guarded.get("/api/status", headers={b"Authorization": b"Bearer " + sent}).status_code == 401
    assert guarded.get("/api/status", headers={b"Cookie": b"manyclass_token_8000=" + sent}).status_code == 401


def test_the_token_counts_on_the_page_alone(guarded):
    assert guarded.get("/api/status", params={"token": TOKEN}).status_code == 401


def test_with_a_token_pages_of_others_are_refused_all_the_same(guarded):
    headers = {"Authorization": f"Bearer {TOKEN}", "Origin": "http://evil.example"}
    assert guarded.get("/api/status", headers=headers).status_code == 403


def test_every_request_is_one_line_without_what_was_asked(client, caplog):
    REQUESTS.propagate = True
    logging.getLogger("manyclass.server").propagate = True
    with caplog.at_level(logging.INFO, REQUESTS.name):
        client.get("/api/pictures?text=private%0Aword")
        client.get("/no%0Aline/%22quoted%22")
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == REQUESTS.name]
    assert [(line["method"], line["status"]) for line in lines] == [("GET", 200), ("GET", 404)]
    assert lines[0]["path"] == "/api/pictures"
    assert all("\n" not in record.getMessage() for record in caplog.records)
    assert all(line["ms"] >= 0 and line["time"].endswith("Z") for line in lines)


def test_addresses_of_this_machine_are_known():
    assert [is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "192.168.1.2", "::", "example.org")] == [False] * 4

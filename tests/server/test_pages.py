"""The files of the page."""

from urllib.parse import quote

import pytest

from manyclass.server.pages import static_files
from tests.server.drawn_collection import asking
from tests.server.traversal import STRINGS


@pytest.fixture(scope="module")
def client():
    with asking(lambda state: None) as client:
        yield client


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/static/main.js", "text/javascript; charset=utf-8"),
        ("/static/style.css", "text/css; charset=utf-8"),
        ("/favicon.ico", "image/svg+xml"),
        ("/api/docs", "text/html; charset=utf-8"),
        ("/static/docs.js", "text/javascript; charset=utf-8"),
    ],
)
def test_files_have_their_types_and_are_asked_for_anew(client, address, kind):
    answer = client.get(address)
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get(address, headers={"If-None-Match": f'"other", W/{answer.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(address, headers={"If-None-Match": '"other"'}).status_code == 200


def test_every_file_is_served_by_its_name_and_is_small(client):
    files = static_files()
    for name, file in files.items():
        assert client.get(f"/static/{name}").content == file.content
    assert sum(len(file.packed) for name, file in files.items() if name.endswith((".js", ".css"))) < 100_000


@pytest.mark.parametrize("top", ["/static/", "/static/..%2f", "/api/docs/", "/favicon.ico/"])
def test_nothing_else_is(client, top):
    ours = {file.content for file in static_files().values()}
    for one in STRINGS:
        for address in (top + quote(one), top + quote(one, safe="")):
            answer = client.get(address)  # the client itself leaves out what climbs
            assert answer.status_code == 404 or answer.content in ours, address


def test_there_is_no_script_or_style_within_the_page(client):
    for address in ("/", "/api/docs"):
        text = client.get(address).text
        assert "<style" not in text
        assert "style=" not in text
        assert text.count("<script") == text.count('<script type="module" src="/static/')
        assert "onclick" not in text

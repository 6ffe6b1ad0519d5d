"""A real server among people who mean it harm: files of others, pictures that are traps, uploads without end."""

import contextlib
import json
import os
import random
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest

from tests.features import hostile
from tests.server.drawn_collection import as_file, drawn
from tests.server.hostile_server import HostileServer
from tests.server.traversal import STRINGS

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked at in /proc")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    base = tmp_path_factory.mktemp("hostile")
    (base / "secret.png").write_bytes(as_file(drawn("blue", 99)))
    with HostileServer(base) as server:
        yield server
        assert server.get("/readyz")[0] == 200


@pytest.fixture(autouse=True)
def still_there(server):
    """Whatever was done to it, the server answers, and nothing was written where nothing should be."""
    yield
    assert server.get("/healthz")[0] == 200
    assert sorted(os.listdir(server.base)) == ["pictures", "secret.png", "server.log"]


def test_two_hundred_ways_to_another_file_lead_nowhere(server):
    secret, statuses = (server.base / "secret.png").read_bytes(), set()
    places = [
        "/{}",
        "/static/{}",
        "/api/pictures/{}",
        "/api/pictures/{}/thumbnail",
        "/api/queries/{}/image",
        "/api/export/{}",
    ]
    for one in STRINGS:
        for place in places:
            raw = place.format(one if one.isascii() and one.isprintable() and " " not in one else quote(one))
            status, body = server.raw(f"GET {raw} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            statuses.add(status)
            assert secret not in body
            assert b"root:" not in body
            assert b"HOSTNAME" not in body
        for body in ({"positives": [{"id": one}]}, {"positives": [{"query": one}]}):
            statuses.add(server.post("/api/search", body)[0])
        statuses.add(server.post("/api/queries/crop", {"of": {"id": one}, "box": [0, 0, 1, 1]})[0])
    assert statuses <= {200, 307, 400, 403, 404, 405, 409, 422}, statuses


def test_hostile_pictures_are_refused_with_a_reason_and_good_ones_are_not(server):
    refused = accepted = 0
    for name, (content, reason) in hostile.files().items():
        status, body = server.upload(content)
        if reason is hostile.GOOD:
            assert status == 200, (name, body)
            accepted += 1
        else:
            assert status in (413, 422), (name, status, body)
            assert "\n" not in json.loads(body)["error"]
            refused += 1
    assert (refused > 20, accepted > 20) == (True, True)


def test_an_upload_without_a_length_ends_at_the_limit(server):
    piece = b"10000\r\n" + b"\xff" * 0x10000 + b"\r\n"
    before, sent = server.memory(), 0
    with server.connection() as connection:
        connection.sendall(b"POST /api/queries HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while sent < 200_000_000:
                connection.sendall(piece)
                sent += 0x10000
        except OSError:
            pass
        answer = b""
        with contextlib.suppress(OSError):
            answer = connection.recv(4096)
    assert sent < 200_000_000
    assert not answer or b" 413 " in answer
    assert server.memory() - before < 100_000_000


def test_an_upload_that_says_that_it_is_too_large_is_refused_before_it_is_sent(server):
    status, body = server.raw(
        b"POST /api/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000000\r\nConnection: close\r\n\r\n"
    )
    assert status == 413
    assert "at most 20,000,000 bytes" in json.loads(body)["error"]


def test_a_body_that_comes_letter_by_letter_is_given_up(server):
    with server.connection() as connection:
        connection.sendall(b"POST /api/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nx")
        started = time.monotonic()
        answer = connection.recv(4096)
    assert b" 408 " in answer
    assert time.monotonic() - started < server.upload_seconds + 10


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_uploads_that_are_broken_off_leave_nothing_behind(server, count):
    content, rng = as_file(drawn("red", 1)), random.Random(0)
    server.upload(content)
    threads, files, memory = server.threads(), server.open_files(), server.memory()

    def abort(_):
        with server.connection() as connection:
            head = f"POST /api/queries HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n\r\n".encode()
            whole = head + content
            connection.sendall(whole[: rng.randrange(1, len(whole) + 1)])
            if rng.random() < 0.5:  # a reset in place of an end
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(abort, range(count)))
    assert server.upload(content)[0] == 200
    server.wait_until(lambda: server.open_files() <= files + 2)
    assert server.threads() <= threads + 40  # threads of the pool, which stay
    assert server.memory() - memory < 150_000_000


def test_too_many_uploads_at_once_are_told_to_come_again(server):
    content = as_file(hostile.picture(2000, 3000))
    with ThreadPoolExecutor(60) as pool:
        statuses = [status for status, _ in pool.map(lambda _: server.upload(content), range(60))]
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= 10


def test_a_worker_that_is_killed_is_replaced(server):
    content = as_file(drawn("green", 4))
    assert server.upload(content)[0] == 200
    children = server.children()
    for child in children:
        os.kill(child, 9)
    server.wait_until(lambda: not any(server.is_running(child) for child in children))
    assert server.upload(content)[0] == 200
    assert server.get("/api/pictures/0/thumbnail?size=99")[0] == 200


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        b"GET /api/pictures?count=%ff%fe&text=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /api/pictures/0/thumbnail HTTP/1.1\r\nHost: localhost\r\nRange: bytes=" + b"0-1," * 10_000 + b"\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT evil.example:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_what_is_hardly_http_is_answered_or_dropped(server, head):
    status, _ = server.raw(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1), seconds=2)
    assert status is None or status < 500 or status == 505, status


def test_many_who_say_nothing_do_not_keep_others_out(server):
    idle = [server.connection() for _ in range(300)]
    try:
        assert server.get("/api/pictures")[0] == 200
    finally:
        for connection in idle:
            connection.close()


def test_an_address_that_is_sent_is_never_fetched(server):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.3)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/x.png"
        server.upload(address.encode())
        server.post("/api/search", {"positives": [{"id": address}]})
        server.get(f"/api/pictures?text={quote(address, safe='')}")
        with pytest.raises(TimeoutError):
            listener.accept()

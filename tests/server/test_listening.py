"""The socket, the log, and how a server ends."""

import contextlib
import http.client
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from manyclass.server.access import REQUESTS
from manyclass.server.listening import LogLines, bind
from tests.server.drawn_collection import draw_pictures
from tests.server.hostile_server import HostileServer


@contextlib.contextmanager
def command(*words, cwd=None):
    """`manyclass serve`, and the address that it prints."""
    # Whoever runs tests in the background has them ignore Ctrl-C, and all that they start.
    heeds = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heeds}; from manyclass.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "serve", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )
    try:
        line = process.stdout.readline()
        yield process, line.removeprefix("open ").strip()
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def test_a_port_that_is_taken_is_refused_or_replaced():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(
            OSError, match=f"cannot listen at 127.0.0.1 port {port}: address already in use; name another"
        ):
            bind("127.0.0.1", port, exact=True)
        with bind("127.0.0.1", port, exact=False) as free:
            assert free.getsockname()[1] not in (port, 0)


def test_small_answers_are_sent_at_once():
    with bind("127.0.0.1", 0, exact=True) as sock:
        assert sock.proto == socket.IPPROTO_TCP  # by which asyncio knows


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_under_load_within_seconds_and_with_all_its_processes(tmp_path, number):
    server = HostileServer(tmp_path)
    server.__enter__()
    children, stop, wrong = server.children(), threading.Event(), []

    def ask():
        while not stop.is_set():
            try:
                status, _ = server.get("/api/pictures/3/thumbnail?size=200")
                server.post("/api/search", {"positives": [{"id": "red/00.png"}, {"id": "red/01.png"}]})
                if status != 200:
                    wrong.append(status)
            except (OSError, http.client.HTTPException):  # it ends
                return

    stream = server.connection()
    stream.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        server.get("/api/status")
    started = time.monotonic()
    server.process.send_signal(number)
    code = server.process.wait(20)
    taken = time.monotonic() - started
    stop.set()
    for thread in threads:
        thread.join()
    stream.close()
    assert code == (0 if number == signal.SIGTERM else 1) or code in (-signal.SIGINT, 130)
    assert taken < 15
    assert wrong == []
    server.wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
    assert "defect" not in (tmp_path / "server.log").read_text(errors="replace")


def test_the_command_prints_its_address_and_ends_by_ctrl_c_with_130(tmp_path):
    folder = draw_pictures(tmp_path / "photos")
    with command(folder, "--port", "0", "--kind", "bow") as (process, address):
        assert address.startswith("http://127.0.0.1:")
        host = address.removeprefix("http://").rstrip("/")
        connection = http.client.HTTPConnection(host, timeout=30)
        connection.request("GET", "/healthz")
        assert json.loads(connection.getresponse().read())["state"] in ("preparing", "ready")
        connection.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert sorted(os.listdir(tmp_path)) in (["photos"], ["photos", "photos.serve"])


def test_other_addresses_ask_for_a_token_that_is_printed(tmp_path):
    folder = draw_pictures(tmp_path / "photos")
    with command(folder, "--port", "0", "--host", "0.0.0.0", "--kind", "bow") as (process, address):
        port, _, token = address.rpartition(":")[2].partition("/?token=")
        assert len(token) == 32
        for headers, status in (({}, 401), ({"Authorization": f"Bearer {token}"}, 200)):
            connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
            connection.request("GET", "/api/status", headers=headers)
            assert connection.getresponse().status == status
            connection.close()
        process.terminate()
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["missing"], "no gallery, features, run or folder of pictures at missing"),
        (["."], "must be a gallery, features"),
    ],
)
def test_a_path_that_cannot_be_served_is_one_sentence(tmp_path, words, said):
    done = subprocess.run(
        [sys.executable, "-m", "manyclass", "serve", *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 1
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_everything_that_is_logged_is_a_line_of_json():
    try:
        raise ZeroDivisionError("of two\nlines")
    except ZeroDivisionError:
        trouble = sys.exc_info()
    record = logging.LogRecord("manyclass.server", logging.ERROR, "x", 1, "a\nb %s", ("c",), trouble)
    told = json.loads(LogLines().format(record))
    assert (told["level"], told["message"]) == ("error", "a\nb c")
    assert "ZeroDivisionError" in told["traceback"]
    assert "\n" not in LogLines().format(record)
    request = logging.LogRecord(REQUESTS.name, logging.INFO, "x", 1, "%s", ('{"status": 200}',), None)
    assert LogLines().format(request) == '{"status": 200}'

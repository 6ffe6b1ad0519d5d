"""A server in a process of its own over the drawn collection, and ways to be rude to it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.server.pages import free_port, wait_for

UPLOAD_SECONDS = 3.0


class HostileServer:
    """`python -m tests.server.hostile_server FOLDER PORT`, and what is asked of it."""

    upload_seconds = UPLOAD_SECONDS

    def __init__(self, base):
        self.base, self.port = Path(base), free_port()

    def __enter__(self):
        words = [sys.executable, "-m", "tests.server.hostile_server", str(self.base), str(self.port)]
        with open(self.base / "server.log", "wb") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, cwd=Path(__file__).parents[2])
        wait_for(f"http://127.0.0.1:{self.port}/readyz", self.process)
        return self

    def __exit__(self, *error):
        self.process.terminate()
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        assert code == 0
        log = (self.base / "server.log").read_text(errors="replace")
        assert "defect" not in log, log[-2000:]
        assert "Traceback" not in log, log[-2000:]

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    def request(self, method, path, body=None, headers=None):
        """(status, body) of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {"Host": "localhost", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, values):
        return self.request("POST", path, json.dumps(values).encode(), {"Content-Type": "application/json"})

    def upload(self, content):
        try:
            return self.request("POST", "/api/queries", content, {"Content-Type": "image/png"})
        except (BrokenPipeError, ConnectionResetError):  # it was refused while it was sent
            return 413, b'{"error": "refused"}'

    def connection(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def raw(self, content, seconds=60):
        """(status, body) of any bytes; None where there is no answer."""
        with self.connection() as connection:
            connection.settimeout(seconds)
            try:
                connection.sendall(content)
                answer = b""
                while piece := connection.recv(1 << 16):
                    answer += piece
            except (ConnectionResetError, BrokenPipeError, TimeoutError):
                return None, b""
        if not answer.startswith(b"HTTP/"):
            return None, answer
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), body

    def memory(self):
        """Bytes that the process has in memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def children(self):
        path = Path(f"/proc/{self.process.pid}/task")
        return [int(one) for task in path.iterdir() for one in (task / "children").read_text().split()]

    def is_running(self, child):
        """Whether a process is neither gone nor waits to be buried."""
        try:
            return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def wait_until(self, holds, seconds=30):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end
            time.sleep(0.05)


def main(base, port):
    from manyclass.server.app import ServerSettings
    from manyclass.server.listening import PageServer, bind, log_to_stderr
    from tests.server.drawn_collection import make_collection

    log_to_stderr(quiet=True)
    settings = ServerSettings(port=int(port), upload_seconds=UPLOAD_SECONDS)
    collection = make_collection(base, settings)
    PageServer(bind("127.0.0.1", int(port), exact=True), settings, collection).run()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where tests run in the background, which ignore it
    main(*sys.argv[1:])

"""Servers that are started again and again: one process has everything loaded, and each line it reads makes a fork.

A fork serves a gallery as any server does, at the port that is told, until it is ended by whatever means.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path


class ServedForks:
    """start() gives (process id, address) of a new server; the one before must be gone."""

    def __init__(self, gallery, home):
        words = [sys.executable, "-m", "tests.server.served_forks", str(gallery), str(home)]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self):
        self._process.stdin.write("start\n")
        self._process.stdin.flush()
        process_id, port = map(int, self._process.stdout.readline().split())
        return process_id, f"http://127.0.0.1:{port}"

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)


def main(gallery, home):
    import uvicorn

    from manyclass.server.app import create_app
    from tests.server.small_collection import open_small

    create_app(lambda state: None)  # what it loads is loaded once, for all forks
    open_small(Path(gallery), Path(home)).close()
    for _ in sys.stdin:
        listening = socket.socket()
        listening.bind(("127.0.0.1", 0))
        listening.listen(100)  # requests wait until it is served
        child = os.fork()
        if not child:
            app = create_app(open_small(Path(gallery), Path(home)))
            uvicorn.Server(uvicorn.Config(app, log_level="error")).run([listening])
            os._exit(0)
        print(child, listening.getsockname()[1], flush=True)
        listening.close()
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])

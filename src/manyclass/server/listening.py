"""PageServer: the socket that the page is asked at, the loop behind it, its log, and an end that loses nothing."""

import contextlib
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator

import uvicorn

from manyclass._core.typing import Notify
from manyclass.server.access import REQUESTS, is_loopback
from manyclass.server.app import ServerSettings, ServerState, create_app
from manyclass.server.preparation import Preparation

_GRACE = 5  # seconds that answers under way have when the server is to end

_JOB_SECONDS = 2.0  # that jobs have

_MOST_CONNECTIONS, _BACKLOG = 1000, 1024

_KEEP_ALIVE = 20  # seconds that a connection may say nothing between two requests


class PageServer:
    """A server that is bound to its port, and serves when it is run."""

    def __init__(self, sock: socket.socket, settings: ServerSettings, source: object):
        self._socket, self.settings = sock, settings
        self._app = create_app(source, settings)
        self._state: ServerState = self._app.state.server

    @property
    def address(self) -> str:
        """Where the page is; with the token, if one is needed."""
        host = socket.gethostname() if self.settings.host in ("0.0.0.0", "::") else self.settings.host
        token = "" if self.settings.token is None else f"?token={self.settings.token}"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.settings.port}/{token}"

    def run(self) -> None:
        """Serve until a signal comes: SIGTERM returns, Ctrl-C is a KeyboardInterrupt."""
        config = uvicorn.Config(
            self._app,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="off",
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_GRACE,
            limit_concurrency=_MOST_CONNECTIONS,
        )
        with _quiet_sigterm():
            try:
                _EndingServer(config, self._state).run([self._socket])
            finally:
                self._state.close()
                _end_processes()
                _leave_if_busy()


class _EndingServer(uvicorn.Server):
    """A server whose streams and jobs end first, so that nobody waits for them."""

    def __init__(self, config: uvicorn.Config, state: ServerState):
        super().__init__(config)
        self._state = state

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._state.events.close()
        self._state.jobs.close()
        await super().shutdown(sockets)


def bind(host: str, port: int, exact: bool) -> socket.socket:
    """A socket at an address; at a free port if the wanted one is taken and not `exact`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in (port,) if exact else (port, 0):
        # asyncio sends small pieces at once only where the protocol is named; else each answer waits for 40 ms.
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, wanted))
        except OSError as error:
            sock.close()
            reason = (error.strerror or str(error)).lower()
            refusal = OSError(f"cannot listen at {host} port {wanted}: {reason}; name another by --host or --port")
            continue
        sock.listen(_BACKLOG)  # from now on who asks waits for the answer, and is not refused
        return sock
    raise refusal


def page_server(
    path_settings: Callable[[ServerSettings], Preparation], host: str, port: int, exact: bool, notify: Notify
) -> PageServer:
    """A server at an address, over what a preparation with its settings gives, at once or in the background."""
    sock = bind(host, port, exact)
    try:
        token = None if is_loopback(host) else ServerSettings.new_token()
        settings = ServerSettings(host=host, port=sock.getsockname()[1], token=token)
        preparation = path_settings(settings)
        ready = preparation.open()
        for note in preparation.notes:
            notify(note)
        return PageServer(sock, settings, preparation.begin if ready is None else ready)
    except BaseException:
        sock.close()
        raise


class LogLines(logging.Formatter):
    """One line of JSON for everything that is logged; requests are such lines already."""

    def format(self, record: logging.LogRecord) -> str:
        if record.name == REQUESTS.name:
            return record.getMessage()
        said = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            said["traceback"] = self.formatException(record.exc_info)
        return json.dumps(said)


def log_to_stderr(quiet: bool) -> None:
    """Write a line for every request, and for all that goes wrong; of the latter alone if it should be quiet."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines())
    for name in ("manyclass.server", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
    REQUESTS.setLevel(logging.WARNING if quiet else logging.INFO)


@contextlib.contextmanager
def _quiet_sigterm() -> Iterator[None]:
    """SIGTERM is an order to end, and no failure: before uvicorn listens to it, and when it sends it on at its end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end_processes() -> None:
    for process in multiprocessing.active_children():
        process.terminate()


def _leave_if_busy() -> None:
    """End the process here if work goes on in threads: what they run may not be interrupted, and need not be."""
    end = time.monotonic() + _JOB_SECONDS
    busy = [one for one in threading.enumerate() if one.name.startswith("manyclass ")]
    for thread in busy:
        thread.join(max(0.0, end - time.monotonic()))
    if any(thread.is_alive() for thread in busy):
        failed = isinstance(sys.exception(), KeyboardInterrupt) if hasattr(sys, "exception") else False
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130 if failed else 0)

"""Jobs: long work in threads of its own, with how far it is; and Events, which tell pages of it as it goes.

What waits for a slow page is bounded: of several words about one thing only the last is kept, since that is the one
that counts.
"""

import asyncio
import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from manyclass._core.files import system_words
from manyclass._core.progress_display import Pace
from manyclass._core.typing import Report

_LOG = logging.getLogger("manyclass.server")

_HEARTBEAT = 15.0  # seconds; proxies and browsers give up on streams that are silent for longer

_MOST_WAITING = 64  # events for one page

_MOST_LISTENERS = 256

_MOST_FINISHED = 50  # jobs that are remembered when they are done

_BETWEEN = 0.2  # seconds between two words about one job


class JobCancelledError(Exception):
    """The server ends, and with it the work."""


class Job:
    """One piece of long work: call it with (done, total) to say how far it is.

    >>> job = Job("1", "audit", "looking for duplicates", "images", lambda job: None)
    >>> job(50, 100)
    >>> job.json()["done"], job.json()["total"], job.state
    (50, 100, 'running')
    """

    def __init__(self, id: str, kind: str, title: str, unit: str, changed: Callable[["Job"], None]):
        self.id, self.kind, self.title, self.unit = id, kind, title, unit
        self.done, self.total = 0, 0
        self.state, self.error = "running", None
        self.result: Any = None
        self.finished = threading.Event()
        self.cancelled = threading.Event()
        self._changed, self._pace, self._rate, self._told = changed, Pace(), 0.0, 0.0

    state: str
    error: str | None

    def __call__(self, done: int, total: int) -> None:
        """So much is done; raises JobCancelledError if the server is to end."""
        if self.cancelled.is_set():
            raise JobCancelledError
        self.done, self.total = int(done), int(total)
        self._rate = self._pace.per_second(self.done)
        now = time.monotonic()
        if now - self._told >= _BETWEEN or done >= total:
            self._told = now
            self._changed(self)

    @contextmanager
    def stage(self, title: str, unit: str) -> Iterator[Report]:
        """A part of the work with a count of its own, as a `ProgressFactory` gives it."""
        self.title, self.unit, self.done, self.total, self._pace, self._rate = title, unit, 0, 0, Pace(), 0.0
        self._changed(self)
        yield self

    def json(self) -> dict[str, Any]:
        """What a page is told."""
        left = (self.total - self.done) / self._rate if self._rate > 0 and self.state == "running" else None
        return {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "done": self.done,
            "total": self.total,
            "unit": self.unit,
            "rate": round(self._rate, 3),
            "seconds_left": None if left is None else round(left, 1),
            "state": self.state,
            "error": self.error,
        }

    def finish(self, error: str | None) -> None:
        """The work is over, well or with a sentence of what went wrong."""
        self.state, self.error = "done" if error is None else "failed", error
        self.finished.set()
        self._changed(self)


class Jobs:
    """All long work of a server; each job has a thread, which ends with the process."""

    def __init__(self, events: "Events"):
        self._events, self._numbers, self._lock = events, count(1), threading.Lock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def start(self, kind: str, work: Callable[[Job], Any], title: str = "", unit: str = "images") -> Job:
        """Do `work(job)` in the background; what it gives is `job.result`, and an error is told in one sentence."""
        with self._lock:
            job = Job(str(next(self._numbers)), kind, title or kind, unit, self._tell)
            self._jobs[job.id] = job
            for old in [key for key, one in self._jobs.items() if one.state != "running"][:-_MOST_FINISHED]:
                del self._jobs[old]
        self._tell(job)
        threading.Thread(target=_run, args=(job, work), name=f"manyclass {kind}", daemon=True).start()
        return job

    def list(self) -> list[dict[str, Any]]:
        """All that run or ran, the oldest first."""
        with self._lock:
            return [job.json() for job in self._jobs.values()]

    def close(self) -> None:
        """Ask all to end; each does at its next word about how far it is."""
        with self._lock:
            for job in self._jobs.values():
                job.cancelled.set()

    def _tell(self, job: Job) -> None:
        self._events.publish("job", job.json(), key=job.id)


def _run(job: Job, work: Callable[[Job], Any]) -> None:
    try:
        job.result = work(job)
    except JobCancelledError:
        job.finish("the server ended before it was done")
    except (ValueError, OSError, MemoryError, ImportError) as error:  # what the library says in one sentence
        _LOG.warning("%s failed: %s", job.kind, error)
        job.finish(sentence_of(error))
    except Exception as error:
        _LOG.exception("%s failed", job.kind)
        job.finish(f"it ended with a defect ({type(error).__name__}); the log of the server has more")
    else:
        job.finish(None)


def sentence_of(error: BaseException) -> str:
    """What to tell people of an error.

    >>> sentence_of(PermissionError(13, "Permission denied", "/photos.serve"))
    '/photos.serve: permission denied'
    """
    if isinstance(error, OSError) and error.strerror:
        return system_words(error)
    return str(error) or type(error).__name__


class Events:
    """What pages are told as it happens. `publish` may be called by any thread."""

    def __init__(self) -> None:
        self._listeners: set[_Listener] = set()
        self._lock, self._closed = threading.Lock(), False

    def publish(self, event: str, data: dict[str, Any], key: str = "") -> None:
        """Tell all pages; of the same event and key a page that is behind gets the last one alone."""
        text = f"event: {event}\ndata: {json.dumps(data)}\n\n"
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener.put((event, key), text)

    def close(self) -> None:
        """End all streams."""
        with self._lock:
            self._closed = True
            listeners = list(self._listeners)
        for listener in listeners:
            listener.end()

    @property
    def is_full(self) -> bool:
        """Whether as many pages listen as may."""
        return len(self._listeners) >= _MOST_LISTENERS

    async def stream(self, first: Callable[[], list[tuple[str, dict[str, Any]]]]) -> AsyncIterator[str]:
        """Server-sent events for one page: what holds now, and then what happens, with a heartbeat."""
        listener = _Listener(asyncio.get_running_loop())
        with self._lock:
            if self._closed:
                return
            self._listeners.add(listener)
        try:
            for event, data in first():
                yield f"event: {event}\ndata: {json.dumps(data)}\n\n"
            while (text := await listener.next(_HEARTBEAT)) is not None:
                yield text or ": still here\n\n"
        finally:
            with self._lock:
                self._listeners.discard(listener)


class _Listener:
    """What waits for one page."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop, self._waiting, self._ended = loop, OrderedDict[tuple[str, str], str](), False
        self._lock, self._news = threading.Lock(), asyncio.Event()

    def put(self, key: tuple[str, str], text: str) -> None:
        with self._lock:
            self._waiting[key] = text
            while len(self._waiting) > _MOST_WAITING:
                self._waiting.popitem(last=False)
        self._wake()

    def end(self) -> None:
        self._ended = True
        self._wake()

    async def next(self, seconds: float) -> str | None:
        """The next words; nothing ("") if there are none for so long, None at the end."""
        if not self._waiting and not self._ended:
            try:
                await asyncio.wait_for(self._news.wait(), seconds)
            except TimeoutError:
                return ""
        with self._lock:
            self._news.clear()
            if self._ended:
                return None
            return self._waiting.popitem(last=False)[1] if self._waiting else ""

    def _wake(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._news.set)
        except RuntimeError:  # the loop is closed: nobody listens any more
            self._ended = True

"""WorkerProcesses: processes among which tasks are distributed, and which may crash without taking the run with them.

They are forked, so that they have all that this process has, and only tasks and results go through pipes. Threads would
do for code that lets go of the interpreter, but small steps in Python between the loops keep two of them from being
twice as fast as one; and a decoder that a file drives into a crash would end everything.
"""

import fcntl
import gc
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from manyclass._core.errors import portable_error
from manyclass._core.parallel import one_blas_thread, ordered_map, suppress_warnings

T = TypeVar("T")

R = TypeVar("R")

_AHEAD = 4  # tasks per worker that are given out before their turn

# To fork after Apple's libraries have started their threads is not safe.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"


def may_fork() -> bool:
    """Whether this process may have workers: a daemonic one, as those of multiprocessing.Pool are, may not."""
    return CAN_FORK and not multiprocessing.current_process().daemon


class WorkerCrashedError(Exception):
    """A process ended in the middle of a task."""


class WorkerProcesses(Generic[T, R]):
    """n processes that do `work(task)`. They end with the `with` block, or by themselves if this process is killed."""

    def __init__(self, work: Callable[[T], R], n: int):
        self._work, self._n = work, n
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for _ in range(n):
            self._idle.put(_Worker(work))

    def map(self, tasks: Iterable[T], on_crash: Callable[[T], R]) -> Iterator[R]:
        """The result of every task, in their order; `on_crash(task)` for one in which two processes died."""
        with ThreadPoolExecutor(self._n, "manyclass") as pool:
            yield from ordered_map(lambda task: pool.submit(self.run, task, on_crash), tasks, self._n * _AHEAD)

    def run(self, task: T, on_crash: Callable[[T], R]) -> R:
        """The result of one task."""
        for _ in range(2):  # a process may also be ended by others, who want its memory
            try:
                return self._ask(task)
            except WorkerCrashedError:
                pass
        return on_crash(task)

    def _ask(self, task: T) -> R:
        worker = self._idle.get()
        if not worker.is_alive():  # it was ended by others while it had nothing to do
            worker.end()
            worker = _Worker(self._work)
        try:
            return worker.ask(task)  # type: ignore[no-any-return]
        except WorkerCrashedError:
            worker.end()
            worker = _Worker(self._work)
            raise
        finally:
            self._idle.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in range(self._n):
            self._idle.get().end()


class _Worker:
    """A process and the pipe to it."""

    def __init__(self, work: Callable[[Any], Any]):
        context = multiprocessing.get_context("fork")
        self._pipe, other = (_move_above_standard_streams(end) for end in context.Pipe())
        self._process = context.Process(target=_serve, args=(other, work), daemon=True)
        with suppress_warnings():  # of a fork among threads; ours hold no lock, and BLAS looks after its own
            self._process.start()
        other.close()

    def ask(self, task: Any) -> Any:
        try:
            self._pipe.send(task)
            good, result = self._pipe.recv()
        except (EOFError, OSError):
            raise WorkerCrashedError from None
        if not good:
            raise result
        return result

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self) -> None:
        self._pipe.close()
        self._process.join()


def _move_above_standard_streams(end: Connection) -> Connection:
    """The same end of a pipe, not where standard streams are, which workers keep open, in a process that has none."""
    moved = Connection(fcntl.fcntl(end.fileno(), fcntl.F_DUPFD_CLOEXEC, 3))
    end.close()
    return moved


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that knows what to keep
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # whatever that process does when it is told to end
    gc.freeze()
    # Else locks and pipes of the parent would stay open in its children when it is killed.
    os.closerange(3, pipe.fileno())
    os.closerange(pipe.fileno() + 1, min(os.sysconf("SC_OPEN_MAX"), 1 << 16))
    with one_blas_thread():
        while True:
            try:
                pipe.send(_run_task(work, pipe.recv()))
            except (EOFError, OSError):
                os._exit(0)


def _run_task(work: Callable[[Any], Any], task: Any) -> tuple[bool, Any]:
    try:
        return True, work(task)
    except Exception as error:
        error.add_note(f"in a process of its own:\n{traceback.format_exc()}")
        return False, portable_error(error)

"""How many threads our loops use: as many as the processor gives this process, unless told otherwise.

Results do not depend on it. BLAS has threads of its own, which threadpoolctl sets.

BLAS, made to give the same bits for any number of threads.

A threaded BLAS cuts a product into as many pieces as it has threads, and other pieces round otherwise. So BLAS runs in
one thread here, and threads of ours share out blocks whose size depends on nothing but the shapes.

Results in the order of their tasks, while only so many tasks are under way.

Warnings of a library, kept quiet while several threads use it.
"""

import os
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache
from threading import Lock, local
from typing import Any, TypeVar

from manyclass._core.checks import check_count


def _available() -> int:
    # joblib and Ray tell their workers by this variable how many threads are theirs.
    told = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(told), cores) if told.isdigit() and int(told) > 0 else cores


_process_threads = _available()

_context_threads: ContextVar[int | None] = ContextVar("manyclass_threads", default=None)


def get_threads() -> int:
    """Get the number of threads that products, encoders and solvers use.

    Returns
    -------
    int
        The number of the innermost `with threads(...)` block, or else that of the process.
    """
    return _context_threads.get() or _process_threads


def set_threads(n_threads: int | None) -> None:
    """Set the number of threads of the whole process.

    Inside a `with threads(...)` block the number of the block counts. Results do not depend on it.

    Parameters
    ----------
    n_threads : int or None
        Threads to use; None for as many as the process may use.
    """
    global _process_threads
    _process_threads = _checked_threads(n_threads)


def _checked_threads(n_threads: int | None) -> int:
    return _available() if n_threads is None else check_count(n_threads, "n_threads")


@contextmanager
def threads(n_threads: int | None) -> Iterator[None]:
    """Use a number of threads inside a `with` block.

    It holds for the Python thread that runs the block; others are not affected.

    Parameters
    ----------
    n_threads : int or None
        Threads to use; None for as many as the process may use.

    Yields
    ------
    None
        Nothing.

    Examples
    --------
    >>> with threads(1):
    ...     get_threads()
    1
    """
    before = _context_threads.get()
    _context_threads.set(_checked_threads(n_threads))
    try:
        yield
    finally:
        _context_threads.set(before)


T = TypeVar("T")

R = TypeVar("R")


@cache
def _libraries() -> list[Any]:
    # Looking for the libraries takes milliseconds, setting their threads microseconds. SciPy brings a BLAS of its own,
    # which is only found once it is loaded.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    # One that was built without threads has nothing to set, and says nothing of how many are wanted.
    return [library for library in found if getattr(library, "threading_layer", None) != "disabled"]


class _BlasLimit:
    """BLAS keeps one setting for the whole process: the first to enter saves it, the last to leave puts it back."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.depth = 0
        self.before: list[int] = []

    def enter(self) -> None:
        with self.lock:
            if self.depth == 0:
                self.before = [library.num_threads for library in _libraries()]
                _set_blas_threads([1] * len(self.before))
            self.depth += 1

    def leave(self) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                _set_blas_threads(self.before)


_blas_limit = _BlasLimit()

_this_thread = local()

_WORTH_THREADS = 1 << 20


def _set_blas_threads(counts: list[int]) -> None:
    for library, n_threads in zip(_libraries(), counts, strict=True):
        library.set_num_threads(n_threads)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside the block BLAS runs in one thread, so that what it computes depends on its arguments only."""
    limit = _blas_limit
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


def thread_map(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """work(item) of every item, in their order, computed on our threads with a BLAS of one thread each.

    As many threads run as `manyclass.threads` and the limit of BLAS both allow; each is at most one item ahead.

    >>> list(in_order(abs, [3, -1, -2]))
    [3, 1, 2]
    """
    items = list(items)
    with one_blas_thread():
        n_threads = min([get_threads(), *_blas_limit.before])
        if n_threads == 1 or len(items) < 2 or hasattr(_this_thread, "ours"):
            yield from map(work, items)
        else:
            yield from _map_on_threads(n_threads, work, items)


def native_threads(nbytes: int) -> int:
    """How many threads a compiled loop over so many bytes is worth: one within `in_order`, which has divided the work.

    >>> threads_here(1000)
    1
    """
    return 1 if nbytes < _WORTH_THREADS or hasattr(_this_thread, "ours") else get_threads()


def _map_on_threads(n_threads: int, work: Callable[[T], R], items: list[T]) -> Iterator[R]:
    pool = _pool(n_threads)

    def submit(item: T) -> Future[R]:
        # A copy of the context carries np.errstate and `threads` to the other thread.
        return pool.submit(copy_context().run, work, item)

    return ordered_map(submit, items, n_threads)


@lru_cache(maxsize=1)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, "manyclass", initializer=_start_thread)


def _start_thread() -> None:
    # A BLAS on OpenMP keeps its setting per thread; and work that calls in_order must not wait for its own pool.
    _this_thread.ours = True
    _set_blas_threads([1] * len(_libraries()))


def _reset_after_fork() -> None:
    # A child has none of the threads of its parent, and perhaps a lock that one of them held.
    global _blas_limit
    _blas_limit = _BlasLimit()
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def ordered_map(submit: Callable[[T], Future[R]], tasks: Iterable[T], ahead: int) -> Iterator[R]:
    """The result of submit(task) for every task, in order; at most `ahead` tasks beyond the one that is waited for.

    Whoever stops listening, or meets an error, waits for what is under way, and the rest is never begun.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     list(in_turn(lambda task: pool.submit(abs, task), [-3, 2, -1], 2))
    [3, 2, 1]
    """
    pending = deque[Future[R]]()
    try:
        for task in tasks:
            pending.append(submit(task))
            if len(pending) > ahead:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
        wait(pending)


class _WarningFilter:
    """Filters are one for the whole process: the first to enter changes them, the last to leave puts them back."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.depth = 0
        self.caught = warnings.catch_warnings()

    def enter(self) -> None:
        with self.lock:
            if self.depth == 0:
                self.caught = warnings.catch_warnings()
                self.caught.__enter__()
                warnings.simplefilter("ignore")
            self.depth += 1

    def leave(self) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                self.caught.__exit__(None, None, None)


_warning_filter = _WarningFilter()


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """No warnings inside the block, whichever thread leaves its own first."""
    here = _warning_filter
    here.enter()
    try:
        yield
    finally:
        here.leave()


def _reset_filter_after_fork() -> None:
    # A child has perhaps a lock that a thread of its parent held.
    global _warning_filter
    _warning_filter = _WarningFilter()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_filter_after_fork)

"""Threads: how many, results in the order of their tasks, and settings that all threads of the process share.

Results never depend on the number of threads. A threaded BLAS cuts a product into as many pieces as it has threads, and
other pieces round otherwise; so BLAS runs in one thread here, and threads of ours share out blocks whose size depends
on nothing but the shapes.
"""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache
from threading import Lock, local
from typing import Any, Generic, TypeVar

from manyclass._core.checks import check_count


def _available() -> int:
    # joblib and Ray tell their workers by this variable how many threads are theirs.
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(limit), cores) if limit.isdigit() and int(limit) > 0 else cores


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

S = TypeVar("S")


@cache
def _libraries() -> list[Any]:
    # Looking for the libraries takes milliseconds, setting their threads microseconds. SciPy brings a BLAS of its own,
    # which is only found once it is loaded.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    # One that was built without threads has nothing to set, and says nothing of how many are wanted.
    return [library for library in found if getattr(library, "threading_layer", None) != "disabled"]


def blas_kernels() -> list[str]:
    """The names of the kernels that BLAS chose for this processor, by which its sums may differ."""
    return sorted(str(getattr(library, "architecture", "")) for library in _libraries())


class _ProcessSetting(Generic[S]):
    """A setting of the whole process: the first thread to enter changes it, and the last to leave puts it back.

    `change` makes the change and gives what `restore` needs to undo it.
    """

    before: S

    def __init__(self, change: Callable[[], S], restore: Callable[[S], object]):
        self.lock = Lock()
        self._change, self._restore = change, restore
        self._depth = 0

    def __enter__(self) -> None:
        with self.lock:
            if self._depth == 0:
                self.before = self._change()
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self._depth -= 1
            if self._depth == 0:
                self._restore(self.before)


def _limit_blas() -> list[int]:
    before = [library.num_threads for library in _libraries()]
    _set_blas_threads([1] * len(before))
    return before


def _set_blas_threads(counts: list[int]) -> None:
    for library, n_threads in zip(_libraries(), counts, strict=True):
        library.set_num_threads(n_threads)


def _ignore_warnings() -> "warnings.catch_warnings[None]":
    caught = warnings.catch_warnings()
    caught.__enter__()
    warnings.simplefilter("ignore")
    return caught


def _process_settings() -> tuple[_ProcessSetting[list[int]], _ProcessSetting["warnings.catch_warnings[None]"]]:
    blas = _ProcessSetting(_limit_blas, _set_blas_threads)
    return blas, _ProcessSetting(_ignore_warnings, lambda caught: caught.__exit__(None, None, None))


_blas_limit, _warning_filter = _process_settings()

_this_thread = local()

_WORTH_THREADS = 1 << 20  # bytes; a loop over fewer ends before other threads have begun


def one_blas_thread() -> AbstractContextManager[None]:
    """Inside the block BLAS runs in one thread, so that what it computes depends on its arguments only."""
    return _blas_limit


def suppress_warnings() -> AbstractContextManager[None]:
    """No warnings inside the block, whichever thread leaves its own first."""
    return _warning_filter


def thread_map(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """work(item) of every item, in their order, computed on our threads with a BLAS of one thread each.

    As many threads run as `manyclass.threads` and the limit of BLAS both allow; each is at most one item ahead.

    >>> list(thread_map(abs, [3, -1, -2]))
    [3, 1, 2]
    """
    items = list(items)
    with one_blas_thread():
        n_threads = min([get_threads(), *_blas_limit.before])
        if n_threads == 1 or len(items) < 2 or hasattr(_this_thread, "ours"):
            yield from map(work, items)
        else:
            yield from _map_on_threads(n_threads, work, items)


def for_each(work: Callable[[T], object], items: Iterable[T]) -> None:
    """work(item) of every item, on our threads, for what it does."""
    for _ in thread_map(work, items):
        pass


def native_threads(nbytes: int) -> int:
    """How many threads a compiled loop over so many bytes is worth; one in `thread_map`, which has divided the work.

    >>> native_threads(1000)
    1
    """
    n_threads = get_threads()
    return 1 if nbytes < _WORTH_THREADS or hasattr(_this_thread, "ours") else n_threads


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
    # A BLAS on OpenMP keeps its setting per thread; and work that calls thread_map must not wait for its own pool.
    _this_thread.ours = True
    _set_blas_threads([1] * len(_libraries()))


def _reset_after_fork() -> None:
    # A child has none of the threads of its parent, and perhaps a lock that one of them held.
    global _blas_limit, _warning_filter
    _blas_limit, _warning_filter = _process_settings()
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def ordered_map(submit: Callable[[T], Future[R]], tasks: Iterable[T], ahead: int) -> Iterator[R]:
    """The result of submit(task) for every task, in order; at most `ahead` tasks beyond the one that is waited for.

    Whoever stops listening, or meets an error, waits for what is under way, and the rest is never begun.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     list(ordered_map(lambda task: pool.submit(abs, task), [-3, 2, -1], 2))
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

"""BLAS, made to give the same bits for any number of threads.

A threaded BLAS cuts a product into as many pieces as it has threads, and other pieces round otherwise. So BLAS runs in
one thread here, and threads of ours share out blocks whose size depends on nothing but the shapes.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, lru_cache
from threading import Lock, local
from typing import Any, TypeVar

from manyclass._in_turn import in_turn
from manyclass._threads import get_threads

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


class _Limit:
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


_limit = _Limit()
_here = local()
_WORTH_THREADS = 1 << 20


def _set_blas_threads(counts: list[int]) -> None:
    for library, n_threads in zip(_libraries(), counts, strict=True):
        library.set_num_threads(n_threads)


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside the block BLAS runs in one thread, so that what it computes depends on its arguments only."""
    limit = _limit
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


def in_order(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """work(item) of every item, in their order, computed on our threads with a BLAS of one thread each.

    As many threads run as `manyclass.threads` and the limit of BLAS both allow; each is at most one item ahead.

    >>> list(in_order(abs, [3, -1, -2]))
    [3, 1, 2]
    """
    items = list(items)
    with one_thread():
        n_threads = min([get_threads(), *_limit.before])
        if n_threads == 1 or len(items) < 2 or hasattr(_here, "ours"):
            yield from map(work, items)
        else:
            yield from _on_threads(n_threads, work, items)


def threads_here(nbytes: int) -> int:
    """How many threads a compiled loop over so many bytes is worth: one within `in_order`, which has divided the work.

    >>> threads_here(1000)
    1
    """
    return 1 if nbytes < _WORTH_THREADS or hasattr(_here, "ours") else get_threads()


def _on_threads(n_threads: int, work: Callable[[T], R], items: list[T]) -> Iterator[R]:
    pool = _pool(n_threads)

    def submit(item: T) -> Future[R]:
        # A copy of the context carries np.errstate and `threads` to the other thread.
        return pool.submit(copy_context().run, work, item)

    return in_turn(submit, items, n_threads)


@lru_cache(maxsize=1)
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads, "manyclass", initializer=_start_thread)


def _start_thread() -> None:
    # A BLAS on OpenMP keeps its setting per thread; and work that calls in_order must not wait for its own pool.
    _here.ours = True
    _set_blas_threads([1] * len(_libraries()))


def _after_fork() -> None:
    # A child has none of the threads of its parent, and perhaps a lock that one of them held.
    global _limit
    _limit = _Limit()
    _pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""How many threads our loops use: as many as the processor gives this process, unless told otherwise.

Results do not depend on it. BLAS has threads of its own, which threadpoolctl sets.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from manyclass._checks import count


def _available() -> int:
    # joblib and Ray tell their workers by this variable how many threads are theirs.
    told = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(told), cores) if told.isdigit() and int(told) > 0 else cores


_threads = _available()
_inside: ContextVar[int | None] = ContextVar("manyclass_threads", default=None)


def get_threads() -> int:
    """Get the number of threads that products, encoders and solvers use.

    Returns
    -------
    int
        The number of the innermost `with threads(...)` block, or else that of the process.
    """
    return _inside.get() or _threads


def set_threads(n_threads: int | None) -> None:
    """Set the number of threads of the whole process.

    Inside a `with threads(...)` block the number of the block counts. Results do not depend on it.

    Parameters
    ----------
    n_threads : int or None
        Threads to use; None for as many as the process may use.
    """
    global _threads
    _threads = _checked(n_threads)


def _checked(n_threads: int | None) -> int:
    return _available() if n_threads is None else count(n_threads, "n_threads")


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
    before = _inside.get()
    _inside.set(_checked(n_threads))
    try:
        yield
    finally:
        _inside.set(before)

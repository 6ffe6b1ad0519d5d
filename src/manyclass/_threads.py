"""How many threads our loops use: as many as the processor gives this process, unless told otherwise.

Results do not depend on it. BLAS has threads of its own, which threadpoolctl sets.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from manyclass._checks import count


def _available() -> int:
    # joblib and Ray tell their workers by this variable how many threads are theirs.
    told = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(int(told), cores) if told.isdigit() and int(told) > 0 else cores


_threads = _available()


def get_threads() -> int:
    """The number of threads that products and encoders use."""
    return _threads


def set_threads(n_threads: int | None) -> None:
    """Set the number of threads; None for as many as this process may use."""
    global _threads
    _threads = _available() if n_threads is None else count(n_threads, "n_threads")


@contextmanager
def threads(n_threads: int | None) -> Iterator[None]:
    """Use so many threads inside a `with` block. The setting is one for the whole process.

    >>> with threads(1):
    ...     get_threads()
    1
    """
    before = get_threads()
    set_threads(n_threads)
    try:
        yield
    finally:
        set_threads(before)

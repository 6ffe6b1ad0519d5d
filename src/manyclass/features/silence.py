"""Warnings of a library, kept quiet while several threads use it."""

import os
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class _Silence:
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


_silence = _Silence()


@contextmanager
def silence() -> Iterator[None]:
    """No warnings inside the block, whichever thread leaves its own first."""
    here = _silence
    here.enter()
    try:
        yield
    finally:
        here.leave()


def _after_fork() -> None:
    # A child has perhaps a lock that a thread of its parent held.
    global _silence
    _silence = _Silence()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

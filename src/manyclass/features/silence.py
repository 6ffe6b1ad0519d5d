"""Warnings of a library, kept quiet while several threads use it."""

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
    _silence.enter()
    try:
        yield
    finally:
        _silence.leave()

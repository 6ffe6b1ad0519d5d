"""Who watches runs."""

from contextlib import contextmanager

import pytest


class Watched:
    """A ProgressFactory that remembers the last report of everything that it was asked to watch."""

    def __init__(self):
        self.seen = []

    @contextmanager
    def __call__(self, what, unit):
        last = []
        yield lambda done, total: last.append((what, unit, done, total))
        self.seen += last[-1:]


@pytest.fixture
def watched():
    return Watched()

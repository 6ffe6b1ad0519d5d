"""Results in the order of their tasks, while only so many tasks are under way."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_turn(submit: Callable[[T], Future[R]], tasks: Iterable[T], ahead: int) -> Iterator[R]:
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

"""Interleaved timing: every contender once a round, the best of several rounds counts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

import manyclass as mc


def best_of(
    rounds: int, contenders: dict[str, Callable[[], object]], clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Seconds of the best run of each; a slow moment of the machine meets all of them."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            start = clock()
            run()
            best[name] = min(best[name], clock() - start)
    return best


@contextmanager
def all_threads(n_threads: int) -> Iterator[None]:
    """So many threads for us, for BLAS and for the OpenMP of peers."""
    with mc.threads(n_threads), threadpool_limits(n_threads):
        yield


def with_threads(n_threads: int, run: Callable[[], object]) -> None:
    """Run once with so many threads of ours."""
    with mc.threads(n_threads):
        run()

"""on_cluster: what --ray and --workers of a command ask for, and the sentence that says what will be used."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from manyclass.cli.terminal.console import Console

if TYPE_CHECKING:
    from manyclass.cluster.actors import RayWorkers


@contextmanager
def on_cluster(
    address: str | None, workers: int | None, console: Console, threads: int | None = None
) -> "Iterator[RayWorkers | None]":
    """The workers of a cluster for the block, if an address is given; of each so many threads at most.

    Without one this machine computes, and a number of workers is refused.
    """
    if address is None:
        if workers is not None:
            raise typer.BadParameter("--workers is of a cluster; give --ray local for processes of this machine")
        yield None
        return
    from manyclass.cluster import connect

    with connect(address, workers, warn=console.warn, threads=threads) as offered:
        console.info(cluster_words(offered))
        yield offered


def cluster_words(workers: "RayWorkers") -> str:
    """What a cluster offers: its nodes, cores and workers.

    >>> from manyclass.cluster.actors import RayWorkers
    >>> from manyclass.cluster.nodes import Seat
    >>> cluster_words(RayWorkers(None, [Seat("a", "10.0.0.1", 8), Seat("b", "10.0.0.2", 16)], 60.0))
    '2 nodes with 24 cores'
    """
    nodes, cores, count = len({seat.node for seat in workers.seats}), workers.n_cores, len(workers)
    words = f"{nodes} {'node' if nodes == 1 else 'nodes'} with {cores} {'core' if cores == 1 else 'cores'}"
    return words if count == nodes else f"{words}, {count} workers"

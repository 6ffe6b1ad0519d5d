"""What --ray and --workers ask for."""

import pytest
import typer

from manyclass.cli.terminal.cluster_option import cluster_words, on_cluster
from manyclass.cli.terminal.console import Console
from manyclass.cluster.actors import RayWorkers
from manyclass.cluster.nodes import Seat


@pytest.mark.parametrize(
    ("seats", "words"),
    [
        ([Seat("a", "1", 8), Seat("b", "2", 8), Seat("c", "3", 8)], "3 nodes with 24 cores"),
        ([Seat("a", "1", 1)], "1 node with 1 core"),
        ([Seat("a", "1", 2), Seat("a", "1", 2)], "1 node with 4 cores, 2 workers"),
    ],
)
def test_what_will_be_used_is_said_in_words(seats, words):
    assert cluster_words(RayWorkers(None, seats, 1.0)) == words


def test_without_an_address_nothing_is_connected():
    with on_cluster(None, None, Console(True, False)) as workers:
        assert workers is None


def test_a_number_of_workers_needs_a_cluster():
    with pytest.raises(typer.BadParameter, match="give --ray local"), on_cluster(None, 2, Console(True, False)):
        pass

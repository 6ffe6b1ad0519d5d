"""Which nodes of a cluster are there, and where a worker goes whose node is gone."""

import socket
from types import SimpleNamespace

import pytest

from manyclass.cluster.actors import RayWorkers
from manyclass.cluster.nodes import ClusterError, Seat


class Nodes:
    """A Ray that knows its nodes, and nothing else."""

    def __init__(self, **cores):
        self.cores, self.head = cores, ""

    def get_runtime_context(self):
        return SimpleNamespace(gcs_address=self.head)

    def nodes(self):
        given = {"Alive": True, "NodeManagerAddress": "10.0.0.9"}
        return [{**given, "NodeID": name, "Resources": {"CPU": cores}} for name, cores in self.cores.items()]


def test_a_worker_of_a_node_that_is_gone_goes_where_there_are_cores_and_the_fewest_others():
    a, b, c = (Seat(name, f"10.0.0.{name}", 4) for name in "abc")
    told = []
    workers = RayWorkers(Nodes(head=0.0, a=4.0, b=4.0, c=4.0), [a, b, c], 60.0, told.append)
    assert [workers.seat_for(seat) for seat in (a, b, c)] == [a, b, c]
    workers._ray.cores = {"head": 0.0, "b": 4.0, "d": 2.0}
    workers.note_lost(a)
    assert [words.partition(":")[0] for words in told] == ["node 10.0.0.a is lost", "node 10.0.0.c is lost"]
    assert workers.seat_for(a) == Seat("d", "10.0.0.9", 2)
    assert workers.seat_for(c) == Seat("b", "10.0.0.9", 4)
    assert [seat.node for seat in workers.seats] == ["d", "b", "b"]


def test_where_no_node_is_left_that_computes_the_head_is_not_made_to(monkeypatch):
    seat = Seat("a", "10.0.0.a", 4)
    workers = RayWorkers(Nodes(head=0.0), [seat], 0.05, str)
    with pytest.raises(ClusterError, match="no node of the cluster is left; start one again"):
        workers.seat_for(seat)
    workers, looks = RayWorkers(Nodes(head=0.0), [seat], 60.0, str), []
    monkeypatch.setattr("time.sleep", lambda seconds: looks.append(workers._ray.cores.update(b=2.0)))
    assert workers.seat_for(seat) == Seat("b", "10.0.0.9", 2)  # which came
    assert len(looks) == 1


def test_a_head_that_is_gone_is_a_sentence():
    with socket.create_server(("127.0.0.1", 0)) as server:
        ray = Nodes(a=4.0)
        ray.head = f"127.0.0.1:{server.getsockname()[1]}"
        workers = RayWorkers(ray, [Seat("a", "10.0.0.a", 4)], 60.0, str)
        workers.note_lost(workers.seats[0])
    with pytest.raises(ClusterError, match=r"the head of the cluster, 127\.0\.0\.1:\d+, is gone"):
        workers.note_lost(workers.seats[0])

"""The nodes of a cluster as workers: where actors run, and tasks, which are run again where one is lost."""

import os

import numpy as np
import pytest

from manyclass.cluster.actors import ClusterError, RayWorkers, Seat

TABLE = np.arange(100_000)


def test_an_actor_that_cannot_be_made_is_given_up_in_a_sentence(workers, monkeypatch):
    monkeypatch.setattr("manyclass.cluster.actors._Host.__init__", _no_library)
    with pytest.raises(ClusterError, match=r"cannot start a worker; install manyclass there: .*No module named"):
        workers.check_version(workers.host(workers.seats[0]._replace(threads=3)), workers.seats[0])


class Nodes:
    """A Ray that knows its nodes, and nothing else."""

    def __init__(self, **cores):
        self.cores = cores

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
    workers._ray.cores = {"head": 0.0}
    assert workers.seat_for(b) == b  # until a node comes


def _no_library(self, n_threads):
    raise ModuleNotFoundError("No module named 'manyclass'")


def double(table, number):
    return int(table[number]) * 2


def die_once(mark, number):
    if number == 1 and not mark.exists():
        mark.write_text("")
        os._exit(1)
    return number


def refuse(number):
    raise FloatingPointError(f"{number} is too large")


def test_tasks_are_run_with_what_is_common(workers):
    assert sorted(workers.run(double, [TABLE], [[i] for i in range(7)])) == [(i, 2 * i) for i in range(7)]


def test_a_task_whose_process_dies_is_run_again(workers, tmp_path):
    assert sorted(workers.run(die_once, [tmp_path / "mark"], [[0], [1], [2]])) == [(0, 0), (1, 1), (2, 2)]
    assert (tmp_path / "mark").exists()


def test_errors_of_tasks_are_raised_as_they_are(workers):
    with pytest.raises(FloatingPointError, match=r"^3 is too large$"):
        list(workers.run(refuse, [], [[3]]))

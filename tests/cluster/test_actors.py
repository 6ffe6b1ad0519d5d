"""The nodes of a cluster as workers: where actors run, and tasks, which are run again where one is lost."""

import os

import numpy as np
import pytest

from manyclass.cluster.actors import check_versions, versions
from manyclass.cluster.nodes import ClusterError

TABLE = np.arange(100_000)


def test_an_actor_that_cannot_be_made_is_given_up_in_a_sentence(workers, monkeypatch):
    monkeypatch.setattr("manyclass.cluster.actors._Host.__init__", _no_library)
    with pytest.raises(ClusterError, match=r"cannot start a worker; install manyclass there: .*No module named"):
        workers.check_version(workers.host(workers.seats[0]._replace(threads=3)), workers.seats[0])


def test_tasks_and_actors_of_other_versions_are_refused(workers, monkeypatch):
    monkeypatch.setattr("manyclass.cluster.actors.versions", lambda: {**versions(), "numpy": "0.1"})
    monkeypatch.setattr("manyclass.cluster.actor_groups.versions", lambda: {**versions(), "numpy": "0.1"})
    with pytest.raises(ClusterError, match=r"all nodes must have the same numpy .* this machine 0\.1"):
        list(workers.run(double, [TABLE], [[1]]))
    with pytest.raises(ClusterError, match=r"all nodes must have the same numpy .* this machine 0\.1"):
        workers.start(dict, [], [[], []])
    with pytest.raises(ClusterError, match=r"that of the worker of there has 1, this machine 2; install"):
        check_versions({"numpy": "1"}, {"numpy": "2"}, "there")


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


def die(number):
    os._exit(1)


def test_a_task_that_always_dies_is_given_up_in_a_sentence(workers, monkeypatch):
    monkeypatch.setattr("manyclass.cluster.actors._ATTEMPTS", 2)
    with pytest.raises(ClusterError, match=r"^a task was lost 2 times at one call; see what ends its process"):
        list(workers.run(die, [], [[1]]))


def fail_alone(number):
    raise type("LocalError", (Exception,), {})(f"{number} is odd")


def test_an_error_that_cannot_travel_is_told_and_no_lost_worker(workers):
    with pytest.raises(RuntimeError, match=r"^LocalError: 3 is odd$"):
        list(workers.run(fail_alone, [], [[3]]))


def test_errors_of_tasks_are_raised_as_they_are(workers):
    with pytest.raises(FloatingPointError, match=r"^3 is too large$"):
        list(workers.run(refuse, [], [[3]]))

"""Actors that hold objects of solvers, on a cluster of this machine; what is lost is made anew."""

import os

import numpy as np
import pytest

from manyclass.cluster.nodes import ClusterError


class Tally:
    """An object whose answers tell all that it has seen."""

    def __init__(self, table, start):
        self.table, self.seen = table, [start]

    def add(self, number, extra=0):
        self.seen.append(int(number) + extra)
        return list(self.seen)

    def total(self):
        return int(self.table.sum()) + sum(self.seen)

    def process(self):
        return os.getpid()

    def die_once(self, mark, number):
        if not mark.exists():
            mark.write_text("")
            os._exit(1)
        return self.add(number)

    def die(self):
        os._exit(1)

    def fail(self):
        raise FloatingPointError("the step is too large")

    def writable(self):
        return self.table.flags.writeable

    def save(self, path):
        path.write_text(",".join(map(str, self.seen)))

    def restore(self, path):
        if path.exists():
            self.seen = [*map(int, path.read_text().split(",")), -1000]
        return path.exists()


TABLE = np.arange(100_000)


@pytest.fixture
def group(workers):
    started = workers.start(Tally, [TABLE], [[1], [2]])
    yield started
    started.close()


def test_objects_keep_what_they_have_seen(group):
    group.update("add", 5)
    assert group.update("add", 0, each=[[10], [20]]) == [[1, 5, 10], [2, 5, 20]]
    assert group.query("total") == [TABLE.sum() + 16, TABLE.sum() + 27]


def test_objects_live_in_processes_of_their_own(group):
    processes = group.query("process")
    assert len({os.getpid(), *processes}) == 3


def test_actors_that_are_done_serve_the_next_group(workers):
    first = workers.start(Tally, [TABLE], [[1], [2]])
    processes = first.query("process")
    first.close()
    second = workers.start(Tally, [TABLE], [[3], [4]])
    assert second.query("process") == processes
    assert second.update("add", 5) == [[3, 5], [4, 5]]
    second.close()


def test_an_actor_that_was_killed_while_it_was_idle_is_not_missed(workers):
    first = workers.start(Tally, [TABLE], [[1], [2]])
    process = first.query("process")[0]
    first.close()
    os.kill(process, 9)
    second = workers.start(Tally, [TABLE], [[3], [4]])
    assert second.update("add", 5) == [[3, 5], [4, 5]]
    second.close()


def test_arrays_that_were_sent_are_read_only(group):
    assert group.query("writable") == [False, False]


def test_an_actor_that_was_killed_comes_back_with_all_that_it_had_seen(group):
    group.update("add", 5)
    os.kill(group.query("process")[1], 9)
    assert group.update("add", 6) == [[1, 5, 6], [2, 5, 6]]
    assert group.replaced >= 1


def test_an_actor_that_dies_during_a_call_sees_it_once(group, tmp_path):
    group.update("add", 5)
    assert group.update("die_once", tmp_path / "mark", 7) == [[1, 5, 7], [2, 5, 7]]
    assert group.update("add", 8) == [[1, 5, 7, 8], [2, 5, 7, 8]]


def test_what_was_saved_takes_the_place_of_earlier_updates(group, tmp_path):
    group.update("add", 5)
    group.save([tmp_path / "0", tmp_path / "1"])
    group.update("add", 6)
    os.kill(group.query("process")[0], 9)
    assert group.update("add", 7) == [[1, 5, -1000, 6, 7], [2, 5, 6, 7]]


def test_updates_are_seen_again_where_what_was_saved_is_gone(group, tmp_path):
    group.update("add", 5)
    group.save([tmp_path / "0", tmp_path / "1"])
    (tmp_path / "0").unlink()
    os.kill(group.query("process")[0], 9)
    assert group.update("add", 7) == [[1, 5, 7], [2, 5, 7]]


def test_errors_of_objects_are_raised_as_they_are(group):
    with pytest.raises(FloatingPointError, match=r"^the step is too large$"):
        group.query("fail")
    assert group.update("add", 1) == [[1, 1], [2, 1]]


def test_an_object_that_always_dies_is_given_up_in_a_sentence(group, monkeypatch):
    monkeypatch.setattr("manyclass.cluster.actors._ATTEMPTS", 2)
    with pytest.raises(ClusterError, match=r"worker 1 of 2 was lost 2 times at one call"):
        group.query("die")


def test_an_actor_that_is_lost_while_it_takes_the_place_of_another_is_replaced_too(group, workers, monkeypatch):
    group.update("add", 5)
    asked, check = [], workers.check_version

    def lost_at_first(host, seat):
        asked.append(seat)
        if len(asked) < 3:  # as on a node that is dead, of which nobody knows yet
            workers._ray.kill(host)
        check(host, seat)

    monkeypatch.setattr(workers, "check_version", lost_at_first)
    os.kill(group.query("process")[1], 9)
    assert group.update("add", 6) == [[1, 5, 6], [2, 5, 6]]
    assert len(asked) == 3

"""What nodes do, in words, and which are lost."""

import pytest

from manyclass.cluster.watch import ClusterWatch


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watch(clock):
    return ClusterWatch(clock=clock)


def test_a_loss_is_told_once_for_each_node():
    told = []
    watch = ClusterWatch(told.append)
    for address, gone in (("a", False), ("a", False), ("b", False), ("a", True), ("a", True)):
        watch.lost(address, gone)
    assert [words.partition(":")[0] for words in told] == [
        "a worker of node a is lost",
        "a worker of node b is lost",
        "node a is lost",
    ]


def test_by_default_a_loss_is_a_warning(watch):
    with pytest.warns(UserWarning, match=r"^node a is lost: others do its part"):
        watch.lost("a", gone=True)


def test_how_busy_workers_are(watch, clock):
    names = watch.begin_calls(["10.0.0.1", "10.0.0.2"])
    assert watch.words() == ""
    clock.now = 10.0
    watch.did(names[0], 9.5)
    watch.did(names[1], 3.0)
    watch.did(names[1], 3.0)
    assert watch.words() == "10.0.0.1 95 % busy, 10.0.0.2 60 % busy"


def test_workers_of_one_node_have_numbers(watch):
    assert watch.begin_calls(["a", "b", "a"]) == ["worker 1", "worker 2", "worker 3"]


def test_how_many_things_nodes_do_a_second(watch, clock):
    watch.begin_tasks()
    clock.now = 10.0
    watch.did("a", 1200)
    assert watch.words() == ""  # it alone does all that is told in any case
    watch.did("b", 42)
    assert watch.words() == "a 120/s, b 4.2/s"


def test_of_many_the_range_is_told(watch, clock):
    names = watch.begin_calls([f"n{i}" for i in range(16)])
    clock.now = 10.0
    for i, name in enumerate(names):
        watch.did(name, 9.0 if i == 7 else 5.0)
    assert watch.words() == "16 workers 50 % busy to 90 % busy, most n7"

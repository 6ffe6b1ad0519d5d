"""Workers: objects elsewhere, and who offers them."""

from threading import Thread

import pytest

from manyclass._core.worker_groups import LocalWorkers, current_workers, using_workers


class Counter:
    """What objects of the tests are: a number that can be added to."""

    def __init__(self, factor, start):
        self.factor, self.value = factor, start

    def add(self, number, extra=0):
        self.value += self.factor * number + extra
        return self.value

    def computes_here(self):
        return current_workers() is None

    def save(self, path):
        path.write_text(str(self.value))


def test_answers_come_in_the_order_of_the_objects():
    group = LocalWorkers(3).start(Counter, [10], [[1], [2], [3]])
    assert group.update("add", 1) == [11, 12, 13]
    assert group.update("add", 0, each=[[5], [6], [7]]) == [16, 18, 20]
    assert len(group) == 3


def test_arguments_must_be_as_many_as_objects():
    group = LocalWorkers(2).start(Counter, [1], [[1], [2]])
    with pytest.raises(ValueError, match="zip"):
        group.update("add", 0, each=[[5]])


def test_objects_compute_by_themselves():
    with using_workers(LocalWorkers(2)):
        group = current_workers().start(Counter, [1], [[1], [2]])
        assert group.query("computes_here") == [True, True]


def test_workers_are_those_of_the_innermost_block_and_of_its_thread():
    outer, inner, seen = LocalWorkers(1), LocalWorkers(2), []
    with using_workers(outer):
        with using_workers(inner):
            assert current_workers() is inner
        assert current_workers() is outer
        thread = Thread(target=lambda: seen.append(current_workers()))
        thread.start()
        thread.join()
    assert current_workers() is None
    assert seen == [None]


def test_each_object_saves_to_its_own_file(tmp_path):
    group = LocalWorkers(2).start(Counter, [1], [[1], [2]])
    group.save([tmp_path / "a", tmp_path / "b"])
    assert [(tmp_path / name).read_text() for name in "ab"] == ["1", "2"]
    group.close()
    assert len(group) == 0


def test_an_error_leaves_the_block_as_it_was_entered():
    with pytest.raises(KeyError), using_workers(LocalWorkers(1)):
        raise KeyError
    assert current_workers() is None


def test_tasks_compute_by_themselves_one_after_the_other():
    def task(common, own):
        return common + own, current_workers() is None

    with using_workers(LocalWorkers(2)):
        assert list(current_workers().run(task, [10], [[1], [2]])) == [(0, (11, True)), (1, (12, True))]
        assert current_workers().n_cores == 2

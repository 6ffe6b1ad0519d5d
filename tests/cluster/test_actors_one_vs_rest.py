"""One-vs-rest by actors: the bits of one process, and again where actors are killed on the way."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from solvers.sgd.test_class_ranges import Killed, at_every_epoch, bits, fit, kill_at

from manyclass._core.worker_groups import LocalWorkers


@pytest.fixture(scope="module")
def whole():
    """The bits of one process, with more epochs than other tests have: moments enough to be killed."""
    return bits(fit(max_epochs=10, callbacks=[lambda record: None]))


@pytest.fixture
def killer(workers, monkeypatch):
    """Make callbacks that kill actors at random moments, in the middle of an epoch or between two."""
    groups, threads, ray, start = [], [], workers._ray, workers.start
    monkeypatch.setattr(workers, "start", lambda *given: groups.append(start(*given)) or groups[-1])

    def kill(process, delay):
        time.sleep(delay)
        os.kill(process, signal.SIGKILL)

    def make(seed, probability=0.3):
        rng = np.random.default_rng(seed)

        def callback(record):
            victim = groups[-1]._hosts[rng.integers(len(groups[-1]))]
            if rng.random() < probability and not any(thread.is_alive() for thread in threads):
                process = ray.get(victim.__ray_call__.remote(lambda _: os.getpid()))
                threads.append(threading.Thread(target=kill, args=(process, rng.uniform(0, 0.05))))
                threads[-1].start()

        return callback

    make.count = lambda: sum(group.replaced for group in groups)
    yield make
    for thread in threads:
        thread.join()


def test_actors_find_the_machines_of_one_process_to_the_bit(workers, whole):
    assert bits(fit(workers, max_epochs=10, callbacks=[lambda record: None])) == whole


@pytest.mark.parametrize("seed", range(3))
def test_actors_that_are_killed_change_no_bit(workers, killer, whole, seed):
    assert bits(fit(workers, max_epochs=10, callbacks=[killer(seed)])) == whole
    assert killer.count()


def test_actors_that_are_killed_go_on_from_the_checkpoint(workers, killer, whole, tmp_path, monkeypatch):
    at_every_epoch(monkeypatch)
    settings = {"max_epochs": 10, "checkpoint": tmp_path / "c"}
    with pytest.raises(Killed):
        fit(workers, **settings, callbacks=[killer(1), kill_at(5)])
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(Killed):
        fit(LocalWorkers(3), **settings, callbacks=[kill_at(3)])
    assert bits(fit(workers, **settings, callbacks=[killer(2)])) == whole
    assert killer.count()
    assert list(tmp_path.iterdir()) == []

"""One-vs-rest by actors: the bits of one process, and again where actors are killed on the way."""

import pytest
from cluster.killing import killing
from solvers.sgd.test_class_ranges import Killed, at_every_epoch, bits, fit, kill_at

from manyclass._core.worker_groups import LocalWorkers


@pytest.fixture(scope="module")
def whole():
    """The bits of one process, with more epochs than other tests have: moments enough to be killed."""
    return bits(fit(max_epochs=10, callbacks=[lambda record: None]))


def test_actors_find_the_machines_of_one_process_to_the_bit(workers, whole):
    assert bits(fit(workers, max_epochs=10, callbacks=[lambda record: None])) == whole


@pytest.mark.parametrize("seed", range(3))
def test_actors_that_are_killed_change_no_bit(workers, whole, monkeypatch, seed):
    with killing(workers, monkeypatch, seed) as killer:
        assert bits(fit(workers, max_epochs=10, callbacks=[lambda record: None])) == whole
    assert killer.replaced


def test_actors_that_are_killed_go_on_from_the_checkpoint(workers, whole, tmp_path, monkeypatch):
    at_every_epoch(monkeypatch)
    settings = {"max_epochs": 10, "checkpoint": tmp_path / "c"}
    with killing(workers, monkeypatch, 1) as killer, pytest.raises(Killed):
        fit(workers, **settings, callbacks=[kill_at(5)])
    assert killer.replaced
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(Killed):
        fit(LocalWorkers(3), **settings, callbacks=[kill_at(3)])
    with killing(workers, monkeypatch, 2) as killer:
        assert bits(fit(workers, **settings, callbacks=[lambda record: None])) == whole
    assert killer.replaced
    assert list(tmp_path.iterdir()) == []

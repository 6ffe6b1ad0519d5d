"""Connecting to a cluster: addresses, seats, versions, and what remains afterwards."""

import socket
import subprocess
import sys
from types import SimpleNamespace

import pytest

import manyclass as mc
from manyclass._core.worker_groups import current_workers
from manyclass.cluster import actors
from manyclass.cluster.connection import _check_answers, _membership, seats


def node(name, cores, alive=True):
    return {"Alive": alive, "NodeID": name, "NodeManagerAddress": f"10.0.0.{name}", "Resources": {"CPU": cores}}


def test_every_node_has_a_worker_with_all_of_its_cores():
    found = seats([node("2", 4.0), node("1", 8.0), node("3", 2.0, alive=False), node("4", 0.0)], None)
    assert [(seat.node, seat.threads) for seat in found] == [("1", 8), ("2", 4)]


def test_workers_of_a_node_share_its_cores():
    found = seats([node("1", 3.0), node("2", 1.0)], 3)
    assert [(seat.node, seat.threads) for seat in found] == [("1", 1), ("2", 1), ("1", 1)]


def test_workers_have_no_more_threads_than_they_are_given():
    found = seats([node("1", 8.0), node("2", 2.0)], None, 3)
    assert [seat.threads for seat in found] == [3, 2]


def test_a_cluster_without_cores_is_refused():
    with pytest.raises(mc.cluster.ClusterError, match="a cluster must have a node with a core"):
        seats([node("1", 0.0)], None)


def test_workers_are_offered_inside_the_block_alone(ray_cluster):
    with mc.cluster.connect("auto", workers=2) as workers:
        assert current_workers() is workers
        assert len(workers) == 2
    assert current_workers() is None


def test_a_number_of_workers_below_one_is_refused():
    with pytest.raises(ValueError, match="workers must be a whole number, at least 1"), mc.cluster.connect(workers=0):
        pass


def test_nodes_of_other_versions_are_refused(ray_cluster, monkeypatch):
    monkeypatch.setattr(actors, "versions", lambda: {"manyclass": "0.0.9"})
    with (
        pytest.raises(mc.cluster.ClusterError, match=r"all nodes must have the same manyclass.*this machine 0\.0\.9"),
        mc.cluster.connect("auto"),
    ):
        pass


def test_an_address_at_which_nobody_listens_is_refused_at_once():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(mc.cluster.ClusterError, match=f"no Ray cluster answers at {address}: .*refused"):
        _check_answers(address)


@pytest.mark.parametrize("address", ["local", "auto", "ray://head:10001", "10.0.0.1"])
def test_other_addresses_are_left_to_ray(address):
    _check_answers(address)


def test_a_process_of_a_cluster_is_not_taken_to_another(ray_cluster):
    with pytest.raises(mc.cluster.ClusterError, match="belongs to a Ray cluster already"), mc.cluster.connect("local"):
        pass


def test_bits_depend_on_libraries_and_instruction_sets():
    assert {"manyclass", "numpy", "scipy", "instruction set", "kernels of BLAS"} == set(actors.versions())
    assert all(actors.versions().values())


class FakeRay:
    """A Ray that notes what holds while it begins."""

    __version__ = "9.9"
    address = "127.0.0.1"

    def __init__(self):
        constants, worker = SimpleNamespace(ENABLE_RAY_CLUSTER=True), SimpleNamespace(print_to_stdstream=print)
        self._private, self.seen = SimpleNamespace(ray_constants=constants, worker=worker), {}

    def is_initialized(self):
        return False

    def init(self, address, **settings):
        changed = settings.get("_system_config")
        self.seen = {"reachable": self._private.ray_constants.ENABLE_RAY_CLUSTER, "changed": changed}

    def nodes(self):
        return [{"NodeManagerAddress": self.address}]

    def shutdown(self):
        self.seen["prints"] = self._private.worker.print_to_stdstream is print


@pytest.mark.parametrize("address", ["local", "auto"])
def test_a_local_cluster_is_of_this_machine_alone_and_none_prints(address):
    ray = FakeRay()
    with _membership(ray, address):
        pass
    changed = {"worker_niceness": 0} if address == "local" else None
    assert ray.seen == {"reachable": address != "local", "prints": False, "changed": changed}
    assert ray._private.ray_constants.ENABLE_RAY_CLUSTER
    assert ray._private.worker.print_to_stdstream is print


def test_who_sets_the_priority_of_workers_is_heard(monkeypatch):
    monkeypatch.setenv("RAY_worker_niceness", "7")
    ray = FakeRay()
    with _membership(ray, "local"):
        assert ray.seen["changed"] is None


def test_a_cluster_that_cannot_begin_is_a_sentence(monkeypatch):
    def too_busy(address, **settings):
        raise Exception("The current node timed out during startup.")  # as Ray says it

    ray = FakeRay()
    monkeypatch.setattr(ray, "init", too_busy)
    with pytest.raises(mc.cluster.ClusterError, match="cannot begin: The current node timed out during startup;"):
        _membership(ray, "local").__enter__()


def test_a_local_cluster_that_others_can_reach_is_refused():
    ray = FakeRay()
    ray.address = "10.0.0.1"
    with pytest.raises(mc.cluster.ClusterError, match=r"this version of Ray, 9\.9, lets other machines talk"):
        _membership(ray, "local").__enter__()
    assert "prints" in ray.seen  # it was shut down


@pytest.mark.slow
def test_a_local_cluster_has_the_address_of_this_machine_for_itself_and_the_priority_of_its_driver():
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'manyclass[ray]'")
    code = """
import os
import manyclass as mc
with mc.cluster.connect("local", 2) as found:
    niceness = found.start(os.getpriority, [], [[os.PRIO_PROCESS, 0]] * 2).query("__int__")
    print(found.seats[0].address, niceness == [os.getpriority(os.PRIO_PROCESS, 0)] * 2)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.returncode) == ("127.0.0.1 True\n", 0)

"""A cluster of this machine for all tests of a process: it takes some seconds to begin."""

import pytest
from cluster.killing import begun


@pytest.fixture(scope="session")
def ray_cluster():
    """A Ray cluster of this machine with two cores."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'manyclass[ray]'")
    from manyclass.cluster.connection import import_ray

    ray, silent = import_ray(), {"include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    begun(lambda: ray.init(address="local", num_cpus=2, **silent), ray.shutdown)
    yield ray
    ray.shutdown()


@pytest.fixture(scope="session")
def ray_workers(ray_cluster):
    """Two workers of the cluster; actors that are done serve the next test, as to begin one takes seconds."""
    from manyclass.cluster.actors import RayWorkers
    from manyclass.cluster.connection import seats

    offered = RayWorkers(ray_cluster, seats(ray_cluster.nodes(), 2), patience=300, warn=str)
    yield offered
    offered.close()


@pytest.fixture
def workers(ray_workers):
    """Two workers of the cluster, which solvers use."""
    from manyclass._core.worker_groups import using_workers

    with using_workers(ray_workers):
        yield ray_workers

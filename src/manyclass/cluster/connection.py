"""connect: the workers of a cluster, for whatever is fitted inside a `with` block."""

import os
import socket
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from manyclass._core.checks import check_count
from manyclass._core.typing import Notify
from manyclass._core.worker_groups import using_workers
from manyclass.cluster.actors import RayWorkers
from manyclass.cluster.nodes import ClusterError, Seat

LOCAL = "local"  # the address of a cluster of this machine alone, which begins and ends with the block

# A node that died is told from one that is slow by Ray itself; this is how long another may take to come in its place.
_PATIENCE = 60.0

_ANSWER = 5.0  # seconds in which a cluster that is there takes a connection


@contextmanager
def connect(
    address: str = LOCAL,
    workers: int | None = None,
    patience: float = _PATIENCE,
    warn: Notify | None = None,
    threads: int | None = None,
) -> Iterator[RayWorkers]:
    """Let what is fitted inside the block be computed by the nodes of a Ray cluster.

    Paths travel, arrays do not: rows of a store or of a mapped file are opened by every node at the same path, so they
    should lie on storage that all nodes share. Rows in memory are sent once to every node.

    Parameters
    ----------
    address : str, default="local"
        Address of a cluster, "auto" for the one that this machine belongs to, or "local" for processes of this machine.
    workers : int, default=None
        How many parts to make of the work; None for one for each node, with all of its cores.
    patience : float, default=60.0
        Seconds to wait for a node that could take the place of one that was lost.
    warn : callable, default=None
        Called with a sentence, once for each node that is lost or loses a worker; None for warnings of Python.
    threads : int, default=None
        Threads of every worker at most; None for all cores of its node, or its share of them.

    Yields
    ------
    RayWorkers
        The workers.

    Raises
    ------
    ClusterError
        If there is no such cluster, or its nodes have other versions than this machine.

    Examples
    --------
    >>> import manyclass as mc
    >>> with mc.cluster.connect("local"):  # doctest: +SKIP
    ...     clf.fit(mc.open_store("photos.store").X, y)
    """
    ray = import_ray()
    count = None if workers is None else check_count(workers, "workers")
    most = None if threads is None else check_count(threads, "threads")
    with _membership(ray, address):
        offered = RayWorkers(ray, seats(ray.nodes(), count, most), patience, warn)
        offered.check_versions()
        try:
            with using_workers(offered):
                yield offered
        finally:
            offered.close()


def import_ray() -> Any:
    """The module `ray`, silent, and telling nobody that it is used."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns of what a later version will do
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
    except ImportError as error:
        raise ImportError('a cluster needs Ray, which is missing; pip install "manyclass[ray]"') from error
    return ray


@contextmanager
def _membership(ray: Any, address: str) -> Iterator[None]:
    """Be a part of a cluster inside the block, unless this process is one already."""
    if ray.is_initialized():
        if address != "auto":
            words = "this process belongs to a Ray cluster already; connect to it by 'auto'"
            raise ClusterError(f"{words}; got {address!r}")
        yield
        return
    # Ray prints on stdout, where results go, that a node is gone; we tell it ourselves.
    with _changed(ray._private.worker, "print_to_stdstream", lambda data, ignore_prefix: None):
        _begin(ray, address)
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def _changed(module: Any, name: str, value: Any) -> Iterator[None]:
    """Have a name of a module of Ray stand for something else in a block, if this version has it."""
    before = getattr(module, name, None)
    if before is not None:
        setattr(module, name, value)
    try:
        yield
    finally:
        if before is not None:
            setattr(module, name, before)


def _begin(ray: Any, address: str) -> None:
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    _check_answers(address)
    if address == LOCAL:
        settings["include_dashboard"] = False
        # Ray's workers let all other programs go first, on whose machine they run; this one is of who began the fit.
        if "RAY_worker_niceness" not in os.environ:
            settings["_system_config"] = {"worker_niceness": 0}
    # Whoever reaches the ports of a cluster can run what he likes on it; those of `local` are of this machine alone.
    reachable = _changed(ray._private.ray_constants, "ENABLE_RAY_CLUSTER", False) if address == LOCAL else nullcontext()
    try:
        with warnings.catch_warnings(), reachable:
            warnings.simplefilter("ignore")
            ray.init(address=address, **settings)
    except Exception as error:  # of no particular kind where a machine is too busy for Ray to begin in time
        reason = " ".join(str(error).split())[:300].rstrip(".")
        advice = (
            "give the command on one of its nodes, which `ray start` makes of this machine; 'local' needs no cluster"
        )
        raise ClusterError(
            f"a Ray cluster of this machine cannot begin: {reason}; try again when the machine is less busy"
            if address == LOCAL
            else f"the Ray cluster at {address} cannot be used: {reason}; {advice}"
        ) from error
    if address == LOCAL:
        _check_private(ray)


def _check_private(ray: Any) -> None:
    """Refuse a cluster of this machine to which other machines can talk."""
    addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
    if not addresses <= {"127.0.0.1", "::1", "localhost"}:
        ray.shutdown()
        raise ClusterError(
            f"this version of Ray, {ray.__version__}, lets other machines talk to a cluster of this one alone, which "
            "may run what they like; install ray 2.60, or begin a cluster by `ray start` and give its address"
        )


def _check_answers(address: str) -> None:
    """Refuse an address at which nobody listens, as Ray would wait for long; one without a port is left to it."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        return
    try:
        socket.create_connection((host, int(port)), timeout=_ANSWER).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f"no Ray cluster answers at {address}: {str(error).lower()}; `ray start --head` begins one, and 'local' "
            "needs none"
        ) from error


def seats(nodes: Sequence[dict[str, Any]], count: int | None, threads: int | None = None) -> list[Seat]:
    """Where so many workers are to run, one for each node by default; with how many threads each, or at most so many.

    >>> node = {"Alive": True, "NodeID": "a", "NodeManagerAddress": "10.0.0.1", "Resources": {"CPU": 4.0}}
    >>> seats([node], 2)
    [Seat(node='a', address='10.0.0.1', threads=2), Seat(node='a', address='10.0.0.1', threads=2)]
    """
    alive = [node for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not alive:
        raise ClusterError("a cluster must have a node with a core to compute on; this one has none")
    alive.sort(key=lambda node: (node["NodeManagerAddress"], node["NodeID"]))
    count = len(alive) if count is None else count
    taken = [alive[i % len(alive)] for i in range(count)]
    shared = {node["NodeID"]: max(1, taken.count(node)) for node in taken}
    cores = {node["NodeID"]: max(1, int(node["Resources"]["CPU"]) // shared[node["NodeID"]]) for node in taken}
    most = {name: number if threads is None else min(number, threads) for name, number in cores.items()}
    return [Seat(node["NodeID"], node["NodeManagerAddress"], most[node["NodeID"]]) for node in taken]

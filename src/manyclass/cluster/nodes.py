"""ClusterNodes: which nodes of a Ray cluster are there, and who takes the place of one that is gone."""

import socket
import time
from typing import Any, NamedTuple

_ANSWER = 5.0  # seconds in which the head of a cluster that is there takes a connection

_LOOK = 1.0  # seconds between looks for a node to come


class ClusterError(OSError):
    """A cluster cannot do what it is asked for; the message says which node, why, and how to go on."""


class Seat(NamedTuple):
    """Where a worker runs, with how many threads."""

    node: str
    address: str
    threads: int


class ClusterNodes:
    """The nodes of the cluster that this process belongs to.

    Parameters
    ----------
    ray : module
        Ray.
    patience : float
        Seconds to wait for a node where none is left that computes.
    """

    def __init__(self, ray: Any, patience: float):
        self._ray, self._patience = ray, patience
        self._empty_since: float | None = None  # since when no node was seen that computes

    def alive(self) -> dict[str, dict[str, Any]]:
        """What Ray says of the nodes that are alive, by their names."""
        self._check_head()
        return {node["NodeID"]: node for node in self._ray.nodes() if node["Alive"]}

    def computing(self) -> dict[str, dict[str, Any]]:
        """Those that compute: the head of many a cluster has no cores for it."""
        return {name: node for name, node in self.alive().items() if node["Resources"].get("CPU", 0) >= 1}

    def check_left(self) -> None:
        """Refuse to go on where no node computes, nor came within the time that there is for one."""
        if self.computing():
            self._empty_since = None
            return
        now = time.monotonic()
        self._empty_since = now if self._empty_since is None else self._empty_since
        if now - self._empty_since >= self._patience:
            raise ClusterError(
                "no node of the cluster is left; start one again, and give the command once more to go on from where "
                "it was"
            )

    def seat_for(self, seat: Seat, taken: list[str]) -> Seat:
        """The seat; or another where its node is gone, on the node with the fewest of those that are taken.

        Ray itself might put an actor on a node that is to compute nothing.
        """
        while not (nodes := self.computing()):
            self.check_left()
            time.sleep(min(_LOOK, self._patience))
        if seat.node in nodes:
            return seat
        name = min(nodes, key=lambda name: (taken.count(name), name))
        cores = int(nodes[name]["Resources"]["CPU"])
        return Seat(name, nodes[name]["NodeManagerAddress"], min(seat.threads, cores))

    def _check_head(self) -> None:
        """Tell of a head that is gone, before Ray waits for it for a minute and then ends this process."""
        head = str(getattr(self._ray.get_runtime_context(), "gcs_address", ""))
        host, _, port = head.rpartition(":")
        if not host or not port.isdigit():
            return
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
        except ConnectionRefusedError as error:
            raise ClusterError(
                f"the head of the cluster, {head}, is gone; start the cluster again, and give the command once "
                "more to go on from where it was"
            ) from error
        except OSError:  # slow, which Ray bears with
            return

"""Servers, one for each of two cores, that all tests of the battery share."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import pytest

from tests.battery.server import Server
from tests.battery.trials import Trials

Attack = Callable[[Trials], Any]


class Battery:
    """Attacks commands, two at a time."""

    def __init__(self) -> None:
        self._free: SimpleQueue[dict[str, Trials]] = SimpleQueue()
        self.servers = [Server(), Server()]
        for server in self.servers:
            self._free.put(_Known(server))

    def attack(self, names: Iterable[str], attack: Attack) -> dict[str, Any]:
        """What `attack` finds for each of the commands."""
        names = list(names)

        def one(name: str) -> Any:
            known = self._free.get()
            try:
                return attack(known[name])
            finally:
                self._free.put(known)

        with ThreadPoolExecutor(len(self.servers)) as pool:
            return dict(zip(names, pool.map(one, names), strict=True))


class _Known(dict[str, Trials]):
    """The trials of each command, by one server."""

    def __init__(self, server: Server):
        self._server = server

    def __missing__(self, name: str) -> Trials:
        self[name] = Trials(self._server, name)
        return self[name]


@pytest.fixture(scope="session")
def battery() -> Iterator[Battery]:
    """Attacks on commands by name."""
    battery = Battery()
    yield battery
    for server in battery.servers:
        server.close()

"""Servers that all tests of the battery share: one for each of two cores, or one where another worker has the other."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.battery.server import Server
from tests.battery.trials import Trials

Attack = Callable[[Trials], Any]


class Battery:
    """Attacks commands, as many at a time as there are servers.

    A command stays with its server, so that what comes before its trials is done once.
    """

    def __init__(self, n_servers: int) -> None:
        self.servers = [Server() for _ in range(n_servers)]
        self._trials: dict[str, Trials] = {}
        self._places: dict[str, int] = {}

    def attack(self, names: Iterable[str], attack: Attack) -> dict[str, Any]:
        """What `attack` finds for each of the commands."""
        names = list(names)
        for name in names:
            self._places.setdefault(name, len(self._places) % len(self.servers))

        def all_of(place: int) -> dict[str, Any]:
            return {name: attack(self._known(name)) for name in names if self._places[name] == place}

        with ThreadPoolExecutor(len(self.servers)) as pool:
            found = {name: one for part in pool.map(all_of, range(len(self.servers))) for name, one in part.items()}
        return {name: found[name] for name in names}

    def _known(self, name: str) -> Trials:
        if name not in self._trials:
            self._trials[name] = Trials(self.servers[self._places[name]], name)
        return self._trials[name]


@pytest.fixture(scope="session")
def battery() -> Iterator[Battery]:
    """Attacks on commands by name."""
    battery = Battery(1 if "PYTEST_XDIST_WORKER" in os.environ else 2)
    yield battery
    for server in battery.servers:
        server.close()

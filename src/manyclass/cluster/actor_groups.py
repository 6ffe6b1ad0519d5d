"""RayGroup: objects of the solvers in actors of a Ray cluster, made anew where one is lost.

An actor that dies, with its process or its node, is replaced by one with the same arguments that sees the same updates,
on its node or on another; as answers depend on nothing else, the bits are those of a run in which nothing happened.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from manyclass._core.worker_groups import Arguments
from manyclass.cluster.actors import RayWorkers, versions
from manyclass.cluster.nodes import Seat


@dataclass
class _Call:
    method: str
    common: list[Any]
    each: list[Any]


class RayGroup:
    """Objects in actors; see `WorkerGroup`."""

    def __init__(self, workers: RayWorkers, make: Callable[..., Any], common: list[Any], each: list[Any]):
        self._workers, self._ray = workers, workers._ray
        self._make, self._common, self._each = make, common, each
        self._updates: list[_Call] = []
        self._saved: tuple[int, list[Path]] = (0, [])
        self._hosts: list[Any] = []
        self.replaced = 0  # actors that were made anew
        self._names = workers.watch.begin_calls(self._seat(i).address for i in range(len(each)))
        self._waits = True  # for answers to a call
        self._hosts = [workers.host(self._seat(i)) for i in range(len(each))]
        made = [self._made(i) for i in range(len(each))]
        for i, reference in enumerate(made):
            self._patiently(i, reference, partial(self._revived, i))
        self._waits = False

    def _made(self, i: int) -> Any:
        return self._hosts[i].make.remote(self._make, self._each[i], versions(), *self._common)

    def __len__(self) -> int:
        return len(self._each)

    def update(self, method: str, *common: Any, each: Sequence[Arguments] | None = None) -> list[Any]:
        """Call a method of all, and remember it for those that take the place of others."""
        call = self._call(method, common, each)
        answers = self._answers(call)
        self._updates.append(call)
        return answers

    def query(self, method: str, *common: Any, each: Sequence[Arguments] | None = None) -> list[Any]:
        """Call a method of all that changes nothing."""
        return self._answers(self._call(method, common, each))

    def save(self, paths: Sequence[Path]) -> None:
        """Call `save` of all; from then on earlier updates are needed only where these files cannot be read."""
        self.query("save", each=[(path,) for path in paths])
        self._saved = len(self._updates), list(paths)

    def close(self) -> None:
        """Let go of the actors: who computes still, as a call was interrupted, is ended."""
        for i, host in enumerate(self._hosts):
            if self._waits:
                self._ray.kill(host)
            else:
                self._workers.release(self._seat(i), host)
        self._hosts = []

    def _call(self, method: str, common: Arguments, each: Sequence[Arguments] | None) -> _Call:
        given = [()] * len(self) if each is None else [tuple(arguments) for arguments in each]
        return _Call(method, [self._workers.put(argument) for argument in common], given)

    def _answers(self, call: _Call) -> list[Any]:
        self._waits = True
        self._workers.look_again()
        references = [self._asked(i, call) for i in range(len(self))]
        answers = []
        for i, reference in enumerate(references):
            seconds, answer = self._patiently(i, reference, partial(self._asked_again, i, call))
            self._workers.watch.did(self._names[i], seconds)
            answers.append(answer)
        self._waits = False
        return answers

    def _asked_again(self, i: int, call: _Call) -> Any:
        self._revived(i)
        return self._workers.get(self._asked(i, call))

    def _asked(self, i: int, call: _Call) -> Any:
        return self._hosts[i].call.remote(call.method, call.each[i], *call.common)

    def _patiently(self, i: int, reference: Any, again: Callable[[], Any]) -> Any:
        """What a reference holds; where its actor is lost, what `again` finds with another one."""
        name = f"worker {i + 1} of {len(self)}"
        return self._workers.persist(name, self._seat(i), partial(self._workers.get, reference), again)

    def _revived(self, i: int) -> None:
        """Put another actor in the place of the i-th, with all that it had seen."""
        self.replaced += 1
        seat = self._seat(i)
        host = self._hosts[i] = self._workers.host(seat)
        if self._seat(i) != seat:  # on another node
            self._names[i] = self._seat(i).address
        self._workers.check_version(host, seat)
        self._workers.get(self._made(i))
        done, paths = self._saved
        if done and not self._workers.get(host.call.remote("restore", (paths[i],)))[1]:
            done = 0
        for call in self._updates[done:]:
            self._workers.get(self._asked(i, call))

    def _seat(self, i: int) -> Seat:
        return self._workers.seats[i % len(self._workers.seats)]

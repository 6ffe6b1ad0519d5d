"""RayWorkers: objects of the solvers in actors of a Ray cluster, made anew where one is lost.

An actor that dies, with its process or its node, is replaced by one with the same arguments that sees the same updates,
on its node or on another; as answers depend on nothing else, the bits are those of a run in which nothing happened.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from manyclass._core.shards import library_versions
from manyclass._core.typing import Notify
from manyclass._core.worker_groups import Arguments
from manyclass.cluster.watch import ClusterWatch

# Bytes above which arguments are put into the store of objects, once for all actors; smaller ones travel with a call.
_LARGE = 1 << 16

_SMALL = (str, int, float, slice, type(None))

_ATTEMPTS = 20  # at one call, by one worker after another; what kills so many would kill the next

_LOOK = 3.0  # seconds between looks at the nodes, while tasks run

_PAUSE, _LONGEST = 0.05, 2.0  # seconds between attempts, twice as long each time: in all, half a minute for Ray to see
# that a node is gone, until when it may put the next worker there


class ClusterError(OSError):
    """A cluster cannot do what it is asked for; the message says which node, why, and how to go on."""


class Seat(NamedTuple):
    """Where a worker runs, with how many threads."""

    node: str
    address: str
    threads: int


class _Host:
    """What runs in an actor: one object, and the number of its threads."""

    def __init__(self, n_threads: int):
        from manyclass._core.parallel import set_threads

        set_threads(n_threads)

    def versions(self) -> dict[str, str]:
        """What the bits of this machine depend on."""
        return versions()

    def make(self, make: Callable[..., Any], arguments: Arguments, *common: Any) -> None:
        """Make the object. What is common comes last, as references are followed among arguments alone."""
        self._object: Any = make(*common, *arguments)

    def drop(self) -> None:
        """Forget the object, until another is made."""
        self._object = None

    def call(self, method: str, arguments: Arguments, *common: Any) -> tuple[float, Any]:
        """Call a method of the object: the seconds that it took, and its answer."""
        started = time.perf_counter()
        answer = getattr(self._object, method)(*common, *arguments)
        return time.perf_counter() - started, answer


def _run_task(function: Callable[..., Any], arguments: Arguments, *common: Any) -> tuple[str, Any]:
    """What a task runs: the address of its node, and its answer. What is common comes last, as for `_Host.make`."""
    from ray.util import get_node_ip_address

    from manyclass._core.parallel import threads

    with threads(1):
        return str(get_node_ip_address()), function(*common, *arguments)


class RayWorkers:
    """The nodes of a cluster as workers: an actor each, with as many threads as the node has cores.

    Actors ask for no cores of Ray, so that one can take the place of another wherever there is a node left.
    """

    def __init__(self, ray: Any, seats: Sequence[Seat], patience: float, warn: Notify | None = None):
        self.seats, self.watch = list(seats), ClusterWatch(warn)
        self._ray, self._patience = ray, patience
        self._doubtful = -math.inf  # when a worker was lost
        self._idle: list[tuple[Seat, Any]] = []  # actors that are done: to begin one takes some seconds

    def __len__(self) -> int:
        return len(self.seats)

    def start(self, make: Callable[..., Any], common: Arguments, each: Sequence[Arguments]) -> "RayGroup":
        """Make the objects; the i-th on the i-th seat, and around again where they are more."""
        shared = [self.put(argument) for argument in common]
        return RayGroup(self, make, shared, [[*arguments] for arguments in each])

    @property
    def n_cores(self) -> int:
        return sum(seat.threads for seat in self.seats)

    def run(
        self, function: Callable[..., Any], common: Arguments, each: Sequence[Arguments]
    ) -> Iterator[tuple[int, Any]]:
        """Tasks of one core each, wherever one is free; those of a process or node that dies are done again."""
        shared = [self.put(argument) for argument in common]
        task = self._ray.remote(num_cpus=1, max_retries=_ATTEMPTS, scheduling_strategy="SPREAD")(_run_task)
        waiting, running = list(enumerate(each))[::-1], dict[Any, int]()
        self.watch.begin_tasks()
        last = time.monotonic()
        try:
            while waiting or running:
                while waiting and len(running) < self.n_cores:
                    i, arguments = waiting.pop()
                    running[task.remote(function, arguments, *shared)] = i
                done, _ = self._ray.wait(list(running), timeout=min(self._patience, _LOOK))
                last = time.monotonic() if done else last
                self._check_nodes(last)
                for reference in done:
                    address, answer = self._result(reference)
                    self.watch.did(address, answer if isinstance(answer, int) else 1)
                    yield running.pop(reference), answer
        finally:
            for reference in running:
                self._ray.cancel(reference, force=True)

    def _result(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"a task was lost {_ATTEMPTS} times; see what ends its process (memory, for instance): "
                f"{str(error).strip().partition(chr(10))[0]}"
            ) from error

    def activity(self) -> str:
        """What workers do now, in words."""
        return self.watch.words()

    def note_lost(self, seat: Seat) -> None:
        """Tell that a worker is lost, or its node; that a node is gone may be known some seconds later."""
        self._doubtful = time.monotonic()
        if all(seat.node != gone.node for gone in self._gone_seats()):
            self.watch.lost(seat.address, gone=False)

    def look_again(self) -> None:
        """Tell of nodes that are gone, for some time after a worker was lost."""
        if time.monotonic() - self._doubtful < self._patience:
            self._gone_seats()

    def _gone_seats(self) -> list[Seat]:
        """The seats whose nodes are gone, of which is told."""
        alive = {node["NodeID"] for node in self._ray.nodes() if node["Alive"]}
        gone = [seat for seat in self.seats if seat.node not in alive]
        for seat in gone:
            self.watch.lost(seat.address, gone=True)
        return gone

    def _check_nodes(self, since: float) -> None:
        """Tell of nodes that are gone; an error if none is left, nor came within the time that there is for one."""
        self._gone_seats()
        if time.monotonic() - since > self._patience and not any(
            node["Alive"] and node["Resources"].get("CPU", 0) >= 1 for node in self._ray.nodes()
        ):
            raise ClusterError(
                "no node of the cluster is left; start one again, and give the command once more to go on from where "
                "it was"
            )

    def put(self, argument: Any) -> Any:
        """A reference to an argument that all actors get, or itself where it is small."""
        small = isinstance(argument, _SMALL) or getattr(argument, "nbytes", _LARGE) < _LARGE
        return argument if small else self._ray.put(argument)

    def check_versions(self) -> None:
        """Refuse nodes of other versions or instruction sets than this machine, whose bits would differ."""
        hosts = [self.host(seat) for seat in self.seats]
        for seat, host in zip(self.seats, hosts, strict=True):
            name = f"the worker of {seat.address}"
            made = self.persist(name, seat, partial(self._checked, seat, host), partial(self._checked, seat))
            self.release(seat, made)

    def _checked(self, seat: Seat, host: Any = None) -> Any:
        host = self.host(seat) if host is None else host
        self.check_version(host, seat)
        return host

    def persist(self, name: str, seat: Seat, first: Callable[[], Any], again: Callable[[], Any]) -> Any:
        """What `first` returns; where the actor of a seat is lost on the way, what `again` does."""
        attempt, pause = first, _PAUSE
        for _ in range(_ATTEMPTS):
            try:
                return attempt()
            except self._ray.exceptions.RayTaskError as error:
                raise (error.cause if isinstance(error.cause, Exception) else error) from None
            except self._ray.exceptions.RayError as error:  # an actor, its node or its memory is gone
                attempt, reason = again, error
                self.note_lost(seat)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
        raise ClusterError(
            f"{name} was lost {_ATTEMPTS} times at one call; see what ends its process (memory, for instance): "
            f"{str(reason).strip().partition(chr(10))[0]}"
        )

    def check_version(self, host: Any, seat: Seat) -> None:
        """Refuse an actor whose bits would differ; it may be on another node than its seat."""
        there = self.answer(host.versions.remote(), seat)
        for name, version in versions().items():
            if there.get(name) != version:
                raise ClusterError(
                    f"all nodes must have the same {name} for the same bits; that of the worker of {seat.address} has "
                    f"{there.get(name)}, this machine {version}; install the same, or set MANYCLASS_SIMD_LEVEL and "
                    "OPENBLAS_CORETYPE alike on all nodes"
                )

    def host(self, seat: Seat) -> Any:
        """An actor on a seat, or on another node if that is gone: one that is idle, or else a new one."""
        for number, (place, idle) in enumerate(self._idle):
            if place == seat:
                del self._idle[number]
                return idle
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(seat.node, soft=True)
        # Ray tells an actor without cores that it has one thread, and BLAS believes it.
        cores = {name: str(seat.threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        actor = self._ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy=strategy)(_Host)
        return actor.options(runtime_env={"env_vars": cores}).remote(seat.threads)

    def release(self, seat: Seat, host: Any) -> None:
        """Let an actor that is done serve others."""
        host.drop.remote()
        self._idle.append((seat, host))

    def close(self) -> None:
        """End the actors that are idle."""
        for _, host in self._idle:
            self._ray.kill(host)
        self._idle.clear()

    def answer(self, reference: Any, seat: Seat) -> Any:
        """What an actor that was just made says; an error if none could be made in time, or not at all."""
        ready, _ = self._ray.wait([reference], timeout=self._patience)
        if not ready:
            raise ClusterError(
                f"no worker could be started on node {seat.address}, or in its place, within {self._patience:g} s; "
                "start the node again, and give the command once more to go on from where it was"
            )
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayActorError as error:
            if not error.actor_init_failed:  # it was made, and is lost
                raise
            raise ClusterError(
                f"node {seat.address} cannot start a worker; install manyclass there: {str(error).split(chr(10))[-1]}"
            ) from error


def versions() -> dict[str, str]:
    """What the bits of a machine depend on: libraries, and the instruction sets of the compiled loops and of BLAS."""
    from manyclass import _native
    from manyclass._core.parallel import blas_kernels

    level, kernels = str(_native.level()), " ".join(blas_kernels())
    return {**library_versions(["scipy"]), "instruction set": level, "kernels of BLAS": kernels}


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
        self._waits = True  # for answers to a call
        self._hosts = [workers.host(self._seat(i)) for i in range(len(each))]
        made = [host.make.remote(make, arguments, *common) for host, arguments in zip(self._hosts, each, strict=True)]
        for i, reference in enumerate(made):
            self._patiently(i, reference, partial(self._revived, i))
        self._waits = False
        self._names = workers.watch.begin_calls(self._seat(i).address for i in range(len(each)))

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
        return self._ray.get(self._asked(i, call))

    def _asked(self, i: int, call: _Call) -> Any:
        return self._hosts[i].call.remote(call.method, call.each[i], *call.common)

    def _patiently(self, i: int, reference: Any, again: Callable[[], Any]) -> Any:
        """What a reference holds; where its actor is lost, what `again` finds with another one."""
        name = f"worker {i + 1} of {len(self)}"
        return self._workers.persist(name, self._seat(i), partial(self._ray.get, reference), again)

    def _revived(self, i: int) -> None:
        """Put another actor in the place of the i-th, with all that it had seen."""
        self.replaced += 1
        seat = self._seat(i)
        host = self._hosts[i] = self._workers.host(seat)
        self._workers.check_version(host, seat)
        self._ray.get(host.make.remote(self._make, self._each[i], *self._common))
        done, paths = self._saved
        if done and not self._ray.get(host.call.remote("restore", (paths[i],)))[1]:
            done = 0
        for call in self._updates[done:]:
            self._ray.get(self._asked(i, call))

    def _seat(self, i: int) -> Seat:
        return self._workers.seats[i % len(self._workers.seats)]

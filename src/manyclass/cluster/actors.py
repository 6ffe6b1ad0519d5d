"""RayWorkers: the nodes of a Ray cluster as workers, by actors that hold objects, and by tasks."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from manyclass._core.errors import portable_error
from manyclass._core.shards import library_versions
from manyclass._core.typing import Notify
from manyclass._core.worker_groups import Arguments
from manyclass.cluster.nodes import ClusterError, ClusterNodes, Seat
from manyclass.cluster.watch import ClusterWatch

if TYPE_CHECKING:
    from manyclass.cluster.actor_groups import RayGroup

# Bytes above which arguments are put into the store of objects, once for all actors; smaller ones travel with a call.
_LARGE = 1 << 16

_SMALL = (str, int, float, slice, type(None))

_ATTEMPTS = 20  # at one call, by one worker after another; what kills so many would kill the next

_LOOK = 3.0  # seconds between looks at the nodes, while tasks run

_PAUSE, _LONGEST = 0.05, 2.0  # seconds between attempts, twice as long each time: in all, half a minute for Ray to see
# that a node is gone, until when it may put the next worker there


class _Host:
    """What runs in an actor: one object, and the number of its threads."""

    def __init__(self, n_threads: int):
        from manyclass._core.parallel import set_threads

        set_threads(n_threads)

    def versions(self) -> dict[str, str]:
        """What the bits of this machine depend on."""
        return versions()

    def make(self, make: Callable[..., Any], arguments: Arguments, expected: dict[str, str], *common: Any) -> None:
        """Make the object. What is common comes last, as references are followed among arguments alone."""
        with _told_errors():
            check_versions(versions(), expected)
            self._object: Any = make(*common, *arguments)

    def drop(self) -> None:
        """Forget the object, until another is made."""
        self._object = None

    def call(self, method: str, arguments: Arguments, *common: Any) -> tuple[float, Any]:
        """Call a method of the object: the seconds that it took, and its answer."""
        started = time.perf_counter()
        with _told_errors():
            answer = getattr(self._object, method)(*common, *arguments)
        return time.perf_counter() - started, answer


@contextmanager
def _told_errors() -> Iterator[None]:
    """Let errors travel: Ray takes one that cannot be read at the other end for a worker that is lost."""
    try:
        yield
    except Exception as error:
        raise portable_error(error) from None


def _run_task(
    function: Callable[..., Any], arguments: Arguments, expected: dict[str, str], *common: Any
) -> tuple[str, Any]:
    """What a task runs: the address of its node, and its answer. What is common comes last, as for `_Host.make`."""
    from ray.util import get_node_ip_address

    from manyclass._core.parallel import threads

    with threads(1), _told_errors():
        check_versions(versions(), expected)  # Ray gives tasks to nodes that came later, too
        return str(get_node_ip_address()), function(*common, *arguments)


class RayWorkers:
    """The nodes of a cluster as workers: an actor each, with as many threads as the node has cores.

    Actors ask for no cores of Ray, so that one can take the place of another wherever there is a node left.
    """

    def __init__(self, ray: Any, seats: Sequence[Seat], patience: float, warn: Notify | None = None):
        self.seats, self.watch = list(seats), ClusterWatch(warn)
        self._ray, self._patience, self._nodes = ray, patience, ClusterNodes(ray, patience)
        self._doubtful = -math.inf  # when a worker was lost
        self._idle: list[tuple[Seat, Any]] = []  # actors that are done: to begin one takes some seconds

    def __len__(self) -> int:
        return len(self.seats)

    def start(self, make: Callable[..., Any], common: Arguments, each: Sequence[Arguments]) -> "RayGroup":
        """Make the objects; the i-th on the i-th seat, and around again where they are more."""
        from manyclass.cluster.actor_groups import RayGroup

        shared = [self.put(argument) for argument in common]
        return RayGroup(self, make, shared, [[*arguments] for arguments in each])

    def share(self, value: Any) -> Any:
        """A reference, which is followed wherever it is an argument; what it refers to is kept as long as it is."""
        return self.put(value)

    @property
    def n_cores(self) -> int:
        return sum(seat.threads for seat in self.seats)

    def run(
        self, function: Callable[..., Any], common: Arguments, each: Sequence[Arguments]
    ) -> Iterator[tuple[int, Any]]:
        """Tasks of one core each, wherever one is free; those of a process or node that dies are done again."""
        common = [versions(), *(self.put(argument) for argument in common)]
        task = self._ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(_run_task)
        waiting, running, lost = list(range(len(each)))[::-1], dict[Any, int](), Counter[int]()
        self.watch.begin_tasks()
        try:
            while waiting or running:
                while waiting and len(running) < self.n_cores:
                    i = waiting.pop()
                    running[task.remote(function, each[i], *common)] = i
                done, _ = self._ray.wait(list(running), timeout=min(self._patience, _LOOK))
                self._gone_seats()
                self._nodes.check_left()
                for reference in done:
                    i = running.pop(reference)
                    try:
                        address, answer = self.get(reference)
                    except self._ray.exceptions.RayError as error:  # its process, its node or its memory is gone
                        lost[i] += 1
                        self._check_attempts(lost[i], "a task", error)
                        waiting.append(i)
                        time.sleep(_PAUSE)
                    else:
                        self.watch.did(address, answer if isinstance(answer, int) else 1)
                        yield i, answer
        finally:
            for reference in running:
                self._ray.cancel(reference, force=True)

    def get(self, reference: Any) -> Any:
        """What a reference holds; an error of what was called is raised as it is."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, Exception) else error) from None
        except self._ray.exceptions.LocalRayletDiedError as error:
            raise ClusterError(
                "Ray has ended on the node of this command; start it there again, and give the command once more to go "
                "on from where it was"
            ) from error

    @staticmethod
    def _check_attempts(number: int, name: str, reason: Exception) -> None:
        if number >= _ATTEMPTS:
            raise ClusterError(
                f"{name} was lost {number} times at one call; see what ends its process (memory, for instance): "
                f"{str(reason).strip().partition(chr(10))[0]}"
            ) from reason

    def activity(self) -> str:
        """What workers do now, in words."""
        return self.watch.words()

    def note_lost(self, seat: Seat) -> None:
        """Tell that a worker is lost, or its node; that a node is gone may be known some seconds later."""
        self._doubtful = time.monotonic()
        self.watch.lost(seat.address, gone=seat.node in {gone.node for gone in self._gone_seats()})

    def look_again(self) -> None:
        """Tell of nodes that are gone, for some time after a worker was lost."""
        if time.monotonic() - self._doubtful < self._patience:
            self._gone_seats()

    def _gone_seats(self) -> list[Seat]:
        """The seats whose nodes are gone, of which is told."""
        alive = self._nodes.alive()
        gone = [seat for seat in self.seats if seat.node not in alive]
        for seat in gone:
            self.watch.lost(seat.address, gone=True)
        return gone

    def put(self, argument: Any) -> Any:
        """A reference to an argument that all actors get, or itself where it is small."""
        small = isinstance(argument, (*_SMALL, self._ray.ObjectRef)) or getattr(argument, "nbytes", _LARGE) < _LARGE
        try:
            return argument if small else self._ray.put(argument)
        except self._ray.exceptions.RayError as error:
            reason = str(error).strip().partition(chr(10))[0]
            raise ClusterError(f"what all workers need cannot be sent to them: {reason}") from error

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
        attempt, pause, number = first, _PAUSE, 0
        while True:
            try:
                return attempt()
            except self._ray.exceptions.RayError as error:  # an actor, its node or its memory is gone
                number += 1
                self._check_attempts(number, name, error)
                attempt = again
                self.note_lost(seat)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)

    def check_version(self, host: Any, seat: Seat) -> None:
        """Refuse an actor whose bits would differ; it may be on another node than its seat."""
        check_versions(self.answer(host.versions.remote(), seat), versions(), seat.address)

    def host(self, seat: Seat) -> Any:
        """An actor on a seat, or on another node if that is gone: one that is idle, or else a new one."""
        for number, (place, idle) in enumerate(self._idle):
            if place == seat:
                del self._idle[number]
                return idle
        seat = self.seat_for(seat)
        # A soft affinity is not kept where nodes have just come: all actors may be on one. Where the node of a seat is
        # gone before its actor is made, Ray says so, and `persist` asks for another seat.
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(seat.node, soft=False)
        # Ray tells an actor without cores that it has one thread, and BLAS believes it.
        cores = {name: str(seat.threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        actor = self._ray.remote(num_cpus=0, max_restarts=0, scheduling_strategy=strategy)(_Host)
        return actor.options(runtime_env={"env_vars": cores}).remote(seat.threads)

    def seat_for(self, seat: Seat) -> Seat:
        """The seat; or another in its place where its node is gone."""
        if seat not in self.seats:
            return seat
        other = self._nodes.seat_for(seat, [one.node for one in self.seats])
        self.seats[self.seats.index(seat)] = other
        return other

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
            return self.get(reference)
        except self._ray.exceptions.RayActorError as error:
            if not error.actor_init_failed:  # it was made, and is lost
                raise
            raise ClusterError(
                f"node {seat.address} cannot start a worker; install manyclass there: {str(error).split(chr(10))[-1]}"
            ) from error


def check_versions(there: dict[str, str], here: dict[str, str], address: str = "") -> None:
    """Refuse a worker whose bits would differ from those of the machine of the command, which is `here`.

    >>> check_versions({"numpy": "2.0"}, {"numpy": "2.0"})
    """
    for name, version in here.items():
        if there.get(name) != version:
            who = f"the worker of {address}" if address else "a worker"
            raise ClusterError(
                f"all nodes must have the same {name} for the same bits; that of {who} has {there.get(name)}, this "
                f"machine {version}; install the same, or set MANYCLASS_SIMD_LEVEL and OPENBLAS_CORETYPE alike on all "
                "nodes"
            )


def versions() -> dict[str, str]:
    """What the bits of a machine depend on: libraries, and the instruction sets of the compiled loops and of BLAS."""
    from manyclass import _native
    from manyclass._core.parallel import blas_kernels

    level, kernels = str(_native.level()), " ".join(blas_kernels())
    return {**library_versions(["scipy"]), "instruction set": level, "kernels of BLAS": kernels}

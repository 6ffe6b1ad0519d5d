"""Workers: objects that live elsewhere, in other processes or on other machines, and answer calls in their order.

Solvers cut a problem into parts, start an object for each and talk to all of them at once; who runs the objects is none
of their business. `manyclass.cluster.connect` offers workers of a cluster, `LocalWorkers` are objects of this process.
What is answered depends on the parts alone, and so no result depends on who computes.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol

Arguments = Sequence[Any]


class WorkerGroup(Protocol):
    """Objects that were started together, each with a part of the work.

    Every call goes to all of them, and their answers come back in their order. An object that is lost is made anew,
    with the arguments it had, and sees every `update` that it had seen, one after the other, from the last `save` on if
    what was saved can still be read. So an answer must depend on nothing but the arguments and the updates.
    """

    def __len__(self) -> int:
        """How many objects there are."""

    def update(self, method: str, *common: Any, each: Sequence[Arguments] | None = None) -> list[Any]:
        """Call a method that may change the objects: with what is common, and then with what is for each of them."""

    def query(self, method: str, *common: Any, each: Sequence[Arguments] | None = None) -> list[Any]:
        """Call a method that changes nothing which a later answer depends on."""

    def save(self, paths: Sequence[Path]) -> None:
        """Call `save(path)` of each object, and `restore(path)` instead of earlier updates where one is made anew.

        `restore` says whether it could read the file, as a machine may not see what another has written.
        """

    def close(self) -> None:
        """Let go of the objects."""


class Workers(Protocol):
    """Who runs objects elsewhere."""

    def __len__(self) -> int:
        """How many objects run at the same time: as many parts are worth making."""

    @property
    def n_cores(self) -> int:
        """How many tasks run at the same time."""

    def run(
        self, function: Callable[..., Any], common: Arguments, each: Sequence[Arguments]
    ) -> Iterator[tuple[int, Any]]:
        """Call function(*common, *arguments) for the arguments of each, with one core: which it was, and its answer.

        Answers come as they are found; whole numbers are taken for the number of things that a task has done. A task
        whose worker is lost is done again by another.
        """

    def activity(self) -> str:
        """What each of them does now, in a few words; nothing where there is nothing to tell."""

    def share(self, value: Any) -> Any:
        """What stands for a value among what is common to several groups, so that it travels once for all of them."""

    def start(self, make: Callable[..., Any], common: Arguments, each: Sequence[Arguments]) -> WorkerGroup:
        """Make the objects make(*common, *arguments), one for the arguments of each."""


_current: ContextVar[Workers | None] = ContextVar("manyclass_workers", default=None)


def current_workers() -> Workers | None:
    """The workers that solvers of this thread are to use; None to compute here."""
    return _current.get()


@contextmanager
def using_workers(workers: Workers | None) -> Iterator[None]:
    """Let solvers use these workers inside a `with` block.

    >>> with using_workers(LocalWorkers(2)):
    ...     len(current_workers())
    2
    """
    before = _current.get()
    _current.set(workers)
    try:
        yield
    finally:
        _current.set(before)


def activity_words() -> str:
    """What the workers of this thread do now, in a few words; nothing without workers."""
    workers = current_workers()
    return "" if workers is None else workers.activity()


def say_computed_here(what: str, reason: str) -> None:
    """Warn, where there are workers, that something is computed by this process alone."""
    if current_workers() is not None:
        warnings.warn(f"{what} is computed by this process alone, without workers: {reason}", UserWarning, stacklevel=2)


class LocalWorkers:
    """Objects of this very process, one after the other: the plain way, which all others must equal.

    >>> group = LocalWorkers(2).start(dict, [], [[{"a": 1}], [{"a": 2}]])
    >>> group.query("get", "a")
    [1, 2]
    """

    def __init__(self, count: int):
        self._count = count

    def __len__(self) -> int:
        return self._count

    @property
    def n_cores(self) -> int:
        return self._count

    def run(
        self, function: Callable[..., Any], common: Arguments, each: Sequence[Arguments]
    ) -> Iterator[tuple[int, Any]]:
        """Call the function for each."""
        for i, arguments in enumerate(each):
            with using_workers(None):
                answer = function(*common, *arguments)
            yield i, answer

    def activity(self) -> str:
        """Nothing: there is one process."""
        return ""

    def share(self, value: Any) -> Any:
        """The value itself, which is here."""
        return value

    def start(self, make: Callable[..., Any], common: Arguments, each: Sequence[Arguments]) -> "LocalGroup":
        """Make the objects."""
        with using_workers(None):  # an object computes by itself
            return LocalGroup([make(*common, *arguments) for arguments in each])


class LocalGroup:
    """Objects of this process; nothing is ever lost."""

    def __init__(self, objects: Sequence[Any]):
        self._objects = list(objects)

    def __len__(self) -> int:
        return len(self._objects)

    def update(self, method: str, *common: Any, each: Sequence[Arguments] | None = None) -> list[Any]:
        """Call a method of all."""
        given = [()] * len(self) if each is None else each
        with using_workers(None):
            pairs = zip(self._objects, given, strict=True)
            return [getattr(one, method)(*common, *arguments) for one, arguments in pairs]

    query = update

    def save(self, paths: Sequence[Path]) -> None:
        """Call `save` of all."""
        self.update("save", each=[(path,) for path in paths])

    def close(self) -> None:
        """Forget them."""
        self._objects.clear()

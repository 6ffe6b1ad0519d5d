"""ClusterWatch: what every node does, in words beside the progress of a fit; and which are lost, told once each."""

import time
import warnings
from collections.abc import Callable, Iterable

from manyclass._core.typing import Notify

_MOST_NAMED = 4  # workers in a line; of more the range is told, and who is at the slow end


class ClusterWatch:
    """Tells of losses by `tell`, as warnings of Python by default; and keeps how much each worker has done.

    >>> watch = ClusterWatch(print)
    >>> watch.lost("10.0.0.2", gone=True)
    node 10.0.0.2 is lost: others do its part, from what is safe on, and the result stays the same
    >>> watch.lost("10.0.0.2", gone=True)
    """

    def __init__(self, tell: Notify | None = None, clock: Callable[[], float] = time.monotonic):
        self._tell, self._clock = tell, clock
        self._told: set[tuple[str, bool]] = set()
        self._begin({}, False)

    def lost(self, address: str, gone: bool) -> None:
        """A worker of a node is lost, or the node with all of them."""
        if (address, gone) in self._told:
            return
        self._told.add((address, gone))
        if gone:
            words = f"node {address} is lost: others do its part, from what is safe on, and the result stays the same"
        else:
            words = f"a worker of node {address} is lost: another takes its place, and the result stays the same"
        if self._tell is None:
            warnings.warn(words, UserWarning, stacklevel=2)
        else:
            self._tell(words)

    def begin_calls(self, addresses: Iterable[str]) -> list[str]:
        """Workers at these addresses begin to answer calls; what to name them by."""
        given = list(addresses)
        names = given if len(set(given)) == len(given) else [f"worker {i}" for i in range(1, len(given) + 1)]
        self._begin(dict.fromkeys(names, 0.0), True)
        return names

    def begin_tasks(self) -> None:
        """Tasks begin, by whatever nodes."""
        self._begin({}, False)

    def did(self, name: str, amount: float) -> None:
        """A worker has answered a call, after so many seconds of work; or a node has done so many things."""
        self._done[name] = self._done.get(name, 0.0) + amount

    def words(self) -> str:
        """How busy workers are, or how many things a second each node does; nothing where there are not two."""
        seconds = self._clock() - self._since
        if len(self._done) < 2 or seconds <= 0 or not any(self._done.values()):
            return ""
        rates = {name: done / seconds for name, done in self._done.items()}
        if len(rates) <= _MOST_NAMED:
            return ", ".join(f"{name} {self._rate(rate)}" for name, rate in rates.items())
        least, most = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
        slow = f"most {most}" if self._is_busy else f"least {least}"  # who works all the time, others wait for
        return f"{len(rates)} workers {self._rate(rates[least])} to {self._rate(rates[most])}, {slow}"

    def _begin(self, done: dict[str, float], is_busy: bool) -> None:
        self._done, self._is_busy, self._since = done, is_busy, self._clock()

    def _rate(self, rate: float) -> str:
        return f"{100 * min(1.0, rate):.0f} % busy" if self._is_busy else f"{rate:,.{0 if rate >= 10 else 1}f}/s"

"""Everything that happens to a command: (kind, what, what was wrong or "") of one trial after the other."""

import errno
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tests.battery.damage import judge_damaged, judge_swapped, readings, some_others
from tests.battery.shim import Action, Call, Fault
from tests.battery.trials import Trials

Outcome = tuple[str, str, str]

Chosen = Callable[[Trials], Iterator[tuple[str, Fault]]]

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
OPENS = Call.OPEN | Call.CREATE


def faults(trials: Trials) -> Iterator[tuple[str, Fault]]:
    """Every fault at every call: (kind, fault)."""
    for i, call in enumerate(trials.calls, 1):
        yield "kill", Fault(Action.KILL_HALF if call is Call.WRITE else Action.KILL, i)
        yield "error once", Fault(Action.FAIL, i, error=ERRORS[i % 3])
        if i % 3 == 0:
            yield "errors from then on", Fault(Action.FAIL, i, error=ERRORS[i // 3 % 3], lasting=True)
    for i in range(1, 1 + sum(call in OPENS for call in trials.every_call)):
        yield "failing open", Fault(Action.FAIL, i, OPENS, error=(errno.EMFILE, errno.EIO)[i % 2])
    yield "short writes", Fault(Action.SHORT, 1, Call.WRITE, lasting=True)


def few_faults(trials: Trials) -> Iterator[tuple[str, Fault]]:
    """Those around the commit, where most goes wrong, and one in the middle."""
    n = len(trials.calls)
    commit = max((i for i, call in enumerate(trials.calls, 1) if call is Call.RENAME), default=n)
    yield "kill", Fault(Action.KILL, commit)
    yield "kill", Fault(Action.KILL, min(commit + 1, n))
    yield "error once", Fault(Action.FAIL, min(commit + 1, n), error=errno.EIO)
    yield "errors from then on", Fault(Action.FAIL, 1 + n // 2, error=errno.ENOSPC, lasting=True)


def interruptions(trials: Trials, chosen: Chosen = faults) -> Iterator[Outcome]:
    """Faults of the disk, and kills by them."""
    for kind, fault in chosen(trials):
        yield kind, str(fault), trials.trial(fault)


def random_kills(trials: Trials, n: int) -> Iterator[Outcome]:
    """Kills at random moments."""
    for moment in np.random.default_rng(0).uniform(0, 1.1, n):
        yield "kill at random", f"after {moment:.0%} of the time", trials.random_kill(moment)


def watching(trials: Trials, step: int = 1) -> Iterator[Outcome]:
    """A reader while the command writes."""
    if trials.command.before and trials.command.reads and not trials.command.cut:
        for when in range(1, len(trials.calls) + 1, step):
            yield "reader meanwhile", f"at call {when}", trials.watched(when)


def races(trials: Trials, step: int = 1) -> Iterator[Outcome]:
    """Two writers, one of which waits in the middle of its work until the other is done or refused."""
    if trials.has_rival:
        for when in range(1, trials.rival[2] + 1, step):
            yield "two writers", f"at call {when}", trials.race(when)


def damages(trials: Trials, often: Mapping[str, int]) -> Iterator[Outcome]:
    """Damage of each kind so often, to every file for every reader."""
    rng = np.random.default_rng(0)
    for file, words in readings(trials):
        for kind, times in often.items():
            for _ in range(times):
                yield kind, f"{file} read by {words}", judge_damaged(trials, kind, file, words, rng)


def swaps(trials: Trials, times: int = 6) -> Iterator[Outcome]:
    """Files of other outputs, and of the same one, in the place of every file, so often for every reader."""
    rng = np.random.default_rng(0)
    for file, words in readings(trials):
        for source, other, data in some_others(trials, file, times, rng):
            what = f"{other} of {source} in the place of {file} read by {words}"
            yield "swap", what, judge_swapped(trials, file, data, words, other if source == "itself" else None)


def as_plain_user(trials: Trials, user: int = 65534) -> Iterator[Outcome]:
    """Somebody who may read and not write."""
    for words in trials.command.reads:
        right = trials.reading("new", words)
        if not right[2]:  # one that writes nothing
            trials.finish()
            found = trials.read(words, user=user)[1]
            yield "plain user", words, "" if found == right else f"finds {found}"
    yield "plain user", trials.command.words, trials.refused(user)

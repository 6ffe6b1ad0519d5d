"""Everything that can happen against every command that writes, with a table of how often it went well."""

from collections import Counter, defaultdict
from itertools import chain

import pytest

from tests.battery import attacks
from tests.battery.commands import COMMANDS
from tests.battery.disks import full_disks

FLIPS = 5000


def everything(trials):
    """All trials of a command."""
    yield from attacks.interruptions(trials)
    yield from attacks.random_kills(trials, 5)
    yield from attacks.watching(trials)
    yield from attacks.races(trials, 4)
    yield from full_disks(trials, 3)
    yield from attacks.swaps(trials)
    yield from attacks.as_plain_user(trials)
    files = max(1, len(list(attacks.readings(trials))))
    flips = -(-FLIPS // sum(1 for command in COMMANDS.values() if command.reads) // files)
    yield from attacks.damages(trials, {"flip": flips, "cut": 2, "zeros": 2, "link": 1, "device": 1, "pipe": 1})


@pytest.mark.slow
def test_whatever_happens_nothing_is_lost_and_nothing_is_let_in(battery, capfd):
    counts, wrong = defaultdict(Counter), []

    def attack(trials):
        for kind, what, words in everything(trials):
            counts[trials.name][kind, not words] += 1
            if words:
                wrong.append(f"{trials.name}: {kind}, {what}: {words}")

    battery.attack(COMMANDS, attack)
    with capfd.disabled():
        print("", *table(counts), *wrong, sep="\n")
    assert wrong == []


def table(counts):
    """Lines of how many trials of each kind went well, for every command and for all."""
    kinds = list(dict.fromkeys(kind for kind, _ in chain.from_iterable(counts.values())))
    counts["all"] = sum(counts.values(), Counter())
    for name, count in counts.items():
        yield f"{name}:"
        for kind in kinds:
            good, bad = count[kind, True], count[kind, False]
            if good or bad:
                yield f"    {kind:20} {good:5} of {good + bad}"

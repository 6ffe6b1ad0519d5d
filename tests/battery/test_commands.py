"""A little of everything against a few commands; `test_whole.py` has all of it against all of them."""

from tests.battery import attacks
from tests.battery.commands import COMMANDS

# One of every way to write.
FEW = (
    "features --overwrite", "compress --overwrite", "train --overwrite", "encode --evaluate --overwrite",
    "encode --add by numbers", "predict again", "join --overwrite", "join of galleries",
)  # fmt: skip


def wrong(battery, attack, names=FEW):
    """All that was wrong, by command, of all that was tried; which must be something."""
    found = battery.attack(names, lambda trials: list(attack(trials)))
    assert sum(map(len, found.values()))
    return [f"{name}: {kind}, {what}: {words}" for name, ends in found.items() for kind, what, words in ends if words]


def test_after_faults_around_the_commit_the_old_or_the_new_is_there_and_the_command_again_ends_well(battery):
    assert wrong(battery, lambda trials: attacks.interruptions(trials, attacks.few_faults)) == []


def test_after_a_kill_at_a_random_moment_it_ends_well(battery):
    assert wrong(battery, lambda trials: attacks.random_kills(trials, 1)) == []


def test_a_reader_finds_the_old_or_the_new_while_a_command_writes(battery):
    assert wrong(battery, lambda trials: attacks.watching(trials, 1 + len(trials.calls) // 2)) == []


def test_of_two_writers_one_wins_and_the_other_is_told(battery):
    assert wrong(battery, lambda trials: attacks.races(trials, 1 + len(trials.calls) // 2), ("train", *FEW[:4])) == []


def test_damaged_files_are_refused_or_do_not_matter(battery):
    few = ("features --overwrite", "train", "encode --evaluate --overwrite")
    assert wrong(battery, lambda trials: attacks.damages(trials, {"flip": 1, "pipe": 1}), few) == []


def test_files_of_other_outputs_and_files_in_the_place_of_others_are_refused_or_do_not_matter(battery):
    assert wrong(battery, lambda trials: attacks.swaps(trials, 1), ("compress --overwrite", "train")) == []


def test_who_may_not_write_is_told_and_who_may_read_can(battery):
    few = ("train --overwrite", "compress --overwrite", "encode --add by numbers")
    assert wrong(battery, attacks.as_plain_user, few) == []


def test_every_command_that_writes_has_its_place_in_the_battery():
    from manyclass.cli._app import app

    # What reads alone, what gives the other commands, and what goes on until it is ended (tests/server).
    others = {"info", "verify", "demo", "learn", "serve"}
    names = {command.callback.__name__ for command in app.registered_commands}
    assert names - others == {command.words.split()[0] for command in COMMANDS.values()}

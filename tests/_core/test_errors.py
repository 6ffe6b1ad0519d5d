"""Errors of files say the file, what is wrong with it, and what to do."""

import errno
import pickle
from pathlib import Path

import pytest

from manyclass._core.errors import (
    Damage,
    FileRefusedError,
    StorageError,
    StoreCorruptedError,
    is_of_machine,
    portable_error,
    unreadable_error,
)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (Damage("X.npy", 3, "has changed"), "X.npy block 3 has changed"),
        (Damage("y.npy", None, "is gone"), "y.npy is gone"),
    ],
)
def test_damage_names_its_block_if_it_is_in_one(damage, words):
    assert str(damage) == words
    error = StoreCorruptedError(Path("a.store"), damage)
    assert str(error) == f"a.store is damaged: {words}; restore that file from a copy or write it again"
    assert error.damage is damage
    assert isinstance(error, StorageError)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), "permission denied; change its permissions"),
        (OSError(errno.EIO, "Input/output error"), "input/output error"),
        (OSError(errno.EMFILE, "Too many open files"), "too many open files; raise the limit with ulimit -n"),
        (OSError("Odd"), "odd"),
    ],
)
def test_a_file_that_the_system_refuses_is_told_with_what_helps(error, words):
    assert str(unreadable_error("x", error)) == f"x cannot be read: {words}"


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO, errno.ENOENT])
@pytest.mark.parametrize("hidden", [False, True])
def test_trouble_of_the_machine_is_known_through_what_was_made_of_it(number, hidden):
    def fail():
        try:
            raise OSError(number, "No")
        except OSError as error:
            raise ValueError("x cannot be used") from (None if hidden else error)

    with pytest.raises(ValueError, match="cannot be used") as raised:
        fail()
    assert is_of_machine(raised.value) == (number != errno.ENOENT)
    assert not is_of_machine(ValueError("x cannot be used"))


@pytest.mark.parametrize(
    "error",
    [
        StorageError("gone"),
        FileRefusedError(Path("a.npy"), "is no regular file"),
        StoreCorruptedError(Path("a.store"), Damage("X.npy", 3, "has changed")),
    ],
)
def test_errors_go_from_one_process_to_another(error):
    there = pickle.loads(pickle.dumps(error))
    assert (type(there), str(there), vars(there)) == (type(error), str(error), vars(error))
    assert portable_error(error) is error


def test_an_error_that_cannot_travel_is_one_that_says_the_same():
    class LocalError(Exception):
        pass

    there = portable_error(LocalError("three"))
    assert (type(there), str(there)) == (RuntimeError, "LocalError: three")

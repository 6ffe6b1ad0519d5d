"""The shim does what it is told, to real processes."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.battery.shim import CHANGES, Action, Call, Fault, Shim, compiled

ROOT = Path(__file__).parents[2]

WRITES = """
import os, sys
os.mkdir("made")
file = os.open("made/a", os.O_WRONLY | os.O_CREAT)
for _ in range(3):
    print(os.write(file, b"x" * 10), flush=True)
os.fsync(file)
os.close(file)
os.rename("made/a", "made/b")
os.unlink("made/b")
"""
IN_ORDER = [Call.MKDIR, Call.CREATE, *[Call.WRITE] * 3, Call.SYNC, Call.RENAME, Call.UNLINK]


@pytest.fixture
def run(tmp_path):
    """run(fault) is how a process ended that writes in a folder, what it said, and the calls that were counted."""
    shim = Shim(tmp_path)

    def call(fault, below="."):
        shim.arm(tmp_path / below, fault)
        command = [sys.executable, "-c", WRITES]
        process = subprocess.run(command, cwd=tmp_path, env=shim.env, capture_output=True, text=True, check=False)
        return process, shim.disarm()

    return call


def test_it_counts_the_calls_below_a_folder(run):
    process, calls = run(Fault())
    assert (process.returncode, process.stderr, calls) == (0, "", IN_ORDER)


def test_it_leaves_other_folders_alone(run):
    process, calls = run(Fault(Action.KILL), below="elsewhere")
    assert (process.returncode, calls) == (0, [])


def test_it_kills_before_a_call(run, tmp_path):
    process, calls = run(Fault(Action.KILL, 7))
    assert (process.returncode, calls) == (-signal.SIGKILL, IN_ORDER[:7])
    assert os.listdir(tmp_path / "made") == ["a"]


def test_it_kills_after_half_of_a_write(run, tmp_path):
    process, _ = run(Fault(Action.KILL_HALF, 4))
    assert process.returncode == -signal.SIGKILL
    assert (tmp_path / "made" / "a").read_bytes() == b"x" * 15


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EMFILE])
def test_it_lets_a_call_fail(run, error):
    process, _ = run(Fault(Action.FAIL, 2, error=error))
    assert process.returncode == 1
    assert os.strerror(error) in process.stderr


def test_it_lets_one_call_fail_or_all_from_then_on(run):
    once, _ = run(Fault(Action.FAIL, 3, Call.WRITE | Call.CREATE, errno.EIO))
    assert once.stdout == "10\n"


def test_it_makes_writes_short(run):
    process, _ = run(Fault(Action.SHORT, 2, Call.WRITE))
    assert process.stdout.split() == ["10", "5", "10"]
    process, _ = run(Fault(Action.SHORT, 2, CHANGES & ~Call.MKDIR, lasting=True))
    assert process.stdout.split() == ["5", "5", "5"] or process.returncode == 1


def test_the_library_goes_with_the_process(tmp_path):
    compiled()  # or there is none to make
    code = "from tests.battery.shim import compiled; assert compiled().is_file()"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, cwd=ROOT)
    assert os.listdir(tmp_path) == []

"""Small disks: a file system in memory with room for so many bytes or files."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.battery.attacks import Outcome
from tests.battery.trials import Trials

_PAGE = 4096
_PLENTY = {"size": 1 << 28, "nr_inodes": 1 << 16}  # what had no limit can get none later


@contextlib.contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A disk with plenty of room in the place of a folder."""
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("a file system can be mounted by root only")
    options = ",".join(f"{what}={most}" for what, most in _PLENTY.items())
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    mount = subprocess.run(command, capture_output=True, text=True, check=False)
    if mount.returncode:
        pytest.skip(f"no file system can be mounted here: {mount.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def limit(folder: Path, what: str, most: int) -> None:
    """Let the disk have room for so much and no more."""
    subprocess.run(["mount", "-o", f"remount,{what}={most}", folder], check=True)


def full_disks(trials: Trials, step: int = 1) -> Iterator[Outcome]:
    """Disks with room for less than the command needs, by a page or a file more each time until there is enough."""
    trials.learn()
    trials.empty()
    with mounted(trials.folder):
        for kind, what, unit in (("full disk", "size", _PAGE), ("no inodes", "nr_inodes", 1)):
            for more in range(1, 1000, step):
                limit(trials.folder, what, _PLENTY[what])
                trials.reset()
                limit(trials.folder, what, _used(trials.folder, what) + unit * more)
                ended = trials.give(trials.command.words)
                wrong = trials.judge(ended, mend=lambda what=what: limit(trials.folder, what, _PLENTY[what]))
                yield kind, f"{more} more", wrong
                if ended.code == 0:
                    break


def _used(folder: Path, what: str) -> int:
    disk = os.statvfs(folder)
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize if what == "size" else disk.f_files - disk.f_ffree

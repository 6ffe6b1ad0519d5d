"""The Pythons of this machine, and which of them make and take which wheel."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

OLDEST = (3, 11)  # requires-python
STABLE = (3, 12)  # wheel.py-api: from here on one wheel is for all
_ASKED = """
import sys, sysconfig
print(sys.implementation.name, sys.version_info[:2], sysconfig.get_config_var("Py_GIL_DISABLED"))
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python that runs, and its version (3, minor)."""

    path: Path
    version: tuple[int, int]

    def takes(self, wheel: Path) -> bool:
        """Whether the tags of a wheel are for this Python; `runs_here` says whether they are for this machine."""
        python, abi = wheel.stem.split("-")[2:4]
        least = int(python.removeprefix("cp3"))
        return self.version[1] >= least if abi == "abi3" else self.version[1] == least


def runs_here(wheel: Path, system: str = sys.platform, machine: str = platform.machine()) -> bool:
    """Whether the tags of a wheel are for this machine.

    >>> runs_here(Path("manyclass-0.2.0-cp312-abi3-manylinux_2_28_x86_64.whl"), "linux", "aarch64")
    False
    """
    tags = wheel.stem.split("-")[4]
    kinds = {"linux": ("linux_", "manylinux"), "darwin": ("macosx_",)}
    return tags.startswith(kinds.get(system, ())) and tags.endswith((f"_{machine}", "_universal2"))


def find_interpreters() -> list[Interpreter]:
    """Every CPython from 3.11 on that is on the path or that pyenv has, one of each version, oldest first."""
    names = [f"python3.{minor}" for minor in range(OLDEST[1], 20)]
    paths = [shutil.which(name) for name in [*names, "python3"]]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    return as_interpreters([*(path for path in paths if path), *sorted(pyenv.glob("3.*/bin/python3"))])


def as_interpreters(paths: Iterable[str | Path]) -> list[Interpreter]:
    """Those that run and are not too old; of one version the first."""
    found: dict[tuple[int, int], Interpreter] = {}
    for path in paths:
        # A shim of pyenv is there and fails, where its version is not chosen.
        done = subprocess.run([path, "-c", _ASKED], capture_output=True, text=True)
        said = re.match(r"cpython \((\d+), (\d+)\) (0|None)", done.stdout)
        if said and (version := (int(said[1]), int(said[2]))) >= OLDEST:
            found.setdefault(version, Interpreter(Path(path), version))
    return [found[version] for version in sorted(found)]


def makers(found: list[Interpreter]) -> list[Interpreter]:
    """Of those found, the ones that wheels are built with: each before 3.12, and the oldest of the rest.

    >>> makers([Interpreter(Path(f"python3.{minor}"), (3, minor)) for minor in (11, 12, 13)])[-1].version
    (3, 12)
    """
    stable = [one for one in found if one.version >= STABLE]
    return [one for one in found if one.version < STABLE] + stable[:1]

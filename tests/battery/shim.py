"""The shim: `faults.c`, compiled by the C compiler of the system, and what it is told to do."""

import atexit
import ctypes
import errno
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("faults.c")


class Call(IntFlag):
    """Kinds of calls."""

    WRITE = 1
    SYNC = 2
    RENAME = 4
    UNLINK = 8
    CREATE = 16
    TRUNCATE = 32
    MKDIR = 64
    LINK = 128
    OPEN = 256  # of what is there, to read it too
    CLOSE = 512  # of a file that was written


# What changes the disk: a kill between two of these is a kill at the second.
CHANGES = Call.WRITE | Call.SYNC | Call.RENAME | Call.UNLINK | Call.CREATE | Call.TRUNCATE | Call.MKDIR | Call.LINK


class Action(IntEnum):
    """What happens at a call."""

    COUNT = 0
    KILL = 1
    KILL_HALF = 2  # after half of a write
    FAIL = 3
    SHORT = 4  # a write takes half of what it is given
    STOP = 5  # until SIGCONT


@dataclass(frozen=True)
class Fault:
    """Something that happens at the when-th call of some kinds, and if it lasts, at all later ones."""

    action: Action = Action.COUNT
    when: int = 1
    kinds: Call = CHANGES
    error: int = 0
    lasting: bool = False

    def __str__(self) -> str:
        words = errno.errorcode[self.error] if self.error else self.action.name.lower().replace("_", " ")
        return f"{words}{' from then on' if self.lasting else ''} at call {self.when}"


_LOGGED = 1 << 16


class _State(ctypes.Structure):
    """As in faults.c."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("kinds", "action", "when", "lasting")),
        *((name, ctypes.c_int32) for name in ("error", "unsynced", "count", "hits")),
        ("folder", ctypes.c_char * 4096),
        ("kind", ctypes.c_uint16 * _LOGGED),
    )


class Shim:
    """A file of wishes that processes with the environment `env` follow, and what they did."""

    def __init__(self, folder: Path, unsynced: bool = True):
        self.path = folder / "faults.state"
        self.path.write_bytes(bytes(ctypes.sizeof(_State)))
        self.path.chmod(0o666)
        with self.path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        self._state = _State.from_buffer(self._map)
        self._state.unsynced = unsynced

    @property
    def env(self) -> Mapping[str, str]:
        """The environment of a process that has the shim."""
        return {**os.environ, "LD_PRELOAD": str(compiled()), "FAULTS": str(self.path)}

    def arm(self, folder: os.PathLike[str], fault: Fault) -> None:
        """From now on count calls below a folder, and let the fault happen."""
        state = self._state
        state.kinds = state.count = state.hits = 0
        state.folder = os.fsencode(os.path.realpath(folder))
        for name in ("action", "when", "lasting", "error"):
            setattr(state, name, int(getattr(fault, name)))
        state.kinds = int(fault.kinds)

    def disarm(self) -> list[Call]:
        """No faults any more; the kinds of the calls that were counted."""
        self._state.kinds = 0
        return [Call(kind) for kind in self._state.kind[: min(self._state.count, _LOGGED)]]

    @property
    def hits(self) -> int:
        """How often it happened."""
        return int(self._state.hits)


def _remove(folder: Path, maker: int) -> None:
    if os.getpid() == maker:  # and not a child that was forked
        shutil.rmtree(folder, ignore_errors=True)


@cache
def compiled() -> Path:
    """The library; a test that needs it is skipped where it cannot be made or would not be loaded."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("faults of the disk need a C compiler, cc, and Linux")
    library = Path(tempfile.mkdtemp(prefix="faults-")) / "faults.so"
    atexit.register(_remove, library.parent, os.getpid())
    library.parent.chmod(0o755)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    return library

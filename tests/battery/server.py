"""Commands in processes of their own that start at once: forked from a process that has imported everything.

`python -m tests.battery.server` reads lines of JSON and answers each with one. {"start": {...}} begins a process and
gives its number; {"wait": number} waits until it ends or is stopped.
"""

import contextlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.battery.shim import Fault, Shim

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """How a command ended, or minus the signal that ended it, and what it said."""

    code: int
    out: str
    err: str

    @property
    def hung(self) -> bool:
        """Whether it was still at it when its time was up."""
        return self.code == -signal.SIGALRM


STOPPED = Ended(-signal.SIGSTOP, "", "")


class Server:
    """Runs commands below a folder, in a process that has the shim."""

    def __init__(self) -> None:
        # Not that of pytest, which others may not enter.
        self.home = Path(tempfile.mkdtemp(prefix="battery-"))
        self.home.chmod(0o755)
        self.shim = Shim(self.home)
        # One thread, so that the calls come in the same order every time, and that there is none at a fork.
        alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "COLUMNS": "100"}
        env = {**self.shim.env, **alone, "PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(self.home)}
        command = [sys.executable, "-B", "-m", "tests.battery.server"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def close(self) -> None:
        """End it, and remove the folder."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        shutil.rmtree(self.home)

    def start(self, words: Sequence[Any], folder: Path, *, seconds: int = 60, user: int | None = None) -> int:
        """Begin `manyclass words` in a folder, as another user if wanted; the number of its process."""
        plain = [str(word) for word in words]
        return int(self._ask("start", {"words": plain, "folder": str(folder), "seconds": seconds, "user": user}))

    def wait(self, process: int) -> Ended:
        """How it ended, or STOPPED."""
        return Ended(*self._ask("wait", process))

    def run(self, words: Sequence[Any], folder: Path, fault: Fault | None = None, **more: Any) -> Ended:
        """Both; `fault` happens to it and to nobody after it."""
        if fault is not None:
            self.shim.arm(folder, fault)
        ended = self.wait(self.start(words, folder, **more))
        if fault is not None:
            self.shim.disarm()
        return ended

    def _ask(self, what: str, value: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({what: value}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


_STREAMS = ("out", "err", "modules")


def _begin(words: list[str], folder: str, seconds: int, user: int | None, files: list[int]) -> None:
    """In the new process: run the command, and never return."""
    os.setpgid(0, 0)
    for stream, file in enumerate(files[:2], 1):
        os.dup2(file, stream)
    os.chdir(folder)
    if user is not None:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    signal.alarm(seconds)  # one that hangs is found, and so is one that takes all memory
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    from manyclass.cli.main import main
    from manyclass.solvers.sgd import checkpoint

    # A checkpoint after every epoch, so that there are many moments to be hit at.
    checkpoint._SECONDS = checkpoint._TIMES = 0.0
    known, sys.argv, code = set(sys.modules), ["manyclass", *words], 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os.write(files[2], json.dumps([name for name in sys.modules if name not in known]).encode())
        os._exit(code)


def _content(file: int) -> str:
    size = os.fstat(file).st_size
    text = os.pread(file, size, 0).decode(errors="replace") if size else ""
    os.close(file)
    return text


def _serve() -> None:
    running: dict[int, list[int]] = {}

    def start(words: list[str], folder: str, seconds: int, user: int | None) -> int:
        files = [os.memfd_create(name) for name in _STREAMS]
        process = os.fork()
        if process == 0:
            _begin(words, folder, seconds, user, files)
        running[process] = files
        return process

    def wait(process: int) -> list[Any]:
        _, status = os.waitpid(process, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            return [-signal.SIGSTOP, "", ""]
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)  # workers of a command that was killed
        out, err, modules = map(_content, running.pop(process))
        # What a command imports at first use is so imported once.
        for name in json.loads(modules or "[]"):
            try:
                importlib.import_module(name)
            except Exception:
                continue
        return [os.waitstatus_to_exitcode(status), out, err]

    answers = {"start": lambda value: start(**value), "wait": wait}
    import manyclass.cli._app  # noqa: F401

    for line in sys.stdin:
        ((what, value),) = json.loads(line).items()
        print(json.dumps(answers[what](value)), flush=True)


if __name__ == "__main__":
    _serve()

"""Trials of a command: something happens to it, then what is there is judged, and it is given again."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.battery.commands import COMMANDS, make_world
from tests.battery.server import STOPPED, Ended, Server
from tests.battery.shim import CHANGES, Action, Call, Fault
from tests.battery.snapshots import Snapshot, comparable, difference, holds, plain, snapshot

_SECONDS_TO_READ = 10  # a reader that takes longer hangs


def wrong_words(ended: Ended) -> str:
    """What is wrong with how a command failed: it must say a sentence, and no more; "" if nothing is."""
    lines = ended.err.strip().splitlines()
    if ended.code == 1 and '"good": false' in ended.out:
        return ""  # of verify, which found what it looks for
    if ended.hung:
        return "it hangs"
    if ended.code < 0:
        return f"it died by signal {-ended.code}"
    if "Traceback" in ended.err or not lines or not all(line.startswith("manyclass: ") for line in lines):
        return f"no sentence: {ended.err[-300:]!r}"
    return "it takes all memory" if "not enough memory" in ended.err else ""


class Trials:
    """A command in a folder of its own, where something happens to it again and again."""

    def __init__(self, server: Server, name: str):
        self.server, self.name, self.command = server, name, COMMANDS[name]
        home = server.home / name.replace(" ", "_")
        self._start, self.folder = home / "start", home / "trial"
        self._prepare(_world(server))
        self.old = snapshot(self._start)
        begun = time.monotonic()
        self.every_call = self._undisturbed()
        self.seconds = time.monotonic() - begun
        self.calls = [call for call in self.every_call if call in CHANGES]
        self.content = snapshot(self.folder)
        self.new = comparable(self.content)
        self._readings: dict[tuple[str, str], Any] = {}

    def _prepare(self, world: Path) -> None:
        self._start.mkdir(parents=True)
        for name in self.command.inputs:
            _copy(world / name, self._start / name)
        # In the folder of the trials, since paths may stand in what is written.
        self.reset()
        for i, words in enumerate(self.command.before, 1):
            cut = self.command.cut if i == len(self.command.before) else 0
            ended = self.give(words, Fault(Action.KILL, cut, Call.RENAME) if cut else None)
            assert ended.code == (-signal.SIGKILL if cut else 0), (words, ended)
        shutil.rmtree(self._start)
        self.folder.rename(self._start)

    def _undisturbed(self) -> list[Call]:
        self.reset()
        self.server.shim.arm(self.folder, Fault(kinds=CHANGES | Call.OPEN))
        ended = self.give(self.command.words)
        calls = self.server.shim.disarm()
        assert ended.code == 0, (self.command.words, ended)
        return calls

    def reset(self) -> None:
        """Make the folder what it was before the command."""
        self.empty()
        _copy(self._start, self.folder)

    def empty(self) -> None:
        """Remove what is in the folder, which may be a disk of its own."""
        self.folder.mkdir(exist_ok=True)
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def finish(self) -> None:
        """Make the folder what it is after the command."""
        self.empty()
        for name, content in self.content.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(exist_ok=True) if content is None else path.write_bytes(content)

    def give(self, words: str, fault: Fault | None = None, **more: Any) -> Ended:
        """Give a command in the folder."""
        return self.server.run(words.split(), self.folder, fault, **more)

    @cached_property
    def written(self) -> list[str]:
        """The files that the command wrote."""
        return sorted(name for name, data in self.content.items() if data is not None and self.old.get(name) != data)

    @cached_property
    def changed(self) -> set[str]:
        """Those, and the files of before that it replaced or removed."""
        return {*self.written, *(name for name, data in self.old.items() if self.content.get(name) != data)}

    def read(self, words: str, **more: Any) -> tuple[Ended, Any]:
        """Read what is there: how that ended, and what was found, in words or in files, which are removed again."""
        before = snapshot(self.folder)
        ended = self.give(words, seconds=_SECONDS_TO_READ, **more)
        after = snapshot(self.folder)
        found: Any = comparable({name: data for name, data in after.items() if before.get(name, b"-") != data})
        for name in sorted(after.keys() - before.keys(), reverse=True):
            path = self.folder / name
            path.rmdir() if after[name] is None else path.unlink()
        if ended.code:
            return ended, (ended.code, None, None)
        said = [plain(json.loads(line)) if line.startswith("{") else line for line in ended.out.splitlines()]
        return ended, (0, said, found)

    def reading(self, state: str, words: str) -> Any:
        """What a reader finds in the old or in the new."""
        if (state, words) not in self._readings:
            {"old": self.reset, "new": self.finish}[state]()
            self._readings[state, words] = self.read(words)[1]
        return self._readings[state, words]

    def trial(self, fault: Fault) -> str:
        """Let a fault happen to the command; what was wrong then, or ""."""
        self.learn()
        self.reset()
        ended = self.give(self.command.words, fault)
        killed = fault.action in (Action.KILL, Action.KILL_HALF)
        if killed and ended.code != -signal.SIGKILL:
            return f"was not killed, but ended with {ended.code}"
        return self.judge(ended)

    def random_kill(self, moment: float) -> str:
        """Kill the command after so much of the time that it takes."""
        self.learn()
        self.reset()
        process = self.server.start(self.command.words.split(), self.folder)
        time.sleep(moment * self.seconds)
        os.kill(process, signal.SIGKILL)
        return self.judge(self.server.wait(process))

    def learn(self) -> None:
        """See what readers find in the old and in the new, before anything else happens."""
        for words in self.command.judges:
            self.reading("old", words), self.reading("new", words)

    def judge(self, ended: Ended, mend: Callable[[], object] = lambda: None) -> str:
        """What is wrong after a command that was disturbed, and after the same command again; "" if nothing is.

        `mend` is called once all is seen that it left, to end what disturbed it.
        """
        found = snapshot(self.folder)
        done = holds(comparable(found), self.new)
        wrong = self._wrong_end(ended, done)
        if not (done or self.command.cut or holds(found, self.old)):
            wrong.append(f"neither the old nor the new ({difference(comparable(found), self.new)})")
        mend()  # a reader may write what it makes of it, for which there must be room
        wrong += self._wrong_reading(done)
        again = self.give(self.command.again or self.command.words)
        # That the output is there already is good to know, if it is.
        if again.code and (wrong_words(again) or not done):
            wrong.append(f"again: code {again.code}: {again.err[-200:].strip()}")
        end = difference(comparable(snapshot(self.folder)), self.new)
        if end:
            wrong.append(f"at last {end}")
        return "; ".join(wrong)

    def _wrong_end(self, ended: Ended, done: bool) -> list[str]:
        if ended.code == -signal.SIGKILL:
            return []
        if ended.code == 0:
            return [] if done else ["code 0 without the new output"]
        words = wrong_words(ended)
        return [words] if words else []

    def _wrong_reading(self, done: bool) -> list[str]:
        """A reader must find the new, or the old; where there was nothing before, it may say so."""
        wrong = []
        for words in self.command.judges:
            ended, found = self.read(words)
            if ended.code and wrong_words(ended):
                wrong.append(f"{words}: {wrong_words(ended)}")
            elif found == self.reading("new", words) or (not done and found == self.reading("old", words)):
                continue
            elif not ended.code or (self.command.before and not self.command.cut):
                wrong.append(f"{words} finds neither the old nor the new: {(ended.err or ended.out)[-200:]!r}")
        return wrong

    def refused(self, user: int) -> str:
        """Give the command as somebody who may not write here; what was wrong, or ""."""
        self.reset()
        ended = self.give(self.command.words, user=user)
        changed = difference(snapshot(self.folder), self.old)
        return wrong_words(ended) if ended.code and not changed else f"code {ended.code}; {changed}"

    def watched(self, when: int) -> str:
        """Stop the command at a call, read, and let it go on; what was wrong, or ""."""
        self.learn()
        self.reset()
        process, wrong = self._stopped(self.command.words, Fault(Action.STOP, when)), []
        for words in self.command.judges:
            ended, found = self.read(words)
            if found not in (self.reading("old", words), self.reading("new", words)):
                wrong.append(f"a reader finds neither the old nor the new: {(ended.err or ended.out)[-200:]!r}")
        wrong += self._wrong_end(self._continued(process), done=True)
        end = difference(comparable(snapshot(self.folder)), self.new)
        return "; ".join([*wrong, *([f"at last {end}"] if end else [])])

    def _stopped(self, words: str, fault: Fault) -> int:
        self.server.shim.arm(self.folder, fault)
        process = self.server.start(words.split(), self.folder)
        ended = self.server.wait(process)
        self.server.shim.disarm()
        assert ended == STOPPED, (words, fault, ended)
        return process

    def _continued(self, process: int) -> Ended:
        os.kill(process, signal.SIGCONT)
        return self.server.wait(process)

    @property
    def has_rival(self) -> bool:
        """Whether a seed makes it another output."""
        makes = self.command.words.startswith(("features", "compress", "train", "encode x."))
        return makes and not self.command.cut and "--add" not in self.command.words

    @cached_property
    def rival(self) -> tuple[str, Snapshot, int]:
        """The same command with another seed, what it leaves, and how many calls that takes, readings included."""
        words = f"{self.command.words} --seed 5"
        self.reset()
        self.server.shim.arm(self.folder, Fault(kinds=CHANGES | Call.OPEN))
        ended = self.give(words)
        calls = self.server.shim.disarm()
        assert ended.code == 0, (words, ended)
        return words, snapshot(self.folder), len(calls)

    def race(self, when: int) -> str:
        """Stop a rival at a call, give the command, and let the rival go on; what was wrong, or ""."""
        words, others, _ = self.rival
        self.reset()
        process = self._stopped(words, Fault(Action.STOP, when, CHANGES | Call.OPEN))
        first = self.give(self.command.words)
        second = self._continued(process)
        wrong = [wrong_words(ended) for ended in (first, second) if ended.code]
        won = [wanted for ended, wanted in ((first, self.new), (second, comparable(others))) if ended.code == 0]
        if not won or (len(won) == 2 and "--overwrite" not in words):
            wrong.append(f"{len(won)} of two writers succeeded")
        found = comparable(snapshot(self.folder))
        if found not in won:
            wrong.append(f"neither the one nor the other: {' / '.join(difference(found, wanted) for wanted in won)}")
        return "; ".join(words for words in wrong if words)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)


def _world(server: Server) -> Path:
    """The data of all commands, made once for every server."""
    world = server.home / "world"
    if not world.exists():
        world.mkdir()

        def run(words: str) -> None:
            ended = server.run(words.split(), world)
            assert ended.code == 0, (words, ended)

        make_world(world, run)
    return world

"""What the pages of docs/guides show, run: blocks of Python, sessions of Python, and sessions of a shell.

The blocks of a page run one after the other in one folder, which is empty at first. A session of a shell is a block of
`console`: a line that begins with `$` is a command, and the lines below it are what it says, with its notices and
without its progress, which a terminal overwrites.

`python tests/docs/guide_pages.py docs/guides/audit.md` runs a page in a folder of its own, and writes what the commands
say now into it; look at the difference before you keep it.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import manyclass as mc
from manyclass.cli.main import main

BLOCK = re.compile(r"^```(python|pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COLUMNS = 88  # as wide as a page of the site, with a little room
TIME = re.compile(r"\b[\d.]+ (?:us|ms|s|min|h)\b(?: [\d.]+ s\b)?")
PROGRESS = re.compile(r"[\w ]+: ((epoch|step|pair) )?[\d,]+ of [\d,]+\b")
DECIMAL = re.compile(r"-?\d[\d,]*\.\d+(?:e[+-]?\d+)?")


def run_page(text: str, page: str) -> dict:
    """Run all blocks of a page; fail where one fails, or says something else than the page does."""
    names: dict = {"__name__": "guide"}
    # Problems are so small that threads would mostly wait for one another.
    with mc.threads(1):
        for found in BLOCK.finditer(text):
            run_block(found[1], found[2], page, text.count("\n", 0, found.start(2)), names)
    return names


def run_block(kind: str, code: str, page: str, line: int, names: dict) -> None:
    """Run one block in the names, and the folder, that the earlier ones have left."""
    if kind == "python":
        exec(compile("\n" * line + code, page, "exec"), names)
    elif kind == "pycon":
        session = doctest.DocTestParser().get_doctest(code, names, page, page, line)
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
        said: list[str] = []
        assert runner.run(session, out=said.append, clear_globs=False).failed == 0, "".join(said)
        names.update(session.globs)
    else:
        for command, shown in commands(code):
            got = run_command(command)
            assert says_the_same(shown, got), f"{page}: $ {command}\n--- the page shows\n{shown}\n--- it says\n{got}"


def commands(code: str) -> Iterator[tuple[str, str]]:
    """The commands of a session, each with what it says.

    >>> list(commands("$ ls a\\nb.jpg\\n$ rm a/b.jpg\\n"))
    [('ls a', 'b.jpg\\n'), ('rm a/b.jpg', '')]
    """
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        command, _, said = part.partition("\n")
        yield command.partition("  #")[0].rstrip(), said


def run_command(command: str) -> str:
    """What a command says on a terminal of so many columns; ours run in this process, which spares their start."""
    words = shlex.split(command)
    if words[0] != "manyclass":
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
        return done.stdout + done.stderr
    said, plain = io.StringIO(), {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "TERM": "dumb"}
    with (
        mock.patch.dict(os.environ, plain),
        mock.patch.object(sys, "argv", words),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
    ):
        try:
            main()
            code = None
        except SystemExit as end:
            code = end.code
    assert not code, f"$ {command}\n{said.getvalue()}"
    return "".join(line.rstrip() + "\n" for line in said.getvalue().splitlines() if not PROGRESS.match(line))


def says_the_same(shown: str, got: str) -> bool:
    """Whether words and whole numbers are as shown, and other numbers nearly so; times may be any.

    Processors round differently, so that a number with a point may differ by a twentieth, or by 2 in its last digit. A
    line of `...` stands for any lines.

    >>> says_the_same("top-1  93.1 % of 50, 1.3 s", "top-1 92.0 % of 50, 2 ms")
    True
    >>> says_the_same("top-1  93.1 % of 50", "top-1 80.0 % of 50"), says_the_same("3 rows", "4 rows")
    (False, False)
    """
    shown, got = TIME.sub("TIME", shown), TIME.sub("TIME", got)
    pattern = r"\s+".join(map(re.escape, DECIMAL.sub("NUMBER", shown).split()))
    pattern = pattern.replace(re.escape("..."), r"[\s\S]*").replace("NUMBER", f"({DECIMAL.pattern})")
    found = re.fullmatch(rf"\s*{pattern}\s*", got)
    return found is not None and all(
        abs(_value(a) - _value(b)) <= max(abs(_value(a)) / 20, 2.001 * _unit(a))
        for a, b in zip(DECIMAL.findall(shown), found.groups(), strict=True)
    )


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _unit(number: str) -> float:
    return float(10.0 ** -len(number.partition(".")[2].partition("e")[0]))


def rewritten(text: str, page: str) -> str:
    """The page with what its commands say now."""
    names: dict = {"__name__": "guide"}
    parts, end = [], 0
    for found in BLOCK.finditer(text):
        parts.append(text[end : found.start(2)])
        if found[1] == "console":
            parts += [f"$ {line}\n{said}" for line, said in _said_now(found[2])]
        else:
            run_block(found[1], found[2], page, 0, names)
            parts.append(found[2])
        end = found.end(2)
    return "".join([*parts, text[end:]])


def _said_now(code: str) -> Iterator[tuple[str, str]]:
    lines = [line[2:] for line in code.splitlines() if line.startswith("$ ")]
    for line, (command, shown) in zip(lines, commands(code), strict=True):
        got = run_command(command)
        yield line, shown if "..." in shown and says_the_same(shown, got) else got


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        page = path.resolve()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), mc.threads(1):
            page.write_text(rewritten(page.read_text(encoding="utf-8"), str(path)), encoding="utf-8")

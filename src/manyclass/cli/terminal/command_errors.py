"""How a command ends: 0 good, 1 failed, 2 wrong usage, 130 interrupted; and what it says when it fails."""

import errno
import functools
import os
import re
import select
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TextIO

from manyclass._core.errors import SettingsError
from manyclass._core.files import system_words
from manyclass._core.text import printable

FAILED, USAGE, INTERRUPTED = 1, 2, 130

# The library speaks of arguments where a command has options.
_OPTIONS = {
    "pass overwrite=True": "add --overwrite",
    "pass resume=False": "add --restart",
    "use update_gallery to add": "--add to add",
}

_ARGUMENT = re.compile(r"(pass )?`(\w+)(?:=([^`]+))?`")

_RENAMED = {"subset": "part"}

# What the library and the system say in one sentence already; anything else is a defect and keeps its traceback.
KNOWN = (ValueError, OSError, MemoryError, ImportError, IndexError, FloatingPointError)

P = ParamSpec("P")


def print_error(message: str) -> None:
    """One line on stderr, `manyclass: ...`; for what has no Console yet."""
    print(f"manyclass: {printable(' '.join(message.split()))}", file=sys.stderr)


def sentence(error: BaseException) -> str:
    """What to tell a user of an error.

    >>> sentence(FileNotFoundError(2, "No such file or directory", "photos.npy"))
    'photos.npy: no such file or directory'
    """
    if isinstance(error, OSError) and error.strerror:
        if error.errno == errno.ENOSPC and not (error.filename2 or error.filename):
            return "the disk is full; make room and give the same command again"
        return system_words(error)
    if isinstance(error, MemoryError):
        return f"there is not enough memory ({str(error) or 'nothing more is known'}); try fewer rows with --sample"
    words = str(error) or type(error).__name__
    for argument, option in _OPTIONS.items():
        words = words.replace(argument, option)
    return option_words(words)


def option_words(message: str) -> str:
    """What the library says of arguments, as a command says it of options.

    >>> option_words("pass `resume=True` to go on; `test_fraction` does not go with `objective='warp'`")
    'add --resume to go on; --test-fraction does not go with --objective warp'
    """
    return _ARGUMENT.sub(_as_option, message)


def _as_option(argument: re.Match[str]) -> str:
    name, value = _RENAMED.get(argument[2], argument[2]).replace("_", "-"), (argument[3] or "True").strip("'")
    option = f"--no-{name}" if value == "False" else f"--{name}" if value == "True" else f"--{name} {value}"
    return f"add {option}" if argument[1] else option


@contextmanager
def while_read() -> Iterator[None]:
    """Print results for as long as somebody reads them: that `head -1` has read enough is no failure of a command."""
    try:
        yield
    except BrokenPipeError:
        if not results_unread():
            raise


def flush_results() -> None:
    """Write what is printed and not yet written; at the end of the process Python would complain in its own words."""
    try:
        if not results_unread():
            sys.stdout.flush()
    except OSError as error:
        print_error(sentence(error))
        drop_results()
        sys.exit(FAILED)


def results_unread() -> bool:
    """Whether nobody reads the results any more; what is left of them goes nowhere then, and nothing is said of it."""
    broken = _is_broken(sys.stdout)
    if broken:
        drop_results()
    return broken


def drop_results() -> None:
    """Let what is printed and not yet written go nowhere, of which Python would complain at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _is_broken(stream: TextIO) -> bool:
    """Whether a stream is a pipe that was closed at its other end; by asking, since what is not buffered is lost."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        return False
    pipe = select.poll()
    pipe.register(number, select.POLLOUT)
    return any(event & select.POLLERR for _, event in pipe.poll(0))


@contextmanager
def warning_lines() -> Iterator[None]:
    """Print whatever the library warns of as one line on stderr, each sentence once."""
    said: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        show = warnings.showwarning

        def print_once(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, UserWarning):
                show(message, category, filename, lineno, file, line)
            elif str(message) not in said:
                said.add(str(message))
                print_error(option_words(str(message)))

        warnings.showwarning = print_once
        yield


def report_errors(interrupted: str) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """A command whose known errors become one line and an exit code; `interrupted` is what Ctrl-C leaves."""
    import typer  # here, since that it cannot be imported is told by what is above

    def decorate(command: Callable[P, None]) -> Callable[P, None]:
        @functools.wraps(command)
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                with warning_lines():
                    command(*args, **kwargs)
            except KeyboardInterrupt:
                print_error(f"interrupted; {interrupted}")
                raise SystemExit(INTERRUPTED) from None
            except BrokenPipeError:
                # Not that of results, see while_read, but perhaps that of progress: there may be nobody to complain to.
                raise SystemExit(FAILED) from None
            except SettingsError as error:
                raise typer.BadParameter(option_words(str(error))) from None
            except KNOWN as error:
                # An import that the interpreter refuses is a defect; the library refuses by a sentence without a name.
                if getattr(error, "name", None):
                    raise
                print_error(sentence(error))
                raise SystemExit(FAILED) from None

        return run

    return decorate

"""Commands of the library within this process, which has loaded what each of them would have to load anew."""

import contextlib
import io
import sys
from unittest import mock

from manyclass.cli.main import main


def give(*words, folder="."):
    """What `manyclass words` prints, given in a folder; it must end well."""
    out, err, given = io.StringIO(), io.StringIO(), ["manyclass", *map(str, words)]
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", given),
    ):
        code = _code_of(main)
    assert code == 0, (given, err.getvalue())
    return out.getvalue()


def _code_of(command):
    try:
        command()
    except SystemExit as end:
        return end.code or 0
    return 0

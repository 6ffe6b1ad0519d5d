"""The `manyclass` command."""

import os
import sys


def main() -> None:
    """Run the command that the arguments of the process ask for."""
    _fill_streams()
    try:
        from manyclass.cli.terminal.put_off import put_off

        put_off("scipy.stats")
        # Here, so that Ctrl-C is heard while the rest is being imported, which takes a while.
        from manyclass.cli._app import COMMANDS, make_app

        asked = sys.argv[1:2]
        make_app(asked if asked and asked[0] in COMMANDS else COMMANDS)(prog_name="manyclass")
    except KeyboardInterrupt:
        from manyclass.cli.terminal.command_errors import INTERRUPTED, print_error

        # Before or after a command; one that is interrupted itself says what it leaves.
        print_error("interrupted")
        sys.exit(INTERRUPTED)
    finally:
        from manyclass.cli.terminal.command_errors import flush_results

        flush_results()


def _fill_streams() -> None:
    # Where one is closed, as some schedulers do, the next file would get its number, and what a decoder prints.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - for as long as there is a process

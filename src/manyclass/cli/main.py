"""The `manyclass` command."""

import sys


def main() -> None:
    """Run the command that the arguments of the process ask for."""
    try:
        # Here, so that Ctrl-C is heard while the rest is being imported, which takes a while.
        from manyclass.cli.app import app

        app(prog_name="manyclass")
    except KeyboardInterrupt:
        from manyclass.cli.failures import INTERRUPTED, complain

        # Before or after a command; one that is interrupted itself says what it leaves.
        complain("interrupted")
        sys.exit(INTERRUPTED)

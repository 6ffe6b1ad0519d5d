"""Where tables for people go."""

import errno
import os

from rich.console import Console


class Screen(Console):
    """Standard output. That nobody reads it any more is for the command to know, which rich would end by itself."""

    def __init__(self) -> None:
        super().__init__(highlight=False)

    def on_broken_pipe(self) -> None:
        """Pass it on."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

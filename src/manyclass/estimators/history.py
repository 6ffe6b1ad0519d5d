"""What is done with the records of a fit, one for each epoch: callbacks, and one that keeps them in a file."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

Callback = Callable[[dict[str, Any]], bool | None]


class JsonLines:
    """A callback that appends the record of each epoch to a file, as one line of JSON.

    Every line is written whole before the next epoch begins, so that other processes can follow. A fit that goes on
    from a checkpoint repeats the lines of the epochs since then.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     keep = JsonLines(f"{folder}/history.jsonl")
    ...     keep({"epoch": 1, "loss": 0.5})
    ...     pathlib.Path(keep.path).read_text()
    '{"epoch": 1, "loss": 0.5}\\n'
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)

    def __call__(self, record: dict[str, Any]) -> None:
        line = json.dumps(record) + "\n"
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line)


@contextmanager
def told_of_the_end(callbacks: Iterable[Callback]) -> Iterator[None]:
    """Afterwards, whichever way the block ends, callbacks that have a method `close` have had it called."""
    try:
        yield
    finally:
        for callback in callbacks:
            close = getattr(callback, "close", None)
            if close is not None:
                close()

"""Commands run in this process, as a shell would see them."""

import re
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from manyclass.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


def plain(text: str) -> str:
    """Without the colors that some continuous integrations force on."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture
def run(monkeypatch, capsys):
    """run("verify", path) gives the Outcome of `manyclass verify path`."""

    def call(*arguments) -> Outcome:
        capsys.readouterr()
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "argv", ["manyclass", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return Outcome(end.value.code or 0, plain(said.out), plain(said.err))

    return call


@pytest.fixture
def features(tmp_path):
    """A file of 300 rows of 16 numbers."""
    path = tmp_path / "features.npy"
    np.save(path, np.random.default_rng(0).standard_normal((300, 16), dtype=np.float32))
    return path

"""A command with --ray that is killed goes on, to the bytes of one that never was, and that had no cluster."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.three_nodes import pictures
from tests.features.extraction.written import contents_of
from tests.solvers.sgd.test_class_ranges import data

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

FISHER = "--n-words 2 --descriptors sift --n-samples 400 --n-components 4 --scales 1 --step 8"

COMMANDS = {
    "features": (f"features album {FISHER}", ""),
    "encode": ("encode rows.npy --method slem", ""),
    "train": ("train rows.npz --objective ovr --step 0.05 --beta 20 --max-epochs 6", "--resume"),
}


@pytest.fixture
def world(tmp_path):
    (tmp_path / "album" / "noise").mkdir(parents=True)
    pictures(tmp_path / "album" / "noise", 40)
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).standard_normal((12_000, 24), np.float32))
    X, y = data()
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    return tmp_path


def give(world, words, when=0):
    command = [sys.executable, "-m", "tests.cluster.driver_child", str(when), *words.split()]
    there = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=world, env=there, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stderr


@pytest.mark.parametrize(("words", "again"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_is_killed_goes_on_to_the_same_bytes(world, words, again):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'manyclass[ray]'")
    cluster = f"{words} -o out --ray local --workers 2 --quiet"
    assert give(world, f"{words} -o one --quiet") == (0, "")
    assert give(world, cluster, when=3)[0] == -signal.SIGKILL
    assert list(world.glob("out*"))  # what is gone on with
    assert give(world, f"{cluster} {again}") == (0, "")
    assert _results(world / "out") == _results(world / "one")
    assert not (world / "out.parts").exists()


def _results(folder):
    """The bytes of a store or gallery; of a run those of the model, as its record tells of times."""
    return {name: content for name, content in contents_of(folder).items() if name != "run.json"}

"""Twenty kills of actors, processes and whole nodes, over all jobs of a real cluster, change no bit."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_twenty_kills_change_no_bit(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'manyclass[ray]'")
    command = [sys.executable, "-m", "tests.cluster.twenty_kills", str(tmp_path), "0", "20"]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)])}  # as pytest has them
    done = subprocess.run(command, cwd=ROOT, env=paths, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    kills = [one for one in found if "killed" in one]
    assert [one for one in found if one["same"] is not True] == []
    assert len(kills) == 20
    assert all(one["replaced"] for one in kills[:2])  # a whole node amid training, and amid the trace norm
    assert all(one["process"] for one in kills)
    assert {"actor", "process", "node"} <= {one["killed"] for one in kills}
    assert all(one["told"] for one in kills if one["replaced"])

"""A real cluster: three nodes as processes of their own, of which two are killed on the way."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_cluster_of_three_nodes_gives_the_bits_of_one_process_though_two_are_killed(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'manyclass[ray]'")
    command = [sys.executable, "-m", "tests.cluster.three_nodes", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == {"nodes": 3, "features": True, "search": True, "classifier": True, "told": True}

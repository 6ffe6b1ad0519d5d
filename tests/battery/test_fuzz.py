"""Whatever bytes a file has, a reader reads it or refuses it by a sentence: no crash, no hang, no end of memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.battery.fuzz_readers import SECONDS
from tests.battery.targets import READERS

ROOT = Path(__file__).parents[2]
NAMES = list(READERS)
DRAWN = ["run", "evaluation", "probe"]  # of which a page is drawn, which takes a hundred times as long as to read one
QUICK = [name for name in NAMES if name not in DRAWN]


def wrong(names, folder, first, count):
    """What went wrong with so many changed files for each reader, in a process of its own, which may die."""
    command = [sys.executable, "-m", "tests.battery.fuzz_readers", ",".join(names), str(folder), str(first), str(count)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment, timeout=120 + SECONDS * count, check=False
    )
    last = (done.stdout.splitlines() or ["nothing"])[-1]
    if done.returncode:
        return {last: f"exit {done.returncode}: {done.stderr[-2000:]}"}
    return {name: told["wrong"] for name, told in json.loads(last).items() if told["wrong"]}


@pytest.mark.parametrize(
    ("names", "count"), [(QUICK[0::3], 40), (QUICK[1::3], 40), (QUICK[2::3], 40), (DRAWN, 10)], ids=range(4)
)
def test_changed_files_are_read_or_refused(tmp_path, names, count):
    assert wrong(names, tmp_path, 0, count) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_changed_files_are_read_or_refused(tmp_path, name):
    for first in range(0, 2500, 500):
        assert wrong([name], tmp_path / str(first), first, 500) == {}

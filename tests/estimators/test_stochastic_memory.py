"""What a fit adds to the memory that X takes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("memory_child.py")


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the peak of memory cannot be reset here")
@pytest.mark.parametrize(("n", "d", "k", "begins"), [(20_000, 1024, 1000, True), (7_000, 2048, 6000, False)])
def test_a_fit_adds_twice_its_machines_and_a_twentieth_of_x(n, d, k, begins):
    command = [sys.executable, CHILD, *map(str, (n, d, k))]
    two_threads = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run(command, env=two_threads, capture_output=True, text=True, check=True, timeout=600)
    # A quarter besides, where their numbers are looked at: whether they are finite. Where it begins with least squares,
    # the products of columns with one another and with targets.
    most = 0.05 * 4 * n * d + 2.25 * 4 * k * d + (8 << 20) + begins * 4 * (d * d + k * d)
    assert int(run.stdout) <= most

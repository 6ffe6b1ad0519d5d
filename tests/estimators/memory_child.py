"""Run by a test in a process of its own: prints how many bytes a fit adds to what the process holds."""

import re
import sys
from pathlib import Path

import numpy as np

import manyclass as mc


def status(field):
    """A number of /proc/self/status, in bytes."""
    return 1024 * int(re.search(rf"{field}:\s*(\d+)", Path("/proc/self/status").read_text())[1])


def added(X, y):
    """How far the peak of a fit is above what was held before it."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    mc.StochasticClassifier(max_epochs=2, n_threads=2, random_state=0).fit(X, y)
    return status("VmHWM") - before


def main(n, d, k):
    """The bytes that a fit adds, after one on few rows has loaded all code."""
    X = np.random.default_rng(0).random((n, d), np.float32)
    y = np.arange(n, dtype=np.int32) % k
    added(X[:200], y[:200] % 4)
    print(added(X, y))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

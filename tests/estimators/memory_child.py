"""Run by a test in a process of its own: prints how many bytes a fit adds to what the process holds."""

import re
import sys
from pathlib import Path

import numpy as np

import manyclass as mc

N, D, K = 50_000, 1024, 1000


def status(field):
    """A number of /proc/self/status, in bytes."""
    return 1024 * int(re.search(rf"{field}:\s*(\d+)", Path("/proc/self/status").read_text())[1])


def added(X, y, **settings):
    """What the peak of a fit is above what was held before it."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    mc.StochasticClassifier(max_epochs=2, n_threads=1, random_state=0, **settings).fit(X, y)
    return status("VmHWM") - before


def main(objective):
    """The bytes that a fit on N rows adds, after one on few rows has loaded all code."""
    X = np.random.default_rng(0).random((N, D), np.float32)
    y = np.arange(N, dtype=np.int32) % K
    added(X[:200], y[:200] % 4, objective=objective)
    print(added(X, y, objective=objective))


if __name__ == "__main__":
    main(sys.argv[1])

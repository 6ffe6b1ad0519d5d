"""One classifier on saved arrays, in a process of its own: `python -m benchmarks.contender NAME FOLDER THREADS`.

FOLDER holds X.npy, y.npy, X_test.npy and y_test.npy. Prints one line of JSON.
"""

import contextlib
import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import PEERS, Peer

_STATUS = Path("/proc/self/status")


def peak() -> float:
    """The most memory that this process has held, in MiB."""
    return _status("VmHWM")


def forget_peak() -> float:
    """Let `peak` start again from what is held now, which is returned in MiB."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+)", _STATUS.read_text())
    return int(found[1]) / 1024 if found else float("nan")


def tuned(peer: Peer, X: Any, y: Any, n_threads: int) -> float | None:
    """The strength that is best on every fifth row of a tenth of the classes, 50 at least, trained on the others."""
    if len(peer.strengths) == 1:
        return peer.strengths[0]
    few = np.isin(y, np.unique(y)[: max(50, len(np.unique(y)) // 10)])
    X, y = X[few], y[few]
    held = np.zeros(len(y), bool)
    held[np.random.default_rng(0).permutation(len(y))[: len(y) // 5]] = True

    def accuracy(strength: float | None) -> float:
        made = peer.make(strength, n_threads)
        made.fit(X[~held], y[~held])
        return float(np.mean(made.predict(X[held]) == y[held]))

    return max(peer.strengths, key=accuracy)


def main(name: str, folder: Path, n_threads: int) -> None:
    X, y, X_test, y_test = (np.load(folder / f"{part}.npy") for part in ("X", "y", "X_test", "y_test"))
    peer = PEERS[name]
    strength = tuned(peer, X, y, n_threads)
    # Threads and libraries start with the first call, and are not counted.
    peer.make(strength, n_threads).fit(X[:128], np.arange(len(X[:128])) % 8)
    classifier = peer.make(strength, n_threads)
    held, started = forget_peak(), time.perf_counter()
    classifier.fit(X, y)
    seconds, added = time.perf_counter() - started, peak() - held
    accuracy = float(np.mean(classifier.predict(X_test) == y_test))
    print(json.dumps({"strength": strength, "seconds": seconds, "accuracy": accuracy, "added": added}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))

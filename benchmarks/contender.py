"""One classifier on saved arrays, in a process of its own.

`python -m benchmarks.contender tune NAME FOLDER THREADS` prints the best strength, and
`python -m benchmarks.contender fit NAME FOLDER THREADS STRENGTH` what a fit takes; both as one line of JSON. FOLDER
holds X.npy, y.npy, X_test.npy and y_test.npy.
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


def tune(peer: Peer, folder: Path, n_threads: int) -> float | None:
    """The strength that is best on a fifth of the rows of at most 200 classes, trained on the other rows of those."""
    if len(peer.strengths) == 1:
        return peer.strengths[0]
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    few = np.isin(y, np.unique(y)[:200])
    X, y = X[few], y[few]
    held = np.random.default_rng(0).random(len(y)) < 0.2

    def accuracy(strength: float | None) -> float:
        made = peer.make(strength, n_threads)
        made.fit(X[~held], y[~held])
        return float(np.mean(made.predict(X[held]) == y[held]))

    return max(peer.strengths, key=accuracy)


def fit(peer: Peer, folder: Path, n_threads: int, strength: float | None) -> dict[str, Any]:
    """Seconds of a fit, test accuracy, and the memory that fit adds."""
    X, y, X_test, y_test = (np.load(folder / f"{part}.npy") for part in ("X", "y", "X_test", "y_test"))
    # Threads and libraries start with the first call, and are not counted.
    peer.make(strength, n_threads).fit(X[:128], np.arange(len(X[:128])) % 8)
    classifier = peer.make(strength, n_threads)
    held, started = forget_peak(), time.perf_counter()
    classifier.fit(X, y)
    seconds, added = time.perf_counter() - started, peak() - held
    accuracy = float(np.mean(classifier.predict(X_test) == y_test))
    return {"strength": strength, "seconds": seconds, "accuracy": accuracy, "added": added}


def main(task: str, name: str, folder: str, n_threads: str, strength: str = "null") -> None:
    peer, path = PEERS[name], Path(folder)
    found = (
        tune(peer, path, int(n_threads)) if task == "tune" else fit(peer, path, int(n_threads), json.loads(strength))
    )
    print(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])

"""One classifier on saved arrays, in a process of its own.

`python -m benchmarks.contender tune NAME FOLDER THREADS` prints the best strength,
`python -m benchmarks.contender fit NAME FOLDER THREADS STRENGTH` what a fit takes, and
`python -m benchmarks.contender epochs - FOLDER THREADS` what ours take for 1, 2, 4, ... epochs; all as a
line of JSON. FOLDER holds X.npy, y.npy, X_test.npy and y_test.npy.
"""

import contextlib
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import DEFAULTS, PEERS, WIDE, Peer, ours_for

_STATUS = Path("/proc/self/status")
# One thread is timed by its own processor time: what else runs on the machine does not count.
_CLOCK = time.process_time if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter


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
    """The strength that is best on a fifth of the rows, trained on the others."""
    if len(peer.strengths) == 1:
        return peer.strengths[0]
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    held = np.random.default_rng(0).random(len(y)) < 0.2
    judged = _machines_of_some if peer.binary else _some_classes
    return max(peer.strengths, key=lambda strength: judged(lambda: peer.make(strength, n_threads), X, y, held))


def _machines_of_some(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, held: np.ndarray) -> float:
    """Accuracy among 40 classes, each with its machine against all rows: as it is with all classes, for less."""
    some = np.unique(y)[:40]
    judged = held & np.isin(y, some)
    machines = [make().fit(X[~held], y[~held] == c) for c in some]
    S = np.stack([machine.decision_function(X[judged]) for machine in machines])
    return float(np.mean(some[S.argmax(axis=0)] == y[judged]))


def _some_classes(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, held: np.ndarray) -> float:
    """Accuracy on the rows of at most 200 classes."""
    some = np.isin(y, np.unique(y)[:200])
    made = make()
    made.fit(X[some & ~held], y[some & ~held])
    return float(np.mean(made.predict(X[some & held]) == y[some & held]))


def fit(peer: Peer, folder: Path, n_threads: int, strength: float | None) -> dict[str, Any]:
    """Seconds of a fit, test accuracy, and the memory that fit adds."""
    arrays = _arrays(folder)
    return {"strength": strength, **_fitted(lambda: peer.make(strength, n_threads), *arrays)}


def epochs(folder: Path, n_threads: int) -> list[dict[str, Any]]:
    """Ours after 1, 2, 4, ... epochs, with step and beta sought every time (`search`) and given (`given`)."""
    arrays = _arrays(folder)
    sought = ours_for(1, {}, n_threads).fit(*arrays[:2])
    known = {"step": sought.step_, "beta": sought.beta_}
    return [
        {"epochs": m, "search": _fitted(lambda m=m: ours_for(m, {}, n_threads), *arrays),
         "given": _fitted(lambda m=m: ours_for(m, known, n_threads), *arrays)}
        for m in (1, 2, 4, 8, 16, 32)
    ]  # fmt: skip


def _arrays(folder: Path) -> tuple[np.ndarray, ...]:
    return tuple(np.load(folder / f"{part}.npy") for part in ("X", "y", "X_test", "y_test"))


def _fitted(
    make: Callable[[], Any], X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> dict[str, Any]:
    # Threads and libraries start with the first call, and are not counted.
    make().fit(X[:128], np.arange(len(X[:128])) % 8)
    classifier = make()
    held, started = forget_peak(), _CLOCK()
    classifier.fit(X, y)
    seconds, added = _CLOCK() - started, peak() - held
    accuracy = float(np.mean(classifier.predict(X_test) == y_test))
    return {"seconds": seconds, "accuracy": accuracy, "added": added}


def main(task: str, name: str, folder: str, n_threads: str, strength: str = "null") -> None:
    path, threads, peers = Path(folder), int(n_threads), PEERS | WIDE | DEFAULTS
    tasks: dict[str, Callable[[], Any]] = {
        "tune": lambda: tune(peers[name], path, threads),
        "fit": lambda: fit(peers[name], path, threads, json.loads(strength)),
        "epochs": lambda: epochs(path, threads),
    }
    print(json.dumps(tasks[task]()))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])

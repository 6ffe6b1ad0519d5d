"""A fit that is killed at any moment goes on from its checkpoint and ends with the same bits."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest

from tests.battery.shim import Action, Call, Fault, Shim
from tests.estimators import checkpoint_child as child

OBJECTIVES = {
    "ovr": {},
    "regularized": {"regularization": 1e-3, "step_decay": True, "beta": None},
    "multiclass": {"objective": "multiclass"},
    "warp": {"objective": "warp"},
    "softmax": {"objective": "softmax"},
}
SHORT = {"max_epochs": 2, "step": 0.05, "beta": 3.0}


class Server:
    """Starts fits quickly, in processes that can be killed."""

    def __init__(self, env=None):
        command = [sys.executable, "-B", child.__file__]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def run(self, path, kill=lambda epochs: False, **arguments):
        """The signal by which a fit ended, or 0; `kill` is asked at the start and after each epoch whether to."""
        self._tell(json.dumps({"path": str(path), **arguments}))
        word, process = self._hear()
        # A number that is not of a process must never reach os.kill.
        assert word == "process"
        epochs = 0
        while word != "ended":
            if kill(epochs):
                os.kill(process, signal.SIGKILL)
            word, number = self._hear()
            epochs += 1
        self._tell("")
        assert number in (0, signal.SIGKILL), f"the fit ended by itself with {number}"
        return number

    def _tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _hear(self):
        word, number = self.process.stdout.readline().split()
        return word, int(number)


@pytest.fixture(scope="module")
def server():
    with closing(Server()) as server:
        yield server


def kill_at_random(server, folder, settings, n_kills, seed):
    """So many fits killed and taken up again; how many of them were past their first checkpoint."""
    rng = np.random.default_rng(seed)
    whole, resumed = child.fit(**settings), 0
    for number in range(n_kills):
        path, last = folder / str(number), rng.integers(len(whole.history_))

        def kill(epochs, last=last):
            if epochs == last:
                # About as long as tuning takes, or an epoch and its checkpoint.
                time.sleep(rng.uniform(0, 0.003 if epochs else 0.2))
            return epochs == last

        server.run(path, kill, n_threads=int(rng.integers(1, 3)), **settings)
        resumed += path.exists()
        assert child.bits(child.fit(path, n_threads=int(rng.integers(1, 3)), **settings)) == child.bits(whole)
        assert not path.exists()
    return resumed


@pytest.mark.parametrize("settings", OBJECTIVES.values(), ids=OBJECTIVES)
def test_killed_at_random_moments_it_ends_with_the_same_bits(server, disk_path, settings):
    settings = {"step": 0.05, "beta": 3.0, **settings}
    assert kill_at_random(server, disk_path, settings, n_kills=6, seed=0) >= 3


def test_killed_at_twenty_random_moments_of_tuning_training_and_refit(server, disk_path):
    assert kill_at_random(server, disk_path, {}, n_kills=20, seed=1) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("settings", OBJECTIVES.values(), ids=OBJECTIVES)
def test_killed_at_a_hundred_random_moments_it_ends_with_the_same_bits(server, disk_path, settings):
    assert kill_at_random(server, disk_path, settings, n_kills=100, seed=2) >= 50


@pytest.mark.parametrize("call", ["pwrite", "fsync", "replace", "unlink"])
def test_killed_at_each_call_that_writes_the_checkpoint_it_ends_with_the_same_bits(server, tmp_path, call):
    expected = child.bits(child.fit(**SHORT))
    for when in range(1, 200):
        path = tmp_path / str(when)
        ended = server.run(path, die=(call, when), **SHORT)
        if ended == 0:
            break
        assert ended == signal.SIGKILL
        assert child.bits(child.fit(path, **SHORT)) == expected
        assert not path.exists()
    assert when > {"pwrite": 20, "fsync": 10, "replace": 5, "unlink": 1}[call]


@pytest.mark.parametrize(
    ("call", "every"),
    [
        (Call.RENAME, 3),
        *(pytest.param(call, 1, marks=pytest.mark.slow) for call in (Call.WRITE, Call.SYNC, Call.RENAME)),
    ],
    ids=str,
)
def test_killed_inside_of_each_call_it_ends_with_the_same_bits(tmp_path, call, every):
    expected, hits, shim = child.bits(child.fit(**SHORT)), 0, Shim(tmp_path)
    with closing(Server(shim.env)) as server:
        for when in range(1, 200, every):
            path = tmp_path / str(when)
            shim.arm(tmp_path, Fault(Action.KILL_HALF, when, call))
            ended = server.run(path, **SHORT)
            shim.disarm()
            if ended == 0:
                break
            assert ended == signal.SIGKILL
            hits += 1
            assert child.bits(child.fit(path, **SHORT)) == expected
    assert ended == 0
    assert hits >= 1

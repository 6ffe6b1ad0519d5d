"""Fits that are there to be killed.

`python checkpoint_child.py` reads lines of JSON, the arguments of `fit`. It begins each in a process of its own, prints
the number of that process, the epochs as they pass, and how it ended (0, or the signal that killed it); then it waits
for one line more.
"""

import hashlib
import json
import os
import signal
import sys

import numpy as np

import manyclass as mc
from manyclass.solvers.sgd import checkpoint

SETTINGS = {"objective": "ovr", "patience": 12, "max_epochs": 12, "random_state": 0}


def data():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 15)
    return (rng.normal(size=(12, 8))[y] + 0.7 * rng.normal(size=(len(y), 8))).astype(np.float32), y


def fit(path=None, **settings):
    """A fit with a checkpoint after every epoch."""
    seconds, times = checkpoint._SECONDS, checkpoint._TIMES
    checkpoint._SECONDS = checkpoint._TIMES = 0.0
    try:
        return mc.StochasticClassifier(**{**SETTINGS, **settings}, checkpoint=path).fit(*data())
    finally:
        checkpoint._SECONDS, checkpoint._TIMES = seconds, times


def bits(model):
    return hashlib.sha256(model.coef_.tobytes() + model.intercept_.tobytes()).hexdigest()


def die_at(call, when):
    """Kill this process at its when-th call of a function of `os`; a write is half done then."""
    real, count = getattr(os, call), 0

    def counted(*args):
        nonlocal count
        count += 1
        if count == when:
            if call == "pwrite":
                real(args[0], args[1][: len(args[1]) // 2], args[2])
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args)

    setattr(os, call, counted)


def run(path, die=None, **settings):
    if die:
        die_at(*die)
    fit(path, **settings)


def say(word, number):
    """A line, written at once: a process that is killed within a line would leave half of it."""
    os.write(1, f"{word} {number}\n".encode())


def serve():
    # What is imported when first used is so imported once, and not in every process.
    fit(max_epochs=1, n_threads=1)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            say("process", os.getpid())
            signal.alarm(60)  # one that hangs is found
            run(**json.loads(line), callbacks=[lambda record: say("epoch", record["epoch"])])
            os._exit(0)
        # Its number stays taken until the next line comes, so that a late kill hits nobody else.
        say("ended", os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT).si_status)
        sys.stdin.readline()
        os.waitpid(process, 0)


if __name__ == "__main__":
    serve()

"""Processes that save galleries and are there to be killed.

`python child.py steps PATH STEPS` saves again and again; `python child.py killed START FOLDER CALL` is killed by its
own hand at every call of a kind, each time in another folder.
"""

import os
import shutil
import signal
import sys

import numpy as np

import manyclass as mc

D = 3


def vectors(first, n):
    return np.arange(first * D, (first + n) * D, dtype=np.float32).reshape(n, D) % 7 + 1


def change(g, step):
    """The step-th change; what a gallery holds tells how many there were."""
    g.add(vectors(4 * step, 4), ids=[f"{step}.{i}" for i in range(4)], metadata={"step": [step] * 4})
    if step:
        g.remove([f"{step - 1}.0"])
        g.update([f"{step - 1}.1"], vectors(step, 1))


def after(steps):
    """A gallery built afresh to the state after so many changes."""
    g = mc.Gallery(background=vectors(1, 50))
    for step in range(steps):
        change(g, step)
    return g


def opened(path):
    try:
        return mc.Gallery.open(path)
    except mc.StorageError as error:
        if "is not a gallery" not in str(error):
            raise
        return after(0)


def steps_in(g):
    return 1 + max((int(key.split(".")[0]) for key in g.ids.tolist()), default=-1)


def save_steps(path, steps):
    """Go on to so many steps, saving after each."""
    g = opened(path)
    print("ready", flush=True)
    for step in range(steps_in(g), steps):
        change(g, step)
        g.save(path)
        print(step + 1, flush=True)


def killing(call, when):
    """A call that kills this process the when-th time."""
    count = iter(range(when))

    def counted(*arguments, **more):
        if next(count, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **more)

    return counted


def save_killed(start, folder, call):
    """Copies of a gallery to which the next step is saved, killed at the first such call, the second, ... in turn."""
    opened(start), save_steps(f"{folder}/whole", 3)  # what is imported when first used is so imported once
    shutil.rmtree(f"{folder}/whole")
    for when in range(100):
        path = f"{folder}/{when}"
        shutil.copytree(start, path)
        child = os.fork()
        if child == 0:
            os.fsync = lambda descriptor: None  # a kill loses nothing that the system holds, and syncing takes long
            setattr(os, call, killing(getattr(os, call), when))
            save_steps(path, 3)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            shutil.rmtree(path)
            return


if __name__ == "__main__":
    if sys.argv[1] == "steps":
        save_steps(sys.argv[2], int(sys.argv[3]))
    else:
        save_killed(*sys.argv[2:])

"""`python encode_child.py FOLDER WORDS...` runs a command again and again, killed by its own hand at every rename.

The command writes to `gallery`, each time in another folder below FOLDER, until it comes to its end.
"""

import os
import signal
import sys

import manyclass as mc
from manyclass.cli.main import main
from manyclass.datasets import read_features  # noqa: F401
from manyclass.runs.galleries import gallery_builder, gallery_updates  # noqa: F401 - so that no child has to import them

mc.SquareLossExemplar(n_background=1, random_state=0).fit([[1.0], [2.0]])


def killing(call, when):
    """A call that kills this process the when-th time."""
    count = iter(range(when))

    def counted(*arguments, **more):
        if next(count, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **more)

    return counted


def killed_everywhere(folder, words):
    for when in range(50):
        path = os.path.join(folder, str(when))
        os.mkdir(path)
        child = os.fork()
        if child == 0:
            os.chdir(path)
            os.fsync = lambda descriptor: None  # a kill loses nothing that the system holds
            os.replace = killing(os.replace, when)
            sys.argv = ["manyclass", *words]
            main()
        if os.waitpid(child, 0)[1] == 0:
            return


if __name__ == "__main__":
    killed_everywhere(sys.argv[1], sys.argv[2:])

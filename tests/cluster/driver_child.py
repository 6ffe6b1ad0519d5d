"""`python -m tests.cluster.driver_child WHEN WORDS...`: a command that is killed by its own hand when workers have told
it something so many times; a task that is done, or an epoch, each of which is followed by a checkpoint. 0 is never.
"""

import itertools
import os
import signal
import sys

from manyclass.cli.main import main
from manyclass.cluster.actor_groups import RayGroup
from manyclass.cluster.actors import RayWorkers
from manyclass.solvers.sgd import checkpoint

WHEN, sys.argv = int(sys.argv[1]), ["manyclass", *sys.argv[2:]]
COUNT = itertools.count(1)


def hear():
    """Count, and be killed when it is time."""
    if next(COUNT) == WHEN:
        os.kill(os.getpid(), signal.SIGKILL)


def heard_run(workers, *arguments, run=RayWorkers.run):
    for found in run(workers, *arguments):
        hear()
        yield found


def heard_save(group, paths, save=RayGroup.save):
    hear()
    save(group, paths)


checkpoint._SECONDS = checkpoint._TIMES = 0.0
RayWorkers.run, RayGroup.save = heard_run, heard_save

if __name__ == "__main__":
    main()

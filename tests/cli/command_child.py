"""Commands that are there to be killed.

Reads lines of JSON, {"words": [...], "die": [a function of os, at which call] or null}. Runs `manyclass words` in a
process of its own and prints its exit code, or, below 0, the signal that ended it.
"""

import contextlib
import importlib
import json
import os
import sys

from estimators.checkpoint_child import die_at

import manyclass as mc
from manyclass.cli.main import main
from manyclass.solvers.sgd import checkpoint


def run(words, die):
    # A checkpoint after every epoch, so that there are many moments to be killed at.
    checkpoint._SECONDS = checkpoint._TIMES = 0.0
    if die:
        die_at(*die)
    sys.argv = ["manyclass", *words]
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(devnull, stream)
    main()


def serve():
    for name in ("StochasticClassifier", "TraceNormPath", "open_store", "get_threads"):
        getattr(mc, name)
    for line in sys.stdin:
        modules, known = os.memfd_create("modules"), set(sys.modules)
        process = os.fork()
        if process == 0:
            code = 0
            try:
                run(**json.loads(line))
            except SystemExit as end:
                code = end.code or 0
            os.write(modules, " ".join(sys.modules.keys() - known).encode())
            os._exit(code)
        ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        # What is imported when first used is so imported once.
        for name in os.pread(modules, 1 << 20, 0).decode().split():
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        os.close(modules)
        print(ended, flush=True)


if __name__ == "__main__":
    serve()

"""A process that encodes rows into a store and is there to be killed: `python child.py PATH ROWS PIECE`.

`python child.py` reads such arguments line by line, runs each in a process that it forks, and so at once, and answers
with a line of JSON, [exit code, what it said of errors].
"""

import json
import os
import sys

import numpy as np

from manyclass._core.errors import StorageError
from manyclass.data.product_quantizer import ProductQuantizer
from manyclass.data.store import StoreWriter

D, BLOCK = 4, 8  # four rows, each of two bytes, in a block
IDENTITY = {"who": "child"}


def rows(n):
    return np.arange(n * D, dtype=np.float32).reshape(n, D) % 7


def quantizer():
    """Its few entries are the few rows, which so come back as they are."""
    return ProductQuantizer(block=2, n_centroids=16, random_state=0).fit(rows(14))


def opened(path):
    """The writer of the store, which goes on where an earlier one was killed, and by its quantizer."""
    kept = StoreWriter.unfinished(path, IDENTITY, overwrite=True)
    return StoreWriter(
        path, quantizer=kept.quantizer or quantizer(), identity=IDENTITY, block_bytes=BLOCK, overwrite=True
    )


def write(path, n, piece=4, tell=lambda rows: None):
    """Write the store, or go on writing it; `tell` gets the rows that are safe."""
    with opened(path) as writer:
        while writer.rows_done < n:
            writer.append(rows(n)[writer.rows_done : writer.rows_done + piece])
            tell(writer.rows_done // 4 * 4)
        return writer.commit(y=np.arange(n), names=[f"{i}.jpg" for i in range(n)])


def run(path, n, piece):
    """Write, saying what is safe; the exit code."""
    print("ready", flush=True)
    try:
        write(path, int(n), int(piece), lambda done: print(done, flush=True))
    except StorageError as error:
        print(error, file=sys.stderr, flush=True)
        return 3
    return 0


def serve():
    quantizer()  # imports what is imported when first used, once
    for line in sys.stdin:
        errors = os.memfd_create("errors")
        process = os.fork()
        if process == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(errors, 2)
            os._exit(run(*json.loads(line)))
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        print(json.dumps([code, os.pread(errors, 1 << 16, 0).decode()]), flush=True)
        os.close(errors)


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(run(*sys.argv[1:]))
    serve()

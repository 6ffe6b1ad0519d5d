"""A process that encodes rows into a store and is there to be killed: python child.py PATH ROWS PIECE."""

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


if __name__ == "__main__":
    print("ready", flush=True)
    try:
        write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), lambda done: print(done, flush=True))
    except StorageError as error:
        print(error, file=sys.stderr)
        sys.exit(3)

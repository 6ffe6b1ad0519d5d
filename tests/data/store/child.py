"""A process that writes a store and is there to be killed: python child.py PATH ROWS PIECE."""

import sys

import numpy as np

from manyclass.data.store import StoreError, StoreWriter

D, BLOCK = 4, 64  # four rows in a block


def rows(n):
    return np.arange(n * D, dtype=np.float32).reshape(n, D)


def write(path, n, piece=4, tell=lambda rows: None):
    """Write the store, or go on writing it; `tell` gets the rows that are safe."""
    with StoreWriter(path, D, identity={"who": "child"}, block_bytes=BLOCK, overwrite=True) as writer:
        while writer.rows_done < n:
            writer.append(rows(n)[writer.rows_done : writer.rows_done + piece])
            tell(writer.rows_done // 4 * 4)
        return writer.commit(y=np.arange(n), names=[f"{i}.jpg" for i in range(n)])


if __name__ == "__main__":
    print("ready", flush=True)
    try:
        write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), lambda done: print(done, flush=True))
    except StoreError as error:
        print(error, file=sys.stderr)
        sys.exit(3)

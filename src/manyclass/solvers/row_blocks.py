"""Sums over blocks of rows, in this process or by workers: the same bits, whoever adds up a block.

Blocks depend on the shapes alone. Each is summed from zero, and blocks are added in their order. A worker holds every
w-th of them, so that what w workers find at a time is next to one another, and nobody keeps more than that.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.label_lists import LabelLists
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Doubles, Floats
from manyclass._core.worker_groups import Workers, current_workers
from manyclass.data.matrix import Matrix, spans
from manyclass.data.moments import TILE, center_rows, panel_of, sum_panels

_TILE_BYTES = 32 << 20  # of rows in float64 whose products are added up: fewer of them, each d x d, take less time

# Rows of a block, at least: one core multiplies them for 30 times as long as it takes to send d x d sums at 1 GB/s.
_BLOCK_ROWS = 8192

_MOST_BLOCKS = 64  # as the sums of all of them arrive at one place; more workers than that would have nothing to do


class Block(NamedTuple):
    """Rows with their classes and weights."""

    X: Matrix
    labels: LabelLists
    c: Doubles


class BlockSums(Protocol):
    """Sums over the rows of each block; see `RowBlocks` for what can be asked for."""

    def sums(self, method: str, *arguments: Any) -> Iterator[Any]:
        """What a method of `RowBlocks` finds of every block, in their order."""

    def close(self) -> None:
        """Let go of the rows."""


class RowBlocks:
    """Blocks of rows that are held by this process."""

    def __init__(self, blocks: Sequence[Block]):
        self.blocks = blocks

    def __len__(self) -> int:
        return len(self.blocks)

    def class_sums(self, places: Sequence[int], near: Doubles) -> Iterator[tuple[NDArray[np.int32], Doubles]]:
        """Of the blocks at these places, (their classes (m,), the sums of c_i (x_i - near) over each class (m, d))."""

        def of_tile(place: int, at: slice) -> tuple[NDArray[np.int32], Doubles]:
            X, labels, c = self.blocks[place]
            return _class_sums(center_rows(X, at, near), c[at], labels.take(at))

        tiles = {place: spans(len(self.blocks[place].c), TILE) for place in places}
        found = thread_map(lambda task: of_tile(*task), [(place, at) for place in places for at in tiles[place]])
        for place in places:
            classes = np.unique(self.blocks[place].labels.classes)
            sums = np.zeros((len(classes), len(near)))
            for _ in tiles[place]:
                some, part = next(found)
                sums[np.searchsorted(classes, some)] += part
            yield classes, sums

    def scatter(self, places: Sequence[int], mean: Doubles, columns: slice) -> Iterator[Doubles]:
        """Of the blocks at these places, some columns of sum c_i (x_i - mean)(x_i - mean)', from the diagonal down."""
        d = len(mean)

        def product(place: int, at: slice) -> Floats:
            X, _, c = self.blocks[place]

            def tile(rows: slice) -> Doubles:
                T = center_rows(X, rows, mean)
                return T if (c[rows] == 1).all() else np.multiply(T, np.sqrt(c[rows])[:, None], out=T)

            return panel_of(tile, columns)(at)

        tiles = {place: spans(len(self.blocks[place].c), _height(d)) for place in places}
        found = thread_map(lambda task: product(*task), [(place, at) for place in places for at in tiles[place]])
        for place in places:
            yield sum_panels(d, columns, (next(found) for _ in tiles[place]))

    def sums(self, method: str, *arguments: Any) -> Iterator[Any]:
        """What a method finds of every block, one after the other."""
        return iter(getattr(self, method)(range(len(self)), *arguments))

    def first(self, method: str, *arguments: Any) -> Any:
        """What a method finds of the block at a place, the last argument; None for no place."""
        *given, place = arguments
        return None if place is None else next(getattr(self, method)([place], *given))

    def close(self) -> None:
        """Nothing is held but views."""
        self.blocks = []


class SharedBlocks:
    """Blocks of rows that workers hold, every w-th of them each."""

    def __init__(self, workers: Workers, blocks: Sequence[Block]):
        self.count, self.shares = len(blocks), min(len(workers), len(blocks))
        self.group = workers.start(RowBlocks, [], [(blocks[i :: self.shares],) for i in range(self.shares)])

    def sums(self, method: str, *arguments: Any) -> Iterator[Any]:
        """What a method finds of every block: those of one round are found at the same time."""
        for start in range(0, self.count, self.shares):
            places = [start // self.shares if start + i < self.count else None for i in range(self.shares)]
            found = self.group.query("first", method, *arguments, each=[(place,) for place in places])
            yield from (one for one, place in zip(found, places, strict=True) if place is not None)

    def close(self) -> None:
        """End the workers' part."""
        self.group.close()


def open_blocks(X: Matrix, labels: LabelLists, c: Doubles) -> BlockSums:
    """The blocks of rows X (n, d) with their classes and weights (n,), shared out where there are workers."""
    workers, (n, d) = current_workers(), X.shape
    blocks = [Block(X.row_slice(at), labels.take(at), c[at]) for at in spans(n, block_rows(n, d))]
    return RowBlocks(blocks) if workers is None or len(blocks) < 2 else SharedBlocks(workers, blocks)


def block_rows(n: int, d: int) -> int:
    """Rows of a block, of n with d columns: as many whole tiles as are worth the way of their sums.

    >>> block_rows(100_000, 4096), block_rows(9_000_000, 4096)
    (8192, 141312)
    """
    height = _height(d)
    return height * max(1, -(-max(_BLOCK_ROWS, -(-n // _MOST_BLOCKS)) // height))


def _height(d: int) -> int:
    """Rows of a tile."""
    return max(TILE, _TILE_BYTES // (8 * d))


def _class_sums(T: Doubles, c: Doubles, labels: LabelLists) -> tuple[NDArray[np.int32], Doubles]:
    """(the classes of some rows T (m, d), the sums of c_i T_i over each)."""
    from scipy.sparse import csr_array

    classes, places = np.unique(labels.classes, return_inverse=True)
    # Ten times as fast as np.add.reduceat of sorted rows.
    return classes, csr_array((c[labels.rows], (places, labels.rows)), (len(classes), len(T))) @ T

"""Spatial pyramids: regions of an image, each with sums of its own, made from one pass over the descriptors.

Regions of different layouts overlap. They are unions of cells, which do not: a descriptor joins the sums of its cell,
and the sums of a region are those of its cells added up. A `Partition` says which rows are in which cell.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Partition(NamedTuple):
    """A partition of rows into n_cells cells: those of cell g are order[starts[g]:starts[g + 1]]."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    n_cells: int

    @classmethod
    def from_labels(cls, labels: NDArray[np.integer[Any]], n_cells: int) -> "Partition":
        """The partition by the cell, in [0, n_cells), of every row; rows of a cell keep their order.

        >>> Partition.from_labels(np.array([1, 0, 1]), 3)
        Partition(order=array([1, 0, 2]), starts=array([0, 1, 3, 3]), n_cells=3)
        """
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=n_cells))])
        return cls(np.argsort(labels, kind="stable").astype(np.int64), starts.astype(np.int64), n_cells)

    @classmethod
    def single(cls, n: int) -> "Partition":
        """All of n rows in one cell."""
        return cls(np.arange(n, dtype=np.int64), np.array([0, n], np.int64), 1)


_LAYOUT = re.compile(r"([1-9]\d?)x([1-9]\d?)")

MAX_CELLS = 1024  # sums are held for each; finer layouts hold less than one patch per cell


class Pyramid:
    """Regions of an image, layout by layout, and row by row in each.

    Every layout is a partition: a position belongs to exactly one of its regions, that on a border to the later one.

    Parameters
    ----------
    layouts : sequence of str
        "AxB" cuts an image into A rows and B columns.

    Attributes
    ----------
    n_regions : int
        Regions of all layouts.
    n_cells : int
        Cells, of which all regions are unions.

    Examples
    --------
    >>> pyramid = Pyramid(("1x1", "3x1"))
    >>> pyramid.n_regions, pyramid.n_cells
    (4, 3)
    """

    def __init__(self, layouts: Sequence[str]):
        self.grids = [_parse_layout(layout) for layout in _check_layouts(layouts)]
        self.n_regions = sum(rows * columns for rows, columns in self.grids)
        x, y = (_intervals([grid[axis] for grid in self.grids]) for axis in (1, 0))
        self._cuts = x[0], y[0]
        self.n_cells = len(x[1]) * len(y[1])
        if self.n_cells > MAX_CELLS:
            raise ValueError(f"pyramid must cut an image into at most {MAX_CELLS} cells; got {self.n_cells}")
        self._cells_of_region = self._find_cells(x[1], y[1])

    def partition(self, positions: NDArray[np.float32]) -> Partition:
        """Find the cells of positions.

        Parameters
        ----------
        positions : ndarray of float32 of shape (m, 2)
            Fractions (x, y) of width and height.

        Returns
        -------
        Partition
            The rows of each cell.
        """
        if self.n_cells == 1:
            return Partition.single(len(positions))
        x, y = (np.searchsorted(cuts, positions[:, axis], side="right") for axis, cuts in enumerate(self._cuts))
        return Partition.from_labels(y * (len(self._cuts[0]) + 1) + x, self.n_cells)

    def sum_regions(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up the cells of every region.

        Parameters
        ----------
        sums : ndarray of float64 of shape (n_cells, ...)
            Sums over cells.

        Returns
        -------
        ndarray of float64 of shape (n_regions, ...)
            Sums over regions.
        """
        if self.n_cells == 1:
            return np.broadcast_to(sums, (self.n_regions, *sums.shape[1:]))
        return np.stack([sums[cells].sum(axis=0) for cells in self._cells_of_region])

    def _find_cells(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> list[NDArray[np.intp]]:
        """The cells of every region; x and y are the middles of the intervals between cuts."""
        regions = []
        for rows, columns in self.grids:
            at = (y * rows).astype(int)[:, None] * columns + (x * columns).astype(int)
            regions += [np.flatnonzero(at == region) for region in range(rows * columns)]
        return regions


def _check_layouts(layouts: Sequence[str]) -> Sequence[str]:
    if isinstance(layouts, str) or not len(layouts):
        raise ValueError(f"pyramid must be a sequence of layouts such as ('1x1', '3x1'); got {layouts!r}")
    return layouts


def _parse_layout(layout: str) -> tuple[int, int]:
    found = _LAYOUT.fullmatch(layout) if isinstance(layout, str) else None
    if not found:
        raise ValueError(f"pyramid must hold layouts such as '3x1', rows by columns; got {layout!r}")
    return int(found[1]), int(found[2])


def _intervals(counts: list[int]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The inner cuts of [0, 1] into p intervals for every p, and the middles of what is between them."""
    cuts = np.unique(np.concatenate([np.arange(1, p, dtype=np.float32) / np.float32(p) for p in counts]))
    ends = np.concatenate([[0.0], cuts.astype(np.float64), [1.0]])
    return cuts, (ends[1:] + ends[:-1]) / 2

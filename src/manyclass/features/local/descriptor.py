"""What a local descriptor gives: numbers for each of many patches of an image, and where the patches are.

Where patches lie: a pyramid of sizes a factor sqrt(2) apart, and on each a regular grid.
"""

from collections.abc import Callable
from math import gcd
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count


class LocalDescriptors(NamedTuple):
    """m patches of one image.

    `values` (m, D) float32 holds what is known of each patch, `positions` (m, 2) float32 its center (x, y) as shares
    of the width and height of the image, in [0, 1]. An image that is too small for a single patch has m = 0.
    """

    values: NDArray[np.float32]
    positions: NDArray[np.float32]


class Descriptor(Protocol):
    """A way to describe patches: `dimension` numbers for each. The same image gives the same bits, always."""

    @property
    def dimension(self) -> int:
        """D, the numbers per patch."""

    def describe(self, image: NDArray[np.uint8]) -> LocalDescriptors:
        """The patches of an image (h, w, 3) of 8-bit red, green and blue."""


def check_image(image: Any) -> NDArray[np.uint8]:
    """The image as a C-ordered array, if it is (h, w, 3) of bytes."""
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(f"image must be uint8 of shape (height, width, 3); got {image.dtype} of shape {image.shape}")
    return np.ascontiguousarray(image)


class GridLine(NamedTuple):
    """Patches along one axis: `number` of them, `step` pixels apart, the first one at pixel `first`."""

    first: int
    step: int
    number: int


# values_of(height, width, rows, columns): the patches (m, D) of the image at that size, row by row.
ValuesOf = Callable[[int, int, GridLine, GridLine], NDArray[np.float32]]


class PatchGrid:
    """Square patches of 4 x 4 cells, `step` pixels apart, at `scales` sizes of the image.

    Scale j is the image at 2^(-j/2) of its size, with patches of the same number of pixels there. `patch` is their
    side, which 4 must divide.
    """

    def __init__(self, step: int, scales: int, patch: int):
        self.step = check_count(step, "step", 1, 10_000)
        self.scales = check_count(scales, "scales", 1, 20)
        self.patch = check_count(patch, "patch", 4, 128)
        if patch % 4:
            raise ValueError(f"patch must be a multiple of 4; got {patch}")

    @property
    def cell(self) -> int:
        """Pixels along a cell."""
        return self.patch // 4

    def sizes(self, height: int, width: int, least: int) -> list[tuple[int, int]]:
        """Height and width of each scale, as far as both are `least` pixels or more.

        >>> Grid(6, 3, 24).sizes(100, 40, 24)
        [(100, 40), (71, 28)]
        """
        shares = [2 ** (-j / 2) for j in range(self.scales)]
        sizes = [(round(height * share), round(width * share)) for share in shares]
        return [size for size in sizes if min(size) >= least]

    def line(self, length: int, extent: int) -> GridLine:
        """Patches of `extent` pixels along `length`; what is left over is divided between both ends.

        >>> Grid(6, 1, 24).line(45, 19)
        Line(first=1, step=6, number=5)
        """
        room = length - extent
        return GridLine(room % self.step // 2, self.step, room // self.step + 1)

    @property
    def pitch(self) -> int:
        """Pixels between neighboring cells on the lattice that holds the cells of all patches."""
        return gcd(self.step, self.cell)

    def cells(self, rows: GridLine, columns: GridLine) -> NDArray[np.float32]:
        """Room for all cells of a grid of patches, 8 numbers each."""
        number = [((line.number - 1) * self.step + 3 * self.cell) // self.pitch + 1 for line in (rows, columns)]
        return np.empty((*number, 8), np.float32)

    def describe(self, height: int, width: int, extent: int, values_of: ValuesOf, dimension: int) -> LocalDescriptors:
        """Patches of `extent` pixels at every scale, large to small, as `values_of` describes those of one scale."""
        values, places = [np.empty((0, dimension), np.float32)], [np.empty((0, 2), np.float32)]
        for h, w in self.sizes(height, width, extent):
            rows, columns = self.line(h, extent), self.line(w, extent)
            values.append(values_of(h, w, rows, columns))
            places.append(patch_positions(rows, columns, h, w, extent))
        return LocalDescriptors(np.concatenate(values), np.concatenate(places))


def patch_positions(rows: GridLine, columns: GridLine, height: int, width: int, extent: int) -> NDArray[np.float32]:
    """Centers (x, y) of patches as shares of the image, row by row; pixel i covers [i, i + 1)."""
    x = (columns.first + columns.step * np.arange(columns.number) + extent / 2) / width
    y = (rows.first + rows.step * np.arange(rows.number) + extent / 2) / height
    grid: NDArray[Any] = np.stack(np.meshgrid(x, y), axis=-1)
    return grid.reshape(-1, 2).astype(np.float32)

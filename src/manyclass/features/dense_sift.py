"""Dense SIFT: histograms of the directions of gradients in patches on a regular grid, at several scales.

The geometry is that of VLFeat's dense SIFT with a flat window. A patch has 4 x 4 cells, whose centers are pixels `cell`
apart. A pixel votes with the length of its gradient, shared linearly between the nearest of 8 directions and between
the nearest cells; the Gaussian window that would weigh pixels by their distance from the center of the patch (standard
deviation: two cells) is replaced by its mean over each cell.
"""

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._checks import nonnegative
from manyclass.features.grid import Grid, Line
from manyclass.features.local import LocalDescriptors, checked_image
from manyclass.features.resampling import resize, smooth

_GRAY = np.array([0.299, 0.587, 0.114], np.float32) / np.float32(255)


class DenseSift:
    """128 numbers for each patch of `patch` pixels, `step` pixels apart, at `scales` sizes of the gray image.

    Sizes are a factor sqrt(2) apart, patches come by size from large to small, row by row, and their numbers in the
    order y, x, direction; directions are 45 degrees apart from right to down. A patch is of unit length, cut at 0.2,
    and of unit length again; with `root` it holds the square roots of its shares (RootSIFT). Where the mean gradient
    is less than `contrast` (white less black, per pixel) it is all zeros; the default keeps everything but rounding.
    `smoothing` is the standard deviation, in pixels, of a Gaussian applied to every size before gradients are taken.

    >>> DenseSift(step=6, scales=2).describe(np.zeros((38, 38, 3), np.uint8)).values.shape
    (20, 128)
    """

    dimension = 128

    def __init__(
        self,
        step: int = 6,
        scales: int = 5,
        patch: int = 24,
        root: bool = False,
        *,
        contrast: float = 1e-5,
        smoothing: float = 0.0,
    ):
        self.grid, self.root = Grid(step, scales, patch), bool(root)
        self.contrast, self.smoothing = nonnegative(contrast, "contrast"), nonnegative(smoothing, "smoothing")

    def describe(self, image: NDArray[np.uint8]) -> LocalDescriptors:
        """The patches of an image (h, w, 3); none if it has fewer than 3 patch / 4 + 1 pixels along a side."""
        gray = gray_of(checked_image(image))

        def values_of(h: int, w: int, rows: Line, columns: Line) -> NDArray[np.float32]:
            return self._patches(smooth(resize(gray, h, w), self.smoothing), rows, columns)

        return self.grid.describe(gray.shape[0], gray.shape[1], 3 * self.grid.cell + 1, values_of, self.dimension)

    def _patches(self, gray: NDArray[np.float32], rows: Line, columns: Line) -> NDArray[np.float32]:
        cell, step, pitch = self.grid.cell, self.grid.step, self.grid.pitch
        profile = (1 - np.abs(np.arange(1 - cell, cell)) / cell).astype(np.float32)
        cells = self.grid.cells(rows, columns)
        top, left = rows.first - cell + 1, columns.first - cell + 1
        _native.orientation_cells(gray, (top, pitch), (left, pitch), profile, cells)
        out = np.empty((rows.number, columns.number, 128), np.float32)
        least = self.contrast * self.grid.patch**2
        _native.sift_of_cells(cells, cell // pitch, step // pitch, _window(cell), least, self.root, out)
        return out.reshape(-1, 128)


def gray_of(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Lightness in [0, 1]."""
    gray: NDArray[np.float32] = image[..., 0] * _GRAY[0]
    gray += image[..., 1] * _GRAY[1]
    gray += image[..., 2] * _GRAY[2]
    return gray


def _window(cell: int) -> NDArray[np.float32]:
    """The mean over each of the 16 cells of a Gaussian around the center of the patch."""
    pixels = np.arange(1 - cell, cell)
    centers = cell * (np.arange(4) - 1.5)
    along = np.exp(-0.5 * ((pixels + centers[:, None]) / (2 * cell)) ** 2).mean(axis=1)
    return np.outer(along, along).ravel().astype(np.float32)

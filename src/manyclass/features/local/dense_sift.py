"""Dense SIFT: histograms of the directions of gradients in patches on a regular grid, at several scales.

The geometry is that of VLFeat's dense SIFT with a flat window. A patch has 4 x 4 cells, whose centers are pixels `cell`
apart. A pixel votes with the length of its gradient, shared linearly between the nearest of 8 directions and between
the nearest cells; the Gaussian window that would weigh pixels by their distance from the center of the patch (standard
deviation: two cells) is replaced by its mean over each cell.
"""

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import check_nonnegative
from manyclass.features.images.pixels import resize, smooth
from manyclass.features.local.descriptor import (
    GridLevel,
    LocalDescriptors,
    PatchGrid,
    check_image,
    describe_levels,
)

_GRAY = np.array([0.299, 0.587, 0.114], np.float32) / np.float32(255)  # luma of ITU-R BT.601


class DenseSift:
    """Histograms of the directions of gradients, 128 numbers for each patch of the gray image.

    Sizes are a factor sqrt(2) apart, patches come by size from large to small, row by row, and their numbers in the
    order y, x, direction; directions are 45 degrees apart from right to down. A patch is of unit length, cut at 0.2,
    and of unit length again.

    Parameters
    ----------
    step : int, default=6
        Pixels between neighboring patches.
    scales : int, default=5
        The number of sizes of the image.
    patch : int, default=24
        The side of a patch in pixels, a multiple of 4.
    root : bool, default=False
        Whether a patch holds the square roots of its fractions (RootSIFT).
    contrast : float, default=1e-5
        Where the mean gradient (white less black, per pixel) is less, a patch is all zeros; the default keeps
        everything but rounding.
    smoothing : float, default=0.0
        The standard deviation, in pixels, of a Gaussian applied to every size before gradients are taken.

    Examples
    --------
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
        self.grid, self.root = PatchGrid(step, scales, patch), bool(root)
        self.contrast = check_nonnegative(contrast, "contrast")
        self.smoothing = check_nonnegative(smoothing, "smoothing")

    def describe(self, image: NDArray[np.uint8]) -> LocalDescriptors:
        """Describe the patches of an image.

        Parameters
        ----------
        image : ndarray of uint8 of shape (h, w, 3)
            Red, green and blue.

        Returns
        -------
        LocalDescriptors
            128 numbers for each patch; no patch if the image has fewer than 3 patch / 4 + 1 pixels along a side.
        """
        image = check_image(image)
        levels = self.grid.levels(image.shape[0], image.shape[1], 3 * self.grid.cell + 1)
        return describe_levels(levels, self.dimension, partial(self._describe_level, to_gray(image)))

    def _describe_level(self, image: NDArray[np.float32], level: GridLevel, out: NDArray[np.float32]) -> None:
        gray = smooth(resize(image, level.height, level.width), self.smoothing)
        cell, step, pitch = self.grid.cell, self.grid.step, self.grid.pitch
        profile = (1 - np.abs(np.arange(1 - cell, cell)) / cell).astype(np.float32)
        cells = np.empty((*level.lattice, 8), np.float32)
        top, left = level.rows.first - cell + 1, level.columns.first - cell + 1
        _native.orientation_cells(gray, (top, pitch), (left, pitch), profile, cells)
        least = self.contrast * self.grid.patch**2
        _native.sift_of_cells(cells, cell // pitch, step // pitch, _window(cell), least, self.root, out)


def to_gray(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Lightness in [0, 1]."""
    gray = np.empty(image.shape[:2], np.float32)
    _native.gray_of_colors(image, _GRAY, gray)
    return gray


@lru_cache(maxsize=64)
def _window(cell: int) -> NDArray[np.float32]:
    """The mean over each of the 16 cells of a Gaussian around the center of the patch."""
    pixels = np.arange(1 - cell, cell)
    centers = cell * (np.arange(4) - 1.5)
    along = np.exp(-0.5 * ((pixels + centers[:, None]) / (2 * cell)) ** 2).mean(axis=1)
    return np.outer(along, along).ravel().astype(np.float32)

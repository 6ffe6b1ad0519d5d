"""Local color statistics: mean and standard deviation of red, green and blue in the cells of patches."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass.features.images.pixels import resize
from manyclass.features.local.descriptor import (
    GridLevel,
    LocalDescriptors,
    PatchGrid,
    check_image,
    describe_levels,
)


class LocalColor:
    """Means and deviations of colors, 96 numbers for each patch.

    A patch has 4 x 4 cells of patch / 4 pixels along a side. Their numbers come row by row, and of each the means of
    red, green and blue, then the standard deviations (over the pixels of the cell), in [0, 1]. Sizes are a factor
    sqrt(2) apart, their pixels rounded to 8 bits; patches come by size from large to small, row by row, and lie within
    the image.

    Parameters
    ----------
    step : int, default=6
        Pixels between neighboring patches.
    scales : int, default=5
        The number of sizes of the image.
    patch : int, default=24
        The side of a patch in pixels, a multiple of 4.

    Examples
    --------
    >>> white = LocalColor(scales=1).describe(np.full((24, 24, 3), 255, np.uint8))
    >>> white.values[0, :6].tolist()
    [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """

    dimension = 96

    def __init__(self, step: int = 6, scales: int = 5, patch: int = 24):
        self.grid = PatchGrid(step, scales, patch)

    def describe(self, image: NDArray[np.uint8]) -> LocalDescriptors:
        """Describe the patches of an image.

        Parameters
        ----------
        image : ndarray of uint8 of shape (h, w, 3)
            Red, green and blue.

        Returns
        -------
        LocalDescriptors
            96 numbers for each patch; no patch if the image has fewer than `patch` pixels along a side.
        """
        image = check_image(image)
        levels = self.grid.levels(image.shape[0], image.shape[1], self.grid.patch)
        return describe_levels(levels, self.dimension, partial(self._describe_level, image))

    def _describe_level(self, image: NDArray[np.uint8], level: GridLevel, out: NDArray[np.float32]) -> None:
        cell, step, pitch = self.grid.cell, self.grid.step, self.grid.pitch
        sums = np.empty((*level.lattice, 8), np.float32)
        small = resize(image, level.height, level.width)
        top, left = level.rows.first, level.columns.first
        _native.color_cells(small, (top, pitch), (left, pitch), np.ones(cell, np.float32), sums)
        _native.color_of_cells(sums, cell // pitch, step // pitch, cell * cell, out)

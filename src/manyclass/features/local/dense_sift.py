"""Dense SIFT: histograms of the directions of gradients in patches on a regular grid, at several scales.

The geometry is that of VLFeat's dense SIFT with a flat window. A patch has 4 x 4 cells, whose centers are pixels `cell`
apart. A pixel votes with the length of its gradient, shared linearly between the nearest of 8 directions and between
the nearest cells; the Gaussian window that would weigh pixels by their distance from the center of the patch (standard
deviation: two cells) is replaced by its mean over each cell.

`resize` and `smooth` make each pixel a weighted sum of its neighbors, along y and along x.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import check_nonnegative
from manyclass.features.local.descriptor import (
    GridLevel,
    LocalDescriptors,
    PatchGrid,
    check_image,
    concatenate_descriptors,
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
        gray = to_gray(image)
        values = [self._describe_level(gray, level) for level in levels]
        return concatenate_descriptors(values, [level.positions for level in levels], self.dimension)

    def _describe_level(self, image: NDArray[np.float32], level: GridLevel) -> NDArray[np.float32]:
        gray = smooth(resize(image, level.height, level.width), self.smoothing)
        cell, step, pitch = self.grid.cell, self.grid.step, self.grid.pitch
        profile = (1 - np.abs(np.arange(1 - cell, cell)) / cell).astype(np.float32)
        cells = np.empty((*level.lattice, 8), np.float32)
        top, left = level.rows.first - cell + 1, level.columns.first - cell + 1
        _native.orientation_cells(gray, (top, pitch), (left, pitch), profile, cells)
        out = np.empty((level.rows.number, level.columns.number, 128), np.float32)
        least = self.contrast * self.grid.patch**2
        _native.sift_of_cells(cells, cell // pitch, step // pitch, _window(cell), least, self.root, out)
        return out.reshape(-1, 128)


def to_gray(image: NDArray[np.uint8]) -> NDArray[np.float32]:
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


# Entry i of an axis is sum_t weights[t, i] * entry starts[i] + t.
Band = tuple[NDArray[np.int32], NDArray[np.float32]]


def resize(image: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """A float32 image (h, w) or (h, w, c) at another size, by cubic interpolation; what would alias is smoothed away.

    >>> resize(np.ones((8, 6), np.float32), 4, 3).shape
    (4, 3)
    """
    if image.shape[:2] == (height, width):
        return image
    return _resample(image, _cubic(image.shape[0], height), _cubic(image.shape[1], width))


def smooth(image: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    """A float32 image (h, w) or (h, w, c), convolved with a Gaussian of `sigma` pixels; 0 leaves it as it is."""
    if sigma == 0:
        return image
    return _resample(image, _gaussian(image.shape[0], sigma), _gaussian(image.shape[1], sigma))


def _resample(image: NDArray[np.float32], rows: Band, columns: Band) -> NDArray[np.float32]:
    shape = (len(rows[0]), len(columns[0]), *image.shape[2:])
    out = np.empty(shape, np.float32)
    channels = image.shape[2] if image.ndim == 3 else 1
    planes = np.ascontiguousarray(image).reshape(*image.shape[:2], channels)
    _native.resample(planes, *rows, *columns, out.reshape(*shape[:2], channels))
    return out


@lru_cache(maxsize=512)
def _cubic(n: int, m: int) -> Band:
    """From n entries to m, by Keys' cubic kernel, which is stretched where entries become fewer."""
    centers = (np.arange(m) + 0.5) * n / m - 0.5
    scale = max(1.0, n / m)
    return _band(n, centers, 2 * scale, lambda away: _keys(away / scale))


@lru_cache(maxsize=512)
def _gaussian(n: int, sigma: float) -> Band:
    return _band(n, np.arange(n, dtype=np.float64), 4 * sigma, lambda away: np.exp(-0.5 * (away / sigma) ** 2))


def _band(n: int, centers: NDArray[np.float64], reach: float, kernel: Callable[[NDArray[Any]], NDArray[Any]]) -> Band:
    """Weights kernel(distance) of the entries within `reach` of each center; they add up to 1, also at the ends."""
    taps = min(n, int(np.ceil(2 * reach)) + 1)
    starts = np.clip(np.ceil(centers - reach).astype(np.int32), 0, n - taps)
    weights = kernel(np.abs(starts + np.arange(taps)[:, None] - centers))
    return starts, (weights / weights.sum(axis=0)).astype(np.float32)


def _keys(x: NDArray[np.float64]) -> NDArray[np.float64]:
    near, far = 1 + x * x * (1.5 * x - 2.5), 2 + x * (-4 + x * (2.5 - 0.5 * x))
    values: NDArray[np.float64] = np.where(x < 1, near, np.where(x < 2, far, 0.0))
    return values

"""Local descriptors: numbers for each of many patches of an image, where the patches lie, and samples of many images.

Patches lie on regular grids, on copies of the image whose sizes are a factor sqrt(2) apart. From samples vocabularies
and mixtures are learned.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import gcd
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_count
from manyclass._core.parallel import thread_map
from manyclass._core.typing import Report
from manyclass.features.images.decoding import read_image
from manyclass.features.images.pixels import ImageError

MAX_IMAGES = 5000  # to read more takes longer and changes little: a quarter of a million descriptors are 50 of each

_ROOM = 1 << 18  # rows of a sample that memory is asked for at first; what is not written to is never given


class LocalDescriptors(NamedTuple):
    """The patches of one image, m of them; an image that is too small for a single patch has m = 0.

    Parameters
    ----------
    values : ndarray of float32 of shape (m, D)
        What is known of each patch.
    positions : ndarray of float32 of shape (m, 2)
        Its center (x, y) as fractions of the width and height of the image, in [0, 1].
    """

    values: NDArray[np.float32]
    positions: NDArray[np.float32]

    def draw(self, n: int, rng: np.random.Generator) -> "LocalDescriptors":
        """Draw some of the patches by chance; they keep their order.

        Parameters
        ----------
        n : int
            How many; all, if there are no more.
        rng : numpy.random.Generator
            The source of chance.

        Returns
        -------
        LocalDescriptors
            The patches.
        """
        if len(self.values) <= n:
            return self
        rows = np.sort(rng.choice(len(self.values), n, replace=False))
        return LocalDescriptors(self.values[rows], self.positions[rows])


class Descriptor(Protocol):
    """A way to describe patches: `dimension` numbers for each. The same image gives the same bits, always."""

    @property
    def dimension(self) -> int:
        """D, the numbers per patch."""

    def describe(self, image: NDArray[np.uint8]) -> LocalDescriptors:
        """Describe the patches of an image.

        Parameters
        ----------
        image : ndarray of uint8 of shape (h, w, 3)
            Red, green and blue.

        Returns
        -------
        LocalDescriptors
            The numbers and the places of the patches.
        """


class GridLine(NamedTuple):
    """Patches along one axis: `number` of them, `step` pixels apart, the first one at pixel `first`."""

    first: int
    step: int
    number: int


class GridLevel(NamedTuple):
    """The patches of one size of the image, (height, width).

    They lie on `rows` x `columns`, have their centers at `positions` (m, 2), and their cells on a common lattice of
    `lattice` (rows, columns).
    """

    height: int
    width: int
    rows: GridLine
    columns: GridLine
    positions: NDArray[np.float32]
    lattice: tuple[int, int]


class PatchGrid:
    """Square patches of 4 x 4 cells, on copies of the image whose sizes are a factor sqrt(2) apart.

    Scale j is the image at 2^(-j/2) of its size, with patches of the same number of pixels there.

    Parameters
    ----------
    step : int
        Pixels between neighboring patches.
    scales : int
        The number of sizes of the image.
    patch : int
        The side of a patch in pixels, a multiple of 4.

    Attributes
    ----------
    cell : int
        The side of a cell in pixels.
    pitch : int
        Pixels between neighbors on the lattice that holds the cells of all patches.
    """

    def __init__(self, step: int, scales: int, patch: int):
        self.step = check_count(step, "step", 1, 10_000)
        self.scales = check_count(scales, "scales", 1, 20)
        self.patch = check_count(patch, "patch", 4, 128)
        if patch % 4:
            raise ValueError(f"patch must be a multiple of 4; got {patch}")
        self.cell = self.patch // 4
        self.pitch = gcd(self.step, self.cell)

    def levels(self, height: int, width: int, extent: int) -> list[GridLevel]:
        """Lay patches on every scale that has room for one, large to small.

        Parameters
        ----------
        height, width : int
            The size of the image in pixels.
        extent : int
            Pixels along a side that a patch needs.

        Returns
        -------
        list of GridLevel
            The patches of each scale; positions are not to be written to, as images of one size share them.
        """
        return list(_grid_levels(self.step, self.scales, self.patch, height, width, extent))

    def sizes(self, height: int, width: int, least: int) -> list[tuple[int, int]]:
        """Compute height and width of each scale, as far as both are `least` pixels or more.

        Parameters
        ----------
        height, width : int
            The size of the image in pixels.
        least : int
            The smallest size of interest.

        Returns
        -------
        list of tuple of int
            (height, width), large to small.

        Examples
        --------
        >>> PatchGrid(6, 3, 24).sizes(100, 40, 24)
        [(100, 40), (71, 28)]
        """
        scales = [2 ** (-j / 2) for j in range(self.scales)]
        sizes = [(round(height * scale), round(width * scale)) for scale in scales]
        return [size for size in sizes if min(size) >= least]

    def line(self, length: int, extent: int) -> GridLine:
        """Lay patches along one axis; what is left over is divided between both ends.

        Parameters
        ----------
        length : int
            Pixels of the axis.
        extent : int
            Pixels that a patch needs.

        Returns
        -------
        GridLine
            The first pixel, the step and the number of patches.

        Examples
        --------
        >>> PatchGrid(6, 1, 24).line(45, 19)
        GridLine(first=1, step=6, number=5)
        """
        room = length - extent
        return GridLine(room % self.step // 2, self.step, room // self.step + 1)


@lru_cache(maxsize=64)
def _grid_levels(step: int, scales: int, patch: int, height: int, width: int, extent: int) -> tuple[GridLevel, ...]:
    """The levels of images of one size, of which a folder has many."""
    grid = PatchGrid(step, scales, patch)
    return tuple(_grid_level(grid, h, w, extent) for h, w in grid.sizes(height, width, extent))


def _grid_level(grid: PatchGrid, height: int, width: int, extent: int) -> GridLevel:
    rows, columns = grid.line(height, extent), grid.line(width, extent)
    lattice = [((line.number - 1) * grid.step + 3 * grid.cell) // grid.pitch + 1 for line in (rows, columns)]
    positions = patch_positions(rows, columns, height, width, extent)
    positions.setflags(write=False)
    return GridLevel(height, width, rows, columns, positions, (lattice[0], lattice[1]))


def patch_positions(rows: GridLine, columns: GridLine, height: int, width: int, extent: int) -> NDArray[np.float32]:
    """Centers (x, y) of patches as fractions of the image, row by row; pixel i covers [i, i + 1)."""
    grid = np.empty((rows.number, columns.number, 2), np.float32)
    grid[..., 0] = (columns.first + columns.step * np.arange(columns.number) + extent / 2) / width
    grid[..., 1] = ((rows.first + rows.step * np.arange(rows.number) + extent / 2) / height)[:, None]
    return grid.reshape(-1, 2)


def describe_levels(
    levels: Sequence[GridLevel], dimension: int, describe: Callable[[GridLevel, NDArray[np.float32]], None]
) -> LocalDescriptors:
    """Patches of all levels, one after the other; describe(level, out) fills out (rows, columns, dimension)."""
    ends = np.cumsum([0, *(len(level.positions) for level in levels)])
    values = np.empty((ends[-1], dimension), np.float32)
    for level, begin, end in zip(levels, ends, ends[1:], strict=False):
        describe(level, values[begin:end].reshape(level.rows.number, level.columns.number, dimension))
    # A copy, as levels are shared.
    positions = np.concatenate([np.empty((0, 2), np.float32), *(level.positions for level in levels)])
    return LocalDescriptors(values, positions)


def check_image(image: Any) -> NDArray[np.uint8]:
    """The image as a C-ordered array, if it is (h, w, 3) of bytes."""
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(f"image must be uint8 of shape (height, width, 3); got {image.dtype} of shape {image.shape}")
    return np.ascontiguousarray(image)


class DescriptorSample(NamedTuple):
    """Rows that were drawn for every descriptor, and (position, reason) of the images that could not be read."""

    descriptors: list[LocalDescriptors]
    skipped: list[tuple[int, str]]


def sample_descriptors(
    images: Sequence[Any],
    descriptors: Sequence[Descriptor],
    n_samples: int,
    max_pixels: int,
    seed: int,
    progress: Report | None = None,
) -> DescriptorSample:
    """Draw about n_samples rows of every descriptor, as many from each of at most 5,000 images.

    Images are drawn by chance, as are the rows of each; an image that cannot be read is left out.
    """
    n = len(images)
    drawn = np.sort(np.random.default_rng(seed).permutation(n)[:MAX_IMAGES])
    per_image = -(-n_samples // max(1, len(drawn)))

    def draw_from(position: int) -> list[LocalDescriptors] | str:
        try:
            image = read_image(images[position], max_pixels)
        except ImageError as error:
            return str(error)
        rng = np.random.default_rng((seed, position))
        return [descriptor.describe(image).draw(per_image, rng) for descriptor in descriptors]

    room = [_SampleRoom(descriptor.dimension) for descriptor in descriptors]
    skipped: list[tuple[int, str]] = []
    if progress:
        progress(0, len(drawn))
    results = thread_map(draw_from, drawn.tolist())
    for done, (position, result) in enumerate(zip(drawn.tolist(), results, strict=True), 1):
        if isinstance(result, str):
            skipped.append((position, result))
        else:
            for rows, local in zip(room, result, strict=True):
                rows.append(local)
        if progress:
            progress(done, len(drawn))
    return DescriptorSample([rows.filled() for rows in room], skipped)


class _SampleRoom:
    """Room for rows, so that those of many images need not be copied together when all are there."""

    def __init__(self, dimension: int):
        self._values, self._positions = np.empty((_ROOM, dimension), np.float32), np.empty((_ROOM, 2), np.float32)
        self._count = 0

    def append(self, local: LocalDescriptors) -> None:
        at = slice(self._count, self._count + len(local.values))
        if at.stop > len(self._values):
            self._values, self._positions = _doubled(self._values, at.stop), _doubled(self._positions, at.stop)
        self._values[at], self._positions[at], self._count = local.values, local.positions, at.stop

    def filled(self) -> LocalDescriptors:
        return LocalDescriptors(self._values[: self._count], self._positions[: self._count])


def _doubled(rows: NDArray[np.float32], least: int) -> NDArray[np.float32]:
    more = np.empty((max(least, 2 * len(rows)), rows.shape[1]), np.float32)
    more[: len(rows)] = rows
    return more

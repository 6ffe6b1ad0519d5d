"""Dense SIFT (a first form: the numbers are to come)."""

import numpy as np
from numpy.typing import NDArray

from manyclass.features.grid import Grid, positions
from manyclass.features.local import LocalDescriptors, checked_image


class DenseSift:
    """128 numbers for each patch."""

    dimension = 128

    def __init__(self, step: int = 6, scales: int = 5, patch: int = 24, root: bool = False):
        self.grid, self.root = Grid(step, scales, patch), root

    def describe(self, image: NDArray[np.uint8]) -> LocalDescriptors:
        """The patches of an image."""
        image = checked_image(image)
        extent = 3 * self.grid.cell + 1
        places = [np.empty((0, 2), np.float32)]
        for h, w in self.grid.sizes(image.shape[0], image.shape[1], extent):
            places.append(positions(self.grid.line(h, extent), self.grid.line(w, extent), h, w, extent))
        where = np.concatenate(places)
        # Numbers that depend on the image and nothing else, so that others can build on the shapes.
        rng = np.random.default_rng(int(image.sum()))
        values = np.abs(rng.normal(size=(len(where), self.dimension))).astype(np.float32)
        return LocalDescriptors(values / np.linalg.norm(values, axis=1, keepdims=True), where)

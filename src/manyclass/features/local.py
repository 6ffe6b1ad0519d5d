"""What a local descriptor gives: numbers for each of many patches of an image, and where the patches are."""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


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


def checked_image(image: Any) -> NDArray[np.uint8]:
    """The image as a C-ordered array, if it is (h, w, 3) of bytes."""
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(f"image must be uint8 of shape (height, width, 3); got {image.dtype} of shape {image.shape}")
    return np.ascontiguousarray(image)

"""read_image: any picture as pixels, or one sentence that says why not."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass import _checks
from manyclass.features.image_errors import ImageError
from manyclass.features.image_files import MOST_LIMIT, decoded, opened
from manyclass.features.pixel_arrays import as_picture
from manyclass.features.shrinking import shrunk

Pixels = NDArray[np.uint8]  # (h, w, 3), red, green and blue

__all__ = ["ImageError", "Pixels", "read_image"]


def read_image(source: Any, max_pixels: int = 100_000, max_source_pixels: int = 50_000_000) -> Pixels:
    """Read the pixels of an image, shrunk to a number of pixels with its proportions kept.

    Images are rotated as their EXIF orientation says, transparent parts become white, 16 bits are scaled to 8, and the
    first of several frames is taken.

    Parameters
    ----------
    source : path-like, PIL.Image.Image or array
        Path of a JPEG, PNG, WebP, GIF, BMP or TIFF file, an image of Pillow, or an array: gray (h, w) or (h, w, 1),
        gray and alpha (h, w, 2), RGB (h, w, 3) or RGBA (h, w, 4), of uint8, uint16, bool, or floats in [0, 1].
    max_pixels : int, default=100_000
        Number of pixels to which larger images are shrunk.
    max_source_pixels : int, default=50_000_000
        Largest number of pixels of a file (half as many for WebP), at most 150 million; larger files are not decoded.

    Returns
    -------
    ndarray of shape (height, width, 3), uint8
        Red, green and blue.

    Raises
    ------
    ImageError
        If the file or array cannot be used; nothing else is raised for the contents of a file.

    Examples
    --------
    >>> read_image(np.ones((500, 2000)))[0, 0], read_image(np.ones((500, 2000))).shape
    (array([255, 255, 255], dtype=uint8), (158, 632, 3))
    """
    most = _checks.count(max_pixels, "max_pixels")
    if isinstance(source, str | bytes | os.PathLike):
        return decoded(source, most, _checks.count(max_source_pixels, "max_source_pixels", most=MOST_LIMIT))
    if isinstance(source, Image.Image):
        return opened(source, most)
    return np.asarray(shrunk(as_picture(source), most)).copy()

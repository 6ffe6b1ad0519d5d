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


def read_image(source: Any, max_pixels: int = 100_000, limit: int = 50_000_000) -> Pixels:
    """The pixels (h, w, 3) of a picture, shrunk to at most max_pixels with its proportions kept.

    `source` is the path of a JPEG, PNG, WebP, GIF, BMP or TIFF file, an image of Pillow, or an array: gray (h, w) or
    (h, w, 1), with alpha (h, w, 2), colors (h, w, 3), with alpha (h, w, 4); bytes, 16-bit, bool, or floats in [0, 1].
    Pictures stand upright as their EXIF says, what is transparent becomes white, 16 bits are scaled to 8, and of
    several frames the first is taken. ImageError says what is wrong with a file, also with one of more than `limit`
    pixels (half of that for WebP); nothing else is raised for what is in it.

    >>> read_image(np.ones((500, 2000)))[0, 0], read_image(np.ones((500, 2000))).shape
    (array([255, 255, 255], dtype=uint8), (158, 632, 3))
    """
    most = _checks.count(max_pixels, "max_pixels")
    if isinstance(source, str | bytes | os.PathLike):
        return decoded(source, most, _checks.count(limit, "limit", most=MOST_LIMIT))
    if isinstance(source, Image.Image):
        return opened(source, most)
    return np.asarray(shrunk(as_picture(source), most)).copy()

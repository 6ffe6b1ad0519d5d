"""Pictures that are arrays."""

from typing import Any

import numpy as np
from PIL import Image

from manyclass.features.color_modes import eight_bits
from manyclass.features.image_errors import ImageError

_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def as_picture(array: Any) -> Image.Image:
    """The picture of an array: gray, gray with alpha, colors, or colors with alpha."""
    array = np.asarray(array)
    shape = array.shape + (1,) * (array.ndim == 2)
    if len(shape) != 3 or shape[2] not in _MODES or 0 in shape:
        raise ImageError(f"an image must be a path or an array (h, w) or (h, w, 1 to 4); got shape {array.shape}")
    values = np.ascontiguousarray(eight_bits(array).reshape(shape))
    return Image.frombytes(_MODES[shape[2]], (shape[1], shape[0]), values.tobytes())

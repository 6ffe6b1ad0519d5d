"""Every kind of pixel that files have, as red, green and blue in 8 bits."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass.features.image_errors import ImageError

_WITH_ALPHA = ("RGBA", "LA", "PA", "La", "RGBa")


def as_rgb(picture: Image.Image) -> Image.Image:
    """The picture in RGB: transparent parts over white, 16 bits and fractions scaled."""
    if picture.mode.startswith("I;16") or picture.mode == "F":
        return Image.fromarray(eight_bits(np.asarray(picture))).convert("RGB")
    if picture.mode == "I":
        raise ImageError("has 32-bit integer pixels, whose range is not defined; convert it first")
    if picture.mode in _WITH_ALPHA or "transparency" in picture.info:
        return _over_white(picture.convert("RGBA"))
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def eight_bits(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Bytes as they are; 0 to 65535, yes and no, and fractions as bytes from 0 to 255.

    >>> eight_bits(np.array([0, 40000, 65535], np.uint16)), eight_bits(np.array([0.0, 0.5, 1.0]))
    (array([  0, 156, 255], dtype=uint8), array([  0, 128, 255], dtype=uint8))
    """
    if values.dtype == np.uint8:
        return values.view(np.ndarray).astype(np.uint8, copy=False)
    if values.dtype.kind == "u" and values.dtype.itemsize == 2:
        return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if values.dtype.kind == "b":
        return values.astype(np.uint8) * np.uint8(255)
    if values.dtype.kind == "f":
        return _of_fractions(values.astype(np.float32))
    raise ImageError(f"has pixels of type {values.dtype}; uint8, uint16, bool and floats in [0, 1] are supported")


def _of_fractions(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    if not (values.size and values.min() >= 0 and values.max() <= 1):  # which NaN is not either
        raise ImageError("has floating-point pixels outside [0, 1]; scale them first")
    scaled: NDArray[np.uint8] = np.floor(values * 255 + 0.5).astype(np.uint8)
    return scaled


def _over_white(picture: Image.Image) -> Image.Image:
    white = Image.new("RGB", picture.size, (255, 255, 255))
    white.paste(picture, mask=picture.getchannel("A"))
    return white

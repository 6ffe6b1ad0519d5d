"""What is wrong with a picture, in one sentence.

Every kind of pixel that files have, as red, green and blue in 8 bits.

Pictures to red, green and blue, and to a size that is worth working on.

Pictures that are arrays.

What users pass as many pictures: a list of paths, an array of arrays, a column of a table; and what is none.

Many small pictures on one page.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from manyclass._core.checks import check_count


class ImageError(ValueError):
    """Error of an image that cannot be used; the message says why, without its name."""


def reason_of(error: BaseException) -> str:
    """What a decoder or the system said, in lower case and on one line.

    >>> reason(OSError("Truncated\\nfile")), reason(PermissionError(13, "Permission denied", "x.jpg"))
    ('truncated file', 'permission denied')
    """
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    words = re.sub(r"\s+", " ", said.encode("ascii", "replace").decode()).strip() or type(error).__name__
    return words[:1].lower() + words[1:]


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


_STRIP = 1 << 20  # pixels that are turned into colors at a time, so that a large picture is never held twice

_GAP = 2  # a picture is averaged down by whole numbers to this many times its final sides, and then resampled


def shrink_image(picture: Image.Image, most: int) -> Image.Image:
    """The picture in RGB, of at most so many pixels; one that is small enough keeps its size."""
    size = final_size(picture.width, picture.height, most)
    factors = [max(1, old // (_GAP * new)) for old, new in zip(picture.size, size, strict=True)]
    colors = _averaged(picture, factors[0], factors[1])
    return colors if colors.size == size else colors.resize(size, Image.Resampling.BICUBIC)


def final_size(width: int, height: int, most: int) -> tuple[int, int]:
    """(width, height) with the same proportions, as nearly as whole numbers have them, and at most `most` pixels.

    >>> final_size(640, 480, 100_000), final_size(100, 50, 100_000), final_size(1, 1_000_000, 100_000)
    ((365, 273), (100, 50), (1, 100000))
    """
    if width * height <= most:
        return width, height
    scale = math.sqrt(most / (width * height))
    w, h = max(1, math.floor(width * scale)), max(1, math.floor(height * scale))
    return min(w, most // h) if h == 1 else w, min(h, most // w) if w == 1 else h


def _averaged(picture: Image.Image, across: int, down: int) -> Image.Image:
    """RGB of the picture, of which every `across` x `down` pixels became one; strip by strip if there are many."""
    if across == down == 1:
        return as_rgb(picture)
    width, height = picture.size
    small = Image.new("RGB", (-(-width // across), -(-height // down)))
    step = max(1, _STRIP // (width * down)) * down
    for top in range(0, height, step):
        strip = as_rgb(picture.crop((0, top, width, min(height, top + step))))
        small.paste(strip.reduce((across, down)), (0, top // down))
    return small


_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def as_pil_image(array: Any) -> Image.Image:
    """The picture of an array: gray, gray with alpha, colors, or colors with alpha."""
    array = np.asarray(array)
    shape = array.shape + (1,) * (array.ndim == 2)
    if len(shape) != 3 or shape[2] not in _MODES or 0 in shape:
        raise ImageError(f"an image must be a path or an array (h, w) or (h, w, 1 to 4); got shape {array.shape}")
    values = np.ascontiguousarray(eight_bits(array).reshape(shape))
    return Image.frombytes(_MODES[shape[2]], (shape[1], shape[0]), values.tobytes())


_COLORS = (3, 4)


def as_image_list(images: Any) -> Sequence[Any]:
    """The pictures, which images[0], images[1] ... are from now on; anything else is refused.

    >>> len(listed(np.zeros((5, 40, 30, 3), np.uint8)))
    5
    """
    images = fill_positions(images)
    if isinstance(images, str | bytes | os.PathLike | Mapping) or not _is_sequence(images):
        raise ValueError(f"images must be a sequence of paths or arrays; got {type(images).__name__}")
    if isinstance(images, np.ndarray) and not _is_many(images):
        raise ValueError(
            f"images must be a sequence of paths or arrays; got one array of shape {images.shape}; if it is one image, "
            "put it in a list"
        )
    return images  # type: ignore[no-any-return]


def fill_positions(values: Any) -> Any:
    """The values; of a column of pandas, whose [i] is that of a label and not of a position, its array."""
    return values.to_numpy() if hasattr(values, "iloc") else values


def _is_sequence(images: Any) -> bool:
    return hasattr(images, "__len__") and hasattr(images, "__getitem__")


def _is_many(images: NDArray[Any]) -> bool:
    if images.dtype.kind in "OU":
        return images.ndim == 1
    return images.ndim == 4 or (images.ndim == 3 and images.shape[2] not in _COLORS)


def contact_sheet(images: NDArray[Any], columns: int, margin: int = 1) -> NDArray[Any]:
    """One page with the pictures (n, h, w), or colored ones (n, h, w, 3), in rows of `columns` on white.

    >>> contact_sheet(np.zeros((5, 8, 8), np.uint8), columns=3).shape
    (17, 26)
    """
    check_count(columns, "columns")
    check_count(margin, "margin", least=0)
    n, h, w, *colors = images.shape
    rows = -(-n // columns)
    page = np.full((rows * columns, h + margin, w + margin, *colors), 255, images.dtype)
    page[:n, :h, :w] = images
    page = page.reshape(rows, columns, h + margin, w + margin, *colors).swapaxes(1, 2)
    page = page.reshape(rows * (h + margin), columns * (w + margin), *colors)
    return page[: page.shape[0] - margin, : page.shape[1] - margin]

"""Pixels: images of any kind as red, green and blue in 8 bits, upright and at a size that is worth working on.

What decoders give and what users hold in arrays comes in many kinds: gray, palettes, alpha, 16 bits, fractions. All
become RGB here, or end in an `ImageError` that says what is wrong. `resize` and `smooth` make each pixel a weighted sum
of its neighbors, along y and along x.
"""

import math
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image

from manyclass import _native

R = TypeVar("R", np.uint8, np.float32)

Pixels = NDArray[np.uint8]  # (h, w, 3), red, green and blue

_ALPHA_MODES = ("RGBA", "LA", "PA", "La", "RGBa")

_CHANNEL_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}

_STRIP = 1 << 20  # pixels that are turned into colors at a time, so that a large image is never held twice

# An image is averaged down by whole numbers to this many times its final sides, and then resampled: cubic weights on
# twice the pixels look the same as on all of them, and take a fraction of the time.
_REDUCING_GAP = 2

_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class ImageError(ValueError):
    """Error of an image that cannot be used; the message says why, without its name."""


def error_reason(error: BaseException) -> str:
    """What a decoder or the system said, in lower case and on one line.

    >>> error_reason(OSError("Truncated\\nfile")), error_reason(PermissionError(13, "Permission denied", "x.jpg"))
    ('truncated file', 'permission denied')
    """
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    words = re.sub(r"\s+", " ", said.encode("ascii", "replace").decode()).strip() or type(error).__name__
    return words[:1].lower() + words[1:]


def image_to_pixels(image: Image.Image, max_pixels: int) -> Pixels:
    """The pixels of an image of Pillow, turned as its EXIF says, at most `max_pixels` of them."""
    image.load()
    turn = _UPRIGHT.get(_orientation(image))
    small = shrink_image(image, max_pixels)
    return small if turn is None else np.array(Image.fromarray(small).transpose(turn))


def array_to_pixels(array: Any, max_pixels: int) -> Pixels:
    """The pixels of an array: gray, gray with alpha, colors, or colors with alpha; at most `max_pixels` of them."""
    array = np.asarray(array)
    shape = array.shape + (1,) * (array.ndim == 2)
    if len(shape) != 3 or shape[2] not in _CHANNEL_MODES or 0 in shape:
        raise ImageError(f"an image must be a path or an array (h, w) or (h, w, 1 to 4); got shape {array.shape}")
    values = np.ascontiguousarray(to_uint8(array).reshape(shape))
    image = Image.frombytes(_CHANNEL_MODES[shape[2]], (shape[1], shape[0]), values.tobytes())
    return shrink_image(image, max_pixels)


def shrink_image(image: Image.Image, max_pixels: int) -> Pixels:
    """The image in RGB, of at most so many pixels; one that is small enough keeps its size."""
    size = final_size(image.width, image.height, max_pixels)
    factors = [max(1, old // (_REDUCING_GAP * new)) for old, new in zip(image.size, size, strict=True)]
    colors = _average_down(image, factors[0], factors[1])
    if colors.size == size:
        return np.array(colors)
    return resize(np.asarray(colors), size[1], size[0])


def final_size(width: int, height: int, max_pixels: int) -> tuple[int, int]:
    """(width, height) in the same proportions, as nearly as whole numbers have them, of at most `max_pixels` pixels.

    >>> final_size(640, 480, 100_000), final_size(100, 50, 100_000), final_size(1, 1_000_000, 100_000)
    ((365, 273), (100, 50), (1, 100000))
    """
    if width * height <= max_pixels:
        return width, height
    scale = math.sqrt(max_pixels / (width * height))
    w, h = max(1, math.floor(width * scale)), max(1, math.floor(height * scale))
    return min(w, max_pixels // h) if h == 1 else w, min(h, max_pixels // w) if w == 1 else h


def to_rgb(image: Image.Image) -> Image.Image:
    """The image in RGB: transparent regions over white, 16 bits and fractions scaled."""
    if image.mode.startswith("I;16") or image.mode == "F":
        return Image.fromarray(to_uint8(np.asarray(image))).convert("RGB")
    if image.mode == "I":
        raise ImageError("has 32-bit integer pixels, whose range is not defined; convert it first")
    if image.mode in _ALPHA_MODES or "transparency" in image.info:
        return _paste_on_white(image.convert("RGBA"))
    return image if image.mode == "RGB" else image.convert("RGB")


def to_uint8(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Bytes as they are; 0 to 65535, booleans and fractions as bytes from 0 to 255.

    >>> to_uint8(np.array([0, 40000, 65535], np.uint16)), to_uint8(np.array([0.0, 0.5, 1.0]))
    (array([  0, 156, 255], dtype=uint8), array([  0, 128, 255], dtype=uint8))
    """
    if values.dtype == np.uint8:
        return values.view(np.ndarray).astype(np.uint8, copy=False)
    if values.dtype.kind == "u" and values.dtype.itemsize == 2:
        return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if values.dtype.kind == "b":
        return values.astype(np.uint8) * np.uint8(255)
    if values.dtype.kind == "f":
        return _fractions_to_uint8(values.astype(np.float32))
    raise ImageError(f"has pixels of type {values.dtype}; uint8, uint16, bool and floats in [0, 1] are supported")


def _fractions_to_uint8(values: NDArray[np.float32]) -> NDArray[np.uint8]:
    if not (values.size and values.min() >= 0 and values.max() <= 1):  # which NaN is not either
        raise ImageError("has floating-point pixels outside [0, 1]; scale them first")
    scaled: NDArray[np.uint8] = np.floor(values * 255 + 0.5).astype(np.uint8)
    return scaled


def _paste_on_white(image: Image.Image) -> Image.Image:
    white = Image.new("RGB", image.size, (255, 255, 255))
    white.paste(image, mask=image.getchannel("A"))
    return white


def _average_down(image: Image.Image, across: int, down: int) -> Image.Image:
    """RGB of the image, of which every `across` x `down` pixels became one; strip by strip if there are many."""
    if across == down == 1:
        return to_rgb(image)
    width, height = image.size
    small = Image.new("RGB", (-(-width // across), -(-height // down)))
    step = max(1, _STRIP // (width * down)) * down
    for top in range(0, height, step):
        strip = to_rgb(image.crop((0, top, width, min(height, top + step))))
        small.paste(strip.reduce((across, down)), (0, top // down))
    return small


def _orientation(image: Image.Image) -> int:
    """The number of the EXIF of a loaded image; an image whose EXIF is broken stays as it is."""
    try:
        value = image.getexif().get(ExifTags.Base.Orientation)
    except Exception:
        return 1
    return value if isinstance(value, int) else 1


# Entry i of an axis is sum_t weights[t, i] * entry starts[i] + t.
Band = tuple[NDArray[np.int32], NDArray[np.float32]]


def resize(image: NDArray[R], height: int, width: int) -> NDArray[R]:
    """An image (h, w) or (h, w, c) at another size, by cubic interpolation; what would alias is smoothed away.

    Numbers are float32, or bytes, to which sums are rounded once.

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


def _resample(image: NDArray[R], rows: Band, columns: Band) -> NDArray[R]:
    shape = (len(rows[0]), len(columns[0]), *image.shape[2:])
    out = np.empty(shape, image.dtype)
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

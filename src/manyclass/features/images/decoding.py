"""read_image: any picture as pixels, or one sentence that says why not.

Pictures that are files, which are believed in nothing.
"""

import os
import stat
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, UnidentifiedImageError

from manyclass._core.checks import check_count
from manyclass._core.parallel import suppress_warnings
from manyclass.features.images.pixels import ImageError, as_pil_image, final_size, reason_of, shrink_image

Pixels = NDArray[np.uint8]  # (h, w, 3), red, green and blue


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
    most = check_count(max_pixels, "max_pixels")
    if isinstance(source, str | bytes | os.PathLike):
        return decode_image(source, most, check_count(max_source_pixels, "max_source_pixels", most=MOST_LIMIT))
    if isinstance(source, Image.Image):
        return open_image(source, most)
    return np.asarray(shrink_image(as_pil_image(source), most)).copy()


# Decoders that are in wide use and fuzzed; others run interpreters, or nobody has looked at them for years.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")

MOST_LIMIT = 150_000_000  # beyond that Pillow refuses by itself

_COPIES = {"WEBP": 2}  # a decoder that holds more copies of a picture than others may have fewer pixels

_BOMBS = (Image.DecompressionBombError, Image.DecompressionBombWarning)

_UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def decode_image(path: str | bytes | os.PathLike[Any], most: int, limit: int) -> NDArray[np.uint8]:
    """The pixels (h, w, 3) of a file, upright, at most `most` of them; of a file of at most `limit` pixels."""
    try:
        with suppress_warnings(), _opened(path) as file, Image.open(file, formats=FORMATS) as picture:
            _prepare(picture, most, limit)
            return _pixels(picture, most)
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError(f"is not an image in a supported format ({', '.join(FORMATS)})") from None
    except _BOMBS:
        raise ImageError(f"has more than {limit:,} pixels") from None
    except Exception as error:
        # A file that somebody has made can drive a decoder into any exception that there is.
        raise ImageError(f"cannot be decoded: {reason_of(error)}") from error


def open_image(picture: Image.Image, most: int) -> NDArray[np.uint8]:
    """The same of an image of Pillow, whose size is its owner's affair."""
    try:
        with suppress_warnings():
            return _pixels(picture, most)
    except ImageError:
        raise
    except Exception as error:
        raise ImageError(f"cannot be decoded: {reason_of(error)}") from error


def _pixels(picture: Image.Image, most: int) -> NDArray[np.uint8]:
    picture.load()
    upright = _UPRIGHT.get(_orientation(picture))
    small = shrink_image(picture, most)
    return np.array(small.transpose(upright) if upright is not None else small)


def _opened(path: str | bytes | os.PathLike[Any]) -> IO[bytes]:
    try:
        _check_file(os.stat(path))  # before it is opened: to open a device or a pipe can do things
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    except ImageError:
        raise
    except (OSError, ValueError) as error:
        raise ImageError(f"cannot be read: {reason_of(error)}") from error


def _check_file(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise ImageError("is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise ImageError("is not a file")
    if found.st_size == 0:
        raise ImageError("is empty")


def _prepare(picture: Image.Image, most: int, limit: int) -> None:
    width, height = picture.size
    limit //= _COPIES.get(picture.format or "", 1)
    if width * height > limit:
        raise ImageError(f"has {width} x {height} pixels, more than {limit:,}")
    if min(width, height) < 1:
        raise ImageError("has no pixels")
    # A JPEG can be decoded at 1/2, 1/4 or 1/8 of its size, which takes a fraction of the time and the memory.
    picture.draft(picture.mode, final_size(width, height, most))


def _orientation(picture: Image.Image) -> int:
    """The number of the EXIF of a loaded picture; a picture whose EXIF is broken stays as it is."""
    try:
        value = picture.getexif().get(ExifTags.Base.Orientation)
    except Exception:
        return 1
    return value if isinstance(value, int) else 1

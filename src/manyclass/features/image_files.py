"""Pictures that are files, which are believed in nothing."""

import os
import stat
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, UnidentifiedImageError

from manyclass.features.image_errors import ImageError, reason
from manyclass.features.shrinking import final_size, shrunk
from manyclass.features.silence import silence

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


def decoded(path: str | bytes | os.PathLike[Any], most: int, limit: int) -> NDArray[np.uint8]:
    """The pixels (h, w, 3) of a file, upright, at most `most` of them; of a file of at most `limit` pixels."""
    try:
        with silence(), _opened(path) as file, Image.open(file, formats=FORMATS) as picture:
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
        raise ImageError(f"cannot be decoded: {reason(error)}") from error


def opened(picture: Image.Image, most: int) -> NDArray[np.uint8]:
    """The same of an image of Pillow, whose size is its owner's affair."""
    try:
        with silence():
            return _pixels(picture, most)
    except ImageError:
        raise
    except Exception as error:
        raise ImageError(f"cannot be decoded: {reason(error)}") from error


def _pixels(picture: Image.Image, most: int) -> NDArray[np.uint8]:
    picture.load()
    upright = _UPRIGHT.get(_orientation(picture))
    small = shrunk(picture, most)
    return np.array(small.transpose(upright) if upright is not None else small)


def _opened(path: str | bytes | os.PathLike[Any]) -> IO[bytes]:
    try:
        _check_file(os.stat(path))  # before it is opened: to open a device or a pipe can do things
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    except ImageError:
        raise
    except (OSError, ValueError) as error:
        raise ImageError(f"cannot be read: {reason(error)}") from error


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

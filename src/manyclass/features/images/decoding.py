"""read_image: any image as pixels, or one sentence that says why not; and what users pass as many images.

A file is believed in nothing: it is looked at before it is opened, decoded by few decoders, and not at all if it says
that it is too large.
"""

import io
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from manyclass._core.checks import check_count
from manyclass._core.errors import FileRefusedError, StorageError, is_of_machine, unreadable_error
from manyclass._core.parallel import suppress_warnings
from manyclass._core.reading import open_file
from manyclass.data.archives.packed_file import PackedFile
from manyclass.features.images.pixels import (
    ImageError,
    Pixels,
    array_to_pixels,
    error_reason,
    final_size,
    image_to_pixels,
)

# Decoders that are in wide use and fuzzed; others run interpreters, or nobody has looked at them for years.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")

LARGEST_SOURCE = 150_000_000  # pixels; beyond that Pillow refuses by itself

_COPIES = {"WEBP": 2}  # a decoder that holds more copies of an image than others may have fewer pixels

_BOMBS = (Image.DecompressionBombError, Image.DecompressionBombWarning)

_COLOR_CHANNELS = (3, 4)


def read_image(source: Any, max_pixels: int = 100_000, max_source_pixels: int = 50_000_000) -> Pixels:
    """Read the pixels of an image, shrunk to a number of pixels with its proportions kept.

    Images are rotated as their EXIF orientation says, transparent pixels become white, 16 bits are scaled to 8, and the
    first of several frames is taken.

    Parameters
    ----------
    source : path-like, io.BytesIO, PackedFile, PIL.Image.Image or array
        Path of a JPEG, PNG, WebP, GIF, BMP or TIFF file, such a file in memory or within an archive, as `read_images`
        lists it, an image of Pillow, or an array: gray (h, w) or (h, w, 1), gray and alpha (h, w, 2), RGB (h, w, 3) or
        RGBA (h, w, 4), of uint8, uint16, bool, or floats in [0, 1].
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
    StorageError
        If the machine cannot read it now: too many files are open, or the disk fails.

    Examples
    --------
    >>> read_image(np.ones((500, 2000)))[0, 0], read_image(np.ones((500, 2000))).shape
    (array([255, 255, 255], dtype=uint8), (158, 632, 3))
    """
    max_pixels = check_count(max_pixels, "max_pixels")
    if isinstance(source, PackedFile):
        source = _unpacked(source)
    if isinstance(source, str | bytes | os.PathLike | io.BytesIO):
        max_source_pixels = check_count(max_source_pixels, "max_source_pixels", most=LARGEST_SOURCE)
        return _decode_file(source, max_pixels, max_source_pixels)
    if isinstance(source, Image.Image):
        return _decode_image(source, max_pixels)
    return array_to_pixels(source, max_pixels)


def as_image_list(images: Any) -> Sequence[Any]:
    """Check what users pass as many images; from then on they are images[0], images[1] and so on.

    Parameters
    ----------
    images : sequence of path-like or ndarray
        Files or pixels, or an array (n, h, w, 3) or (n, h, w); a column of pandas is taken by its positions.

    Returns
    -------
    sequence
        The images, neither read nor copied.

    Raises
    ------
    ValueError
        If it is one image, a path, a mapping, or nothing that has positions.

    Examples
    --------
    >>> len(as_image_list(np.zeros((5, 40, 30, 3), np.uint8)))
    5
    """
    images = as_positional(images)
    is_sequence = hasattr(images, "__len__") and hasattr(images, "__getitem__")
    if isinstance(images, str | bytes | os.PathLike | Mapping) or not is_sequence:
        raise ValueError(f"images must be a sequence of paths or arrays; got {type(images).__name__}")
    if isinstance(images, np.ndarray) and not _is_many(images):
        raise ValueError(
            f"images must be a sequence of paths or arrays; got one array of shape {images.shape}; if it is one image, "
            "put it in a list"
        )
    return images  # type: ignore[no-any-return]


def as_positional(values: Any) -> Any:
    """The values; of a column of pandas, whose [i] is that of a label and not of a position, its array."""
    return values.to_numpy() if hasattr(values, "iloc") else values


def _is_many(images: NDArray[Any]) -> bool:
    if images.dtype.kind in "OU":
        return images.ndim == 1
    return images.ndim == 4 or (images.ndim == 3 and images.shape[2] not in _COLOR_CHANNELS)


def _decode_file(path: str | bytes | os.PathLike[Any] | io.BytesIO, max_pixels: int, max_source_pixels: int) -> Pixels:
    try:
        with suppress_warnings(), _open_file(path) as file, Image.open(file, formats=FORMATS) as image:
            _prepare(image, max_pixels, max_source_pixels)
            return image_to_pixels(image, max_pixels)
    except (ImageError, StorageError):
        raise
    except UnidentifiedImageError:
        raise ImageError(f"is not an image in a supported format ({', '.join(FORMATS)})") from None
    except _BOMBS:
        raise ImageError(f"has more than {max_source_pixels:,} pixels") from None
    except Exception as error:
        if not isinstance(path, io.BytesIO):
            _raise_trouble(path, error)
        # A file that somebody has made can drive a decoder into any exception that there is.
        raise ImageError(f"cannot be decoded: {error_reason(error)}") from error


def _unpacked(source: PackedFile) -> io.BytesIO:
    """The file in memory; what is wrong with an archive at its place is wrong with the image."""
    try:
        return io.BytesIO(source.read())
    except FileRefusedError as error:
        raise ImageError(error.reason) from None
    except OSError as error:
        _raise_trouble(source.archive, error)
        raise ImageError(f"cannot be read: {error_reason(error)}") from error
    except (ValueError, OverflowError) as error:
        if is_of_machine(error):
            raise
        raise ImageError(f"cannot be read: {error_reason(error)}") from error


def _decode_image(image: Image.Image, max_pixels: int) -> Pixels:
    """The same of an image of Pillow, whose size is its owner's affair."""
    try:
        with suppress_warnings():
            return image_to_pixels(image, max_pixels)
    except ImageError:
        raise
    except Exception as error:
        raise ImageError(f"cannot be decoded: {error_reason(error)}") from error


def _open_file(path: str | bytes | os.PathLike[Any] | io.BytesIO) -> IO[bytes]:
    if isinstance(path, io.BytesIO):
        if not path.getbuffer().nbytes:
            raise ImageError("is empty")
        return path
    try:
        file = open_file(path, "image")
    except FileRefusedError as error:
        raise ImageError(error.reason) from None
    except OSError as error:
        _raise_trouble(path, error)
        raise ImageError(f"cannot be read: {error_reason(error)}") from error
    if os.fstat(file.fileno()).st_size == 0:
        file.close()
        raise ImageError("is empty")
    return file


def _raise_trouble(path: str | bytes | os.PathLike[Any], error: Exception) -> None:
    """Do not count an image as bad, and leave it out, because of the state that the machine is in."""
    if isinstance(error, OSError) and is_of_machine(error):
        raise unreadable_error(path, error) from error


def _prepare(image: Image.Image, max_pixels: int, max_source_pixels: int) -> None:
    """Refuse an image that is too large, and have the decoder shrink it where it can."""
    width, height = image.size
    limit = max_source_pixels // _COPIES.get(image.format or "", 1)
    if width * height > limit:
        raise ImageError(f"has {width} x {height} pixels, more than {limit:,}")
    if min(width, height) < 1:
        raise ImageError("has no pixels")
    # A JPEG can be decoded at 1/2, 1/4 or 1/8 of its size, which takes a fraction of the time and the memory.
    image.draft(image.mode, final_size(width, height, max_pixels))

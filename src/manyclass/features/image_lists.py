"""What users pass as many pictures: a list of paths, an array of arrays, a column of a table; and what is none."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLORS = (3, 4)


def listed(images: Any) -> Sequence[Any]:
    """The pictures, which images[0], images[1] ... are from now on; anything else is refused.

    >>> len(listed(np.zeros((5, 40, 30, 3), np.uint8)))
    5
    """
    images = in_positions(images)
    if isinstance(images, str | bytes | os.PathLike | Mapping) or not _is_sequence(images):
        raise ValueError(f"images must be a sequence of paths or arrays; got {type(images).__name__}")
    if isinstance(images, np.ndarray) and not _is_many(images):
        raise ValueError(
            f"images must be a sequence of paths or arrays; got one array of shape {images.shape}; if it is one image, "
            "put it in a list"
        )
    return images  # type: ignore[no-any-return]


def in_positions(values: Any) -> Any:
    """The values; of a column of pandas, whose [i] is that of a label and not of a position, its array."""
    return values.to_numpy() if hasattr(values, "iloc") else values


def _is_sequence(images: Any) -> bool:
    return hasattr(images, "__len__") and hasattr(images, "__getitem__")


def _is_many(images: NDArray[Any]) -> bool:
    if images.dtype.kind in "OU":
        return images.ndim == 1
    return images.ndim == 4 or (images.ndim == 3 and images.shape[2] not in _COLORS)

"""Many small pictures on one page."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks


def contact_sheet(images: NDArray[Any], columns: int, margin: int = 1) -> NDArray[Any]:
    """One page with the pictures (n, h, w), or colored ones (n, h, w, 3), in rows of `columns` on white.

    >>> contact_sheet(np.zeros((5, 8, 8), np.uint8), columns=3).shape
    (17, 26)
    """
    _checks.count(columns, "columns")
    _checks.count(margin, "margin", least=0)
    n, h, w, *colors = images.shape
    rows = -(-n // columns)
    page = np.full((rows * columns, h + margin, w + margin, *colors), 255, images.dtype)
    page[:n, :h, :w] = images
    page = page.reshape(rows, columns, h + margin, w + margin, *colors).swapaxes(1, 2)
    page = page.reshape(rows * (h + margin), columns * (w + margin), *colors)
    return page[: page.shape[0] - margin, : page.shape[1] - margin]

"""Many small pictures on one page."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyclass import _checks


def contact_sheet(images: NDArray[Any], columns: int, margin: int = 1) -> NDArray[Any]:
    """One gray page with the pictures (n, h, w) in rows of `columns`, apart by a white margin.

    >>> contact_sheet(np.zeros((5, 8, 8), np.uint8), columns=3).shape
    (17, 26)
    """
    _checks.count(columns, "columns")
    _checks.count(margin, "margin", least=0)
    n, h, w = images.shape
    rows = -(-n // columns)
    page = np.full((rows * columns, h + margin, w + margin), 255, images.dtype)
    page[:n, :h, :w] = images
    page = page.reshape(rows, columns, h + margin, w + margin).swapaxes(1, 2)
    page = page.reshape(rows * (h + margin), columns * (w + margin))
    return page[: page.shape[0] - margin, : page.shape[1] - margin]

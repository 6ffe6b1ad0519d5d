"""Whether labels and the names of classes belong together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def misfit(y: NDArray[Any], classes: Sequence[str] | NDArray[np.str_]) -> str | None:
    """What is wrong with these classes for these labels; None where nothing is.

    >>> misfit(np.array([0, 2]), ["cat", "dog"])
    'labels must be integers in [0, 2); got 2 at row 1'
    """
    words, counts = np.unique(np.asarray(classes, np.str_), return_counts=True)
    if (counts > 1).any():
        return f"classes must be distinct; got {str(words[counts > 1][0])!r} twice"
    if y.dtype.kind == "U":
        wrong, rule = ~np.isin(y, words), f"among the {len(words)} classes"
    else:
        wrong, rule = (y < 0) | (y >= len(words)), f"integers in [0, {len(words)})"
    if not wrong.any():
        return None
    row = int(np.flatnonzero(wrong)[0])
    return f"labels must be {rule}; got {y[row].item()!r} at row {row}"

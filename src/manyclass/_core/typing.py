"""Types that all folders share."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

Floats = NDArray[np.floating[Any]]

Report = Callable[[int, int], None]  # (done, in all)

# (what is done, the unit that is counted), as in `with progress("encoding", "images") as report:`
ProgressFactory = Callable[[str, str], AbstractContextManager[Report]]


@contextmanager
def no_progress(what: str, unit: str) -> Iterator[Report]:
    """The ProgressFactory of those whom nobody watches."""
    yield lambda done, total: None

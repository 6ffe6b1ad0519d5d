"""Types that all folders share."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

Doubles = NDArray[np.float64]

Floats = NDArray[np.floating[Any]]

Embeddings = NDArray[np.float32]  # (n, d), one row per image

Labels = NDArray[np.integer[Any]]  # (n,), class indices

Arrays = dict[str, NDArray[Any]]  # by name, as files hold them

# (the record of a step or an epoch); what it returns ends the work where it is true
Callback = Callable[[dict[str, Any]], bool | None]

Notify = Callable[[str], None]  # (a sentence)

Report = Callable[[int, int], None]  # (done, in all)

# (what is done, the unit that is counted), as in `with progress("encoding", "images") as report:`
ProgressFactory = Callable[[str, str], AbstractContextManager[Report]]


@contextmanager
def no_progress(what: str, unit: str) -> Iterator[Report]:
    """The ProgressFactory of those whom nobody watches."""
    yield lambda done, total: None

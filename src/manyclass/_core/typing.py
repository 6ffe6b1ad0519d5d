"""Types that all folders share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

Floats = NDArray[np.floating[Any]]

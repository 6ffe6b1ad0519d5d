"""KernelClassifier: the full exemplar machine of one image, which tells it from the negatives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass._blas import one_thread
from manyclass.data.kernels import Doubles


@dataclass(frozen=True)
class KernelClassifier:
    """f(z) = scale (s'v(z) + k(x, z) - v'v(z)) + bias: above zero for what is like x, below for the negatives.

    It is the function h of the space of the kernel and the bias b that minimize

        theta/2 (h(x) + b - 1)^2 + 1/(2n) sum_i (h(x_i) + b + 1)^2 + lambda/2 |h|^2.
    """

    slope: Doubles  # s (r,), lambda times the coordinates of h within what the negatives span, but for the scale
    coordinates: Doubles  # v (r,)
    scale: float
    bias: float
    seen: Callable[[Any], Iterator[tuple[Doubles, Doubles]]]  # of rows Z, by blocks, v(z) (n, r) and k(x, z) (n,)

    def decision_function(self, Z: Any) -> Doubles:
        """f of every row (n,)."""
        w = self.slope - self.coordinates
        with one_thread():
            return np.concatenate([np.zeros(0), *(self.scale * (V @ w + k) + self.bias for V, k in self.seen(Z))])


def scale_and_bias(
    slope: Doubles, v: Doubles, mean: Doubles, outside: float, regularization: float, theta: float
) -> tuple[float, float]:
    """What Eq. 3 and 6 of the paper say of b0 = [u; v] against negatives of mean [0; mean], for h = scale [u; s]."""
    q = (outside + float((v - mean) @ slope)) / regularization
    scale = 2 * theta / (theta * q + theta + 1) / regularization
    middle = theta * (outside + float(v @ slope)) + float(mean @ slope)
    return scale, (theta - 1) / (theta + 1) - scale * middle / (theta + 1)

"""Orthogonal changes of the columns, at a cost linear in d, that spread variance over the blocks of a quantizer.

A product quantizer gives every block of columns the same number of centroids; blocks that vary more are then coded
worse. A rotation evens them out. It is linear and orthogonal, so a product with the rows is a product with the rotated
ones: X W = (X Q)(Q' W).
"""

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import as_native
from manyclass._core.parallel import get_threads
from manyclass._core.typing import Arrays, Floats


class Rotation(ABC):
    """Q (d, d), orthogonal, known by what it does to the rows of an array."""

    @abstractmethod
    def forward(self, X: Floats) -> Floats:
        """X Q for X (m, d)."""

    @abstractmethod
    def backward(self, X: Floats) -> Floats:
        """X Q' for X (m, d)."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """What must be stored to build it again."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> Self:
        """The rotation of which `arrays` gave these; they come from a file, so they are checked."""


def _checked_order(arrays: Arrays, d: int) -> NDArray[np.int64]:
    order = arrays["order"]
    if order.shape != (d,) or order.dtype.kind != "i" or not np.array_equal(np.sort(order), np.arange(d)):
        raise ValueError(f"order must be a permutation of {d} columns; got {order.dtype} of shape {order.shape}")
    return order.astype(np.int64, copy=False)


class Permutation(Rotation):
    """Columns dealt to the blocks like cards, the most varied first, so that all blocks vary alike."""

    def __init__(self, order: NDArray[np.int64]):
        self.order = order
        self.back = np.argsort(order)

    @classmethod
    def fitted(cls, variances: NDArray[np.float64], block: int) -> Self:
        """The deal for columns of these variances."""
        d = len(variances)
        by_variance = np.argsort(-variances, kind="stable")
        blocks = -(-d // block)
        # There and back again over the blocks, so that none is always served first; the last may be narrower.
        rounds = [np.arange(blocks) if r % 2 == 0 else np.arange(blocks)[::-1] for r in range(block)]
        last = d - (blocks - 1) * block
        hands = np.concatenate([hand if r < last else hand[hand < blocks - 1] for r, hand in enumerate(rounds)])
        return cls(by_variance[np.argsort(hands, kind="stable")].astype(np.int64))

    def forward(self, X: Floats) -> Floats:
        return X[:, self.order]

    def backward(self, X: Floats) -> Floats:
        return X[:, self.back]

    def arrays(self) -> Arrays:
        return {"order": self.order}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> Self:
        return cls(_checked_order(arrays, d))


class MixedColumns(Rotation):
    """A random permutation, then one random orthogonal matrix for every group of 64 columns.

    Each new column is a mixture of 64 old ones from all over. A full rotation would take d^2 numbers.
    """

    GROUP = 64

    def __init__(self, order: NDArray[np.int64], mixer: NDArray[np.float32], rest: NDArray[np.float32]):
        self.permutation = Permutation(order)
        self.mixer = mixer  # (64, 64), or empty where d < 64
        self.rest = rest  # for the columns that do not fill a group

    @classmethod
    def random(cls, d: int, rng: np.random.Generator) -> Self:
        """The rotation that a generator draws."""
        return cls(
            rng.permutation(d), _orthogonal(cls.GROUP if d >= cls.GROUP else 0, rng), _orthogonal(d % cls.GROUP, rng)
        )

    def forward(self, X: Floats) -> Floats:
        return self._mix(self.permutation.forward(X), self.mixer, self.rest)

    def backward(self, X: Floats) -> Floats:
        return self.permutation.backward(self._mix(X, self.mixer.T, self.rest.T))

    def _mix(self, X: Floats, mixer: Floats, rest: Floats) -> Floats:
        # Not by BLAS, which rounds a row otherwise when it comes alone.
        X = as_native(X, np.float32)
        mixed = np.empty_like(X)
        if len(mixer):
            _native.mix(X, _padded(mixer), 0, mixed, get_threads())
        if len(rest):
            _native.mix(X, _padded(rest), X.shape[1] - len(rest), mixed, get_threads())
        return mixed

    def arrays(self) -> Arrays:
        return {"order": self.permutation.order, "mixer": self.mixer, "rest": self.rest}

    @classmethod
    def from_arrays(cls, arrays: Arrays, d: int) -> Self:
        for name, size in (("mixer", cls.GROUP if d >= cls.GROUP else 0), ("rest", d % cls.GROUP)):
            Q = arrays[name]
            if Q.shape != (size, size) or Q.dtype != np.float32 or not np.allclose(Q @ Q.T, np.eye(size), atol=1e-4):
                raise ValueError(f"{name} must be an orthogonal float32 matrix of size {size}; got shape {Q.shape}")
        return cls(_checked_order(arrays, d), arrays["mixer"], arrays["rest"])


def _padded(Q: Floats) -> NDArray[np.float32]:
    """With columns of zeros up to a multiple of 16."""
    out = np.zeros((len(Q), -(-len(Q) // 16) * 16), np.float32)
    out[:, : len(Q)] = Q
    return out


def _orthogonal(size: int, rng: np.random.Generator) -> NDArray[np.float32]:
    Q, R = np.linalg.qr(rng.standard_normal((size, size)))
    return (Q * np.sign(np.diag(R))).astype(np.float32)


ROTATIONS: dict[str, type[Rotation]] = {"permutation": Permutation, "orthogonal": MixedColumns}

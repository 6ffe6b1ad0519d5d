"""k-means: visual words, the centers of a sample of local descriptors.

Lloyd's iterations with sums in float64 and in blocks, so that the number of threads changes no bit; the k-means of
product quantizers, which is faiss's or scikit-learn's, makes no such promise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import check_finite
from manyclass._core.parallel import thread_map
from manyclass.data.matrix import spans
from manyclass.features.aggregation.pca import Vectors
from manyclass.features.aggregation.pyramid import Partition

_TILE = 8192  # rows that one thread takes at a time; the bits of the sums depend on it

_TOLERANCE = 1e-5  # of the distortion: k-means ends when it falls by less


@dataclass(frozen=True)
class VisualVocabulary:
    """k words (k, D) float32, and what rows look like from them."""

    centers: Vectors

    def __post_init__(self) -> None:
        if self.centers.ndim != 2 or not self.centers.size or not np.isfinite(self.centers).all():
            raise ValueError(f"words must be (k, D) finite numbers; got shape {self.centers.shape}")

    def assign(self, X: Vectors) -> NDArray[np.int32]:
        """The number of the nearest word to every row of X (m, D); the smallest of equals."""
        labels = np.empty(len(X), np.int32)
        bad = _native.nearest_words(np.ascontiguousarray(X), self.centers, labels)
        if bad >= 0:
            raise ValueError(f"descriptors must be finite numbers of moderate size; row {bad} is not")
        return labels

    def residual_sums(
        self, X: Vectors, labels: NDArray[np.int32], cells: Partition
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """counts (cells, k) and sums (cells, k, D) of x - word over the rows with each label, in float64."""
        counts = np.zeros((cells.n_cells, len(self.centers)))
        sums = np.zeros((*counts.shape, X.shape[1]))
        X = np.ascontiguousarray(X)
        _native.residual_sums(X, cells.order, cells.starts, labels, self.centers, counts, sums)
        return counts, sums


def fit_vocabulary(X: Vectors, k: int, seed: int, iterations: int = 25) -> VisualVocabulary:
    """k words by Lloyd's iterations from k different rows of X (m, D), drawn by chance.

    A word that no row is nearest to moves to the row that is farthest from its own. Sums are made in float64 and in
    blocks, so the number of threads changes no bit.

    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]], np.float32)
    >>> sorted(fit_vocabulary(X, 2, seed=0).centers.ravel().tolist())
    [0.5, 5.5]
    """
    check_finite(X, "descriptors")
    vocabulary, before = VisualVocabulary(_distinct_rows(X, k, seed)), np.inf
    for _ in range(iterations):
        vocabulary, distortion = _lloyd_step(X, vocabulary)
        if not distortion < before * (1 - _TOLERANCE):
            break
        before = distortion
    return vocabulary


def _distinct_rows(X: Vectors, k: int, seed: int) -> Vectors:
    order = np.random.default_rng(seed).permutation(len(X))
    # Most often the first rows are different already, and not all need to be compared.
    for size in (2 * k, len(X)):
        shuffled = X[order[:size]] + np.float32(0)  # -0 and 0 are one value
        first = np.sort(np.unique(shuffled, axis=0, return_index=True)[1])
        if len(first) >= k:
            return np.ascontiguousarray(shuffled[np.sort(first[:k])])
    raise ValueError(
        f"n_words or n_gaussians must be at most {len(first)}, the number of distinct descriptors in the images to "
        f"learn from; got {k}"
    )


def _lloyd_step(X: Vectors, vocabulary: VisualVocabulary) -> tuple[VisualVocabulary, float]:
    """Words moved to the means of their rows, and the mean squared distance of rows to the words before."""
    C, k = vocabulary.centers, len(vocabulary.centers)
    counts, sums, distances = np.zeros(k), np.zeros(C.shape), np.empty(len(X), np.float32)

    def sum_tile(at: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        labels = vocabulary.assign(X[at])
        difference = X[at] - C[labels]
        distances[at] = np.einsum("ij,ij->i", difference, difference)
        return vocabulary.residual_sums(X[at], labels, Partition.single(len(labels)))

    for n, total in thread_map(sum_tile, spans(len(X), _TILE)):
        counts += n[0]
        sums += total[0]
    moved = (C + sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        moved[empty] = X[np.argsort(-distances, kind="stable")[: len(empty)]]
    return VisualVocabulary(moved), float(distances.mean(dtype=np.float64))

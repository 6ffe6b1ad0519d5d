"""Visual words: the centers of k-means in a sample of local descriptors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from manyclass import _native
from manyclass._core.checks import check_finite
from manyclass._core.parallel import thread_map
from manyclass.data.matrix import spans
from manyclass.features.aggregation.pyramid import Partition

Vectors = NDArray[np.float32]

_TILE = 8192  # rows that one thread takes at a time

_STILL = 1e-5  # of the distortion: k-means ends when it falls by less


@dataclass(frozen=True)
class VisualVocabulary:
    """k words (k, D) float32, and what rows look like from them."""

    centers: Vectors

    def __post_init__(self) -> None:
        if self.centers.ndim != 2 or not self.centers.size or not np.isfinite(self.centers).all():
            raise ValueError(f"words must be (k, D) finite numbers; got shape {self.centers.shape}")

    def nearest(self, X: Vectors) -> NDArray[np.int32]:
        """The number of the nearest word to every row of X (m, D); the smallest of equals."""
        labels = np.empty(len(X), np.int32)
        bad = _native.nearest_words(np.ascontiguousarray(X), self.centers, labels)
        if bad >= 0:
            raise ValueError(f"descriptors must be finite numbers of moderate size; row {bad} is not")
        return labels

    def residuals(
        self, X: Vectors, labels: NDArray[np.int32], cells: Partition
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """counts (cells, k) and sums (cells, k, D) of x - word over the rows with each label, in float64."""
        counts = np.zeros((len(cells), len(self.centers)))
        sums = np.zeros((*counts.shape, X.shape[1]))
        X = np.ascontiguousarray(X)
        _native.residual_sums(X, cells.order, cells.starts, labels, self.centers, counts, sums)
        return counts, sums


def fit_vocabulary(X: Vectors, k: int, seed: int, iterations: int = 25) -> VisualVocabulary:
    """k words by Lloyd's iterations from k different rows of X (m, D), drawn by chance.

    A word that no row is nearest to moves to the row that is farthest from its own. Sums are made in float64 and in
    blocks, so the number of threads changes no bit.

    >>> sorted(fit_words(np.array([[0.0], [1.0], [5.0], [6.0]], np.float32), 2, seed=0).centers.ravel().tolist())
    [0.5, 5.5]
    """
    check_finite(X, "descriptors")
    words, before = VisualVocabulary(_different_rows(X, k, seed)), np.inf
    for _ in range(iterations):
        words, distortion = _lloyd(X, words)
        if not distortion < before * (1 - _STILL):
            break
        before = distortion
    return words


def _different_rows(X: Vectors, k: int, seed: int) -> Vectors:
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


def _lloyd(X: Vectors, words: VisualVocabulary) -> tuple[VisualVocabulary, float]:
    "VisualVocabulary moved to the means of their rows, and the mean squared distance of rows to the words before."
    C, k = words.centers, len(words.centers)
    counts, sums, distances = np.zeros(k), np.zeros(C.shape), np.empty(len(X), np.float32)

    def part(at: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        labels = words.nearest(X[at])
        difference = X[at] - C[labels]
        distances[at] = np.einsum("ij,ij->i", difference, difference)
        return words.residuals(X[at], labels, Partition.whole(len(labels)))

    for n, total in thread_map(part, spans(len(X), _TILE)):
        counts += n[0]
        sums += total[0]
    moved = (C + sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        moved[empty] = X[np.argsort(-distances, kind="stable")[: len(empty)]]
    return VisualVocabulary(moved), float(distances.mean(dtype=np.float64))

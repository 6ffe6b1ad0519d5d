"""Vlad: vectors of locally aggregated descriptors, what is left of descriptors beside their words.

    s_k = sum of x - c_k over the rows whose nearest word is c_k

Each s_k is brought to unit length, so that no word dominates; turned to the principal axes of the residuals of its
word, R_k s_k, so that roots act on numbers that vary independently; then signed square roots are taken, and the whole
is brought to unit length. A region is s_1 ... s_k, k D numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from manyclass._core.algebra.linalg import l2_normalize, signed_root
from manyclass._core.parallel import one_blas_thread
from manyclass.features.aggregation.image_encoder import ImageEncoder, State
from manyclass.features.aggregation.pca import Vectors
from manyclass.features.aggregation.pyramid import Partition, Pyramid
from manyclass.features.aggregation.vocabulary import VisualVocabulary, fit_vocabulary


def fit_rotations(X: Vectors, vocabulary: VisualVocabulary) -> Vectors:
    """R (k, D, D): columns of R[c] are the principal axes of x - c over the rows of X nearest to word c.

    A word with no more than one row keeps its axes.
    """
    k, D = vocabulary.centers.shape
    nearest = Partition.from_labels(vocabulary.assign(X), k)
    R = np.tile(np.eye(D, dtype=np.float32), (k, 1, 1))
    with one_blas_thread():
        for c in range(k):
            rows = nearest.order[nearest.starts[c] : nearest.starts[c + 1]]
            residuals = X[rows] - vocabulary.centers[c].astype(np.float64)
            if len(rows) > 1:
                R[c] = np.linalg.eigh(residuals.T @ residuals)[1][:, ::-1]
    return R


@dataclass(frozen=True)
class VladAggregation:
    """VLAD of regions, with words and, if there are any, rotations."""

    vocabulary: VisualVocabulary
    rotations: Vectors | None

    def __post_init__(self) -> None:
        k, D = self.vocabulary.centers.shape
        if self.rotations is not None and self.rotations.shape != (k, D, D):
            raise ValueError(f"rotations must have shape {(k, D, D)}; got {self.rotations.shape}")

    @property
    def dimension(self) -> int:
        """D."""
        return int(self.vocabulary.centers.shape[1])

    @property
    def size(self) -> int:
        """k D."""
        return int(self.vocabulary.centers.size)

    def regions(self, Z: Vectors, positions: Vectors, pyramid: Pyramid) -> Vectors:
        """A vector per region."""
        _, sums = self.vocabulary.residual_sums(Z, self.vocabulary.assign(Z), pyramid.partition(positions))
        S = l2_normalize(pyramid.sum_regions(sums)).astype(np.float32)
        if self.rotations is not None:
            with one_blas_thread():
                S = np.matmul(S.transpose(1, 0, 2), self.rotations).transpose(1, 0, 2)
        return l2_normalize(signed_root(S.reshape(pyramid.n_regions, -1)))

    def state(self) -> State:
        """Words and rotations."""
        return {"centers": self.vocabulary.centers, "rotations": self.rotations}


class Vlad(ImageEncoder):
    """Vectors of locally aggregated descriptors (VLAD): sums of the residuals of descriptors and their nearest words.

        s_k = sum of x - c_k over the descriptors x whose nearest word is c_k

    Each s_k is scaled to unit length, rotated to the principal axes of the residuals of its word, and signed square
    roots are taken; the whole is scaled to unit length. The defaults are those with which exemplar machines were
    published: square roots of dense SIFT and 64 words, 8,192 numbers.

    Parameters
    ----------
    n_words : int, default=64
        Number of visual words for every kind of descriptor.
    descriptors : sequence of {"sift", "rootsift", "color"}, default=("sift",)
        Kinds of local descriptors; their vectors are concatenated.
    n_components : int, default=None
        Number of principal components of a descriptor; None for no PCA.
    rotate : bool, default=True
        Whether the residuals of each word are rotated to their principal axes.
    whiten : bool, default=False
        Whether principal components are scaled to equal variance, and then to unit length.
    coordinates : bool, default=False
        Whether the position of a patch is appended to its descriptor, a small alternative to a pyramid.
    pyramid : sequence of str, default=("1x1",)
        Layouts "rows x columns" of regions, each with a vector of its own: "1x1" is the whole image, "3x1" three
        horizontal stripes.
    step : int, default=6
        Distance of patches in pixels.
    scales : int, default=5
        Number of sizes of the image, each smaller by sqrt(2).
    patch : int, default=24
        Side of a patch in pixels.
    root : bool, default=True
        Whether square roots of "sift" are taken.
    max_pixels : int, default=100_000
        Number of pixels to which larger images are shrunk.
    n_samples : int, default=250_000
        Number of descriptors to learn from.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Attributes
    ----------
    parts_ : list of dict
        Arrays that were learned for each kind of descriptor: projection, words and rotations.
    skipped_ : list of tuple
        Position and reason of the images that `fit` could not read.
    n_features_out_ : int
        Number of features of a vector: regions x n_words x D, summed over the kinds of descriptors.

    Examples
    --------
    >>> images = np.random.default_rng(0).integers(0, 256, (4, 60, 80, 3), np.uint8)
    >>> Vlad(4, random_state=0).fit(images).transform(images).shape
    (4, 512)
    """

    _counts = ("n_words",)

    def __init__(
        self,
        n_words: int = 64,
        descriptors: Sequence[str] = ("sift",),
        n_components: int | None = None,
        rotate: bool = True,
        whiten: bool = False,
        coordinates: bool = False,
        pyramid: Sequence[str] = ("1x1",),
        step: int = 6,
        scales: int = 5,
        patch: int = 24,
        root: bool = True,
        max_pixels: int = 100_000,
        n_samples: int = 250_000,
        random_state: Any = None,
    ):
        self.n_words = n_words
        self.descriptors = descriptors
        self.n_components = n_components
        self.rotate = rotate
        self.whiten = whiten
        self.coordinates = coordinates
        self.pyramid = pyramid
        self.step = step
        self.scales = scales
        self.patch = patch
        self.root = root
        self.max_pixels = max_pixels
        self.n_samples = n_samples
        self.random_state = random_state

    def _fit_aggregation(self, Z: Vectors, seed: int) -> VladAggregation:
        vocabulary = fit_vocabulary(Z, self.n_words, seed)
        return VladAggregation(vocabulary, fit_rotations(Z, vocabulary) if self.rotate else None)

    def _restore_aggregation(self, state: State) -> VladAggregation:
        return VladAggregation(VisualVocabulary(state["centers"]), state["rotations"])
